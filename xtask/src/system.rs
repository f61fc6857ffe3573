//! What the tests need from the system: two browsers, a Vulkan driver, a reader of PDF, a font.

use std::path::Path;

use crate::browsers;
use crate::run::Run;
use crate::say::{self, Failure, Outcome};

/// One thing that must be on the machine.
struct Need {
    /// Debian's package.
    package: &'static str,
    /// In words, for machines without apt.
    words: &'static str,
    /// Whether it is there.
    there: fn() -> bool,
}

const NEEDS: &[Need] = &[
    Need {
        package: "chromium",
        words: "Chromium or Chrome (or its path in ATTNSCOPE_CHROMIUM)",
        there: || browsers::found("chromium"),
    },
    Need {
        package: "firefox-esr",
        words: "Firefox 150 or newer (or its path in ATTNSCOPE_FIREFOX)",
        there: || browsers::found("firefox"),
    },
    Need {
        package: "mesa-vulkan-drivers",
        words: "a Vulkan driver (Mesa's lavapipe will do)",
        there: vulkan_driver,
    },
    Need {
        package: "libvulkan1",
        words: "the Vulkan loader (libvulkan.so.1)",
        there: vulkan_loader,
    },
    Need {
        package: "poppler-utils",
        words: "poppler's pdftoppm and pdftotext",
        there: || {
            ["pdftoppm", "pdftotext"]
                .iter()
                .all(|name| crate::files::on_path(name).is_some())
        },
    },
    Need {
        package: "fonts-noto-cjk",
        words: "a font with Chinese characters",
        there: chinese_font,
    },
];

/// Installs what is missing on Debian as root; elsewhere lists it and stops.
///
/// # Errors
/// When something is missing and is not installed here.
pub fn ensure() -> Outcome {
    let missing: Vec<&Need> = NEEDS.iter().filter(|need| !(need.there)()).collect();
    if missing.is_empty() {
        say::done("Chromium, Firefox, Vulkan driver, reader of PDF, font");
        return Ok(());
    }
    let packages: Vec<&str> = missing.iter().map(|need| need.package).collect();
    let by_hand = format!("apt-get install -y {}", packages.join(" "));
    if !(debian() && root()) {
        let list: Vec<String> = missing
            .iter()
            .map(|need| format!("\n  - {} — Debian: {}", need.words, need.package))
            .collect();
        let by_hand = if debian() {
            format!("sudo {by_hand}")
        } else {
            "install these with your system's package manager, then try again".to_owned()
        };
        return Err(Failure::new(
            format!("the tests need{}", list.concat()),
            by_hand,
        ));
    }
    say::step(
        &format!("installing {}", packages.join(", ")),
        "the tests run the shaders on a Vulkan adapter and the page in two real browsers",
    );
    Run::new("apt-get", &["update"]).show()?;
    let mut install = Run::new("apt-get", &["install", "-y", "--no-install-recommends"])
        .env("DEBIAN_FRONTEND", "noninteractive");
    for package in packages {
        install = install.arg(package);
    }
    install.show()?;
    match missing.iter().find(|need| !(need.there)()) {
        None => Ok(()),
        Some(need) => Err(Failure::new(
            format!("{} was installed and is still not found", need.package),
            by_hand,
        )),
    }
}

fn debian() -> bool {
    Path::new("/etc/debian_version").exists() && crate::files::on_path("apt-get").is_some()
}

fn root() -> bool {
    Run::new("id", &["-u"]).text().as_deref() == Some("0")
}

/// Only Linux finds drivers through these folders; elsewhere the native tests say what is missing.
fn vulkan_driver() -> bool {
    !cfg!(target_os = "linux")
        || std::env::var_os("VK_DRIVER_FILES").is_some()
        || std::env::var_os("VK_ICD_FILENAMES").is_some()
        || [
            "/usr/share/vulkan/icd.d",
            "/etc/vulkan/icd.d",
            "/usr/local/share/vulkan/icd.d",
        ]
        .iter()
        .any(|dir| std::fs::read_dir(dir).is_ok_and(|mut files| files.next().is_some()))
}

fn vulkan_loader() -> bool {
    !cfg!(target_os = "linux")
        || ["/sbin/ldconfig", "ldconfig"]
            .iter()
            .find_map(|program| Run::new(program, &["-p"]).text())
            // Without ldconfig there is nothing to ask; the native tests will tell.
            .is_none_or(|list| list.contains("libvulkan.so.1"))
}

fn chinese_font() -> bool {
    !cfg!(target_os = "linux")
        || Run::new("fc-list", &[":lang=zh-cn", "family"])
            .text()
            .is_some_and(|list| !list.is_empty())
}
