//! What the tests need from the system: two browsers, a Vulkan driver, a PDF reader, a font.

use std::env;
use std::path::Path;

use anyhow::{Result, ensure};
use xshell::{Shell, cmd};

use crate::{step, tools};

/// Debian's package, and words for machines without apt.
type Need = (&'static str, &'static str);

const NEEDS: [Need; 6] = [
    (
        "chromium",
        "Chromium or Chrome (or its path in ATTNSCOPE_CHROMIUM)",
    ),
    (
        "firefox-esr",
        "Firefox 150 or newer (or its path in ATTNSCOPE_FIREFOX)",
    ),
    (
        "mesa-vulkan-drivers",
        "a Vulkan driver (Mesa's lavapipe will do)",
    ),
    ("libvulkan1", "the Vulkan loader (libvulkan.so.1)"),
    ("poppler-utils", "poppler's pdftoppm and pdftotext"),
    ("fonts-noto-cjk", "a font with Chinese characters"),
];

/// Whether the content of a package is installed, from any source.
fn is_there(sh: &Shell, package: &str) -> bool {
    let linux = cfg!(target_os = "linux");
    match package {
        "chromium" => says(sh, "node", &["e2e/browsers.mjs", "chromium"]),
        "firefox-esr" => says(sh, "node", &["e2e/browsers.mjs", "firefox"]),
        // Only Linux finds drivers through folders; elsewhere the native tests say what is missing.
        "mesa-vulkan-drivers" => !linux || vulkan_driver(),
        "libvulkan1" => !linux || vulkan_loader(sh),
        "poppler-utils" => ["pdftoppm", "pdftotext"]
            .iter()
            .all(|name| tools::find(sh, name).is_some()),
        _ => !linux || says(sh, "fc-list", &[":lang=zh-cn", "family"]),
    }
}

fn missing(sh: &Shell) -> Vec<Need> {
    let mut needs = NEEDS.to_vec();
    needs.retain(|(package, _)| !is_there(sh, package));
    needs
}

/// Installs what is missing on Debian as root; elsewhere lists it and stops.
pub fn ensure(sh: &Shell) -> Result<()> {
    tools::node(sh)?;
    let needs = missing(sh);
    if needs.is_empty() {
        return Ok(());
    }
    let words: Vec<_> = needs.iter().map(|(_, words)| *words).collect();
    let packages: Vec<_> = needs.iter().map(|(package, _)| *package).collect();
    let list = format!(
        "the tests need\n  - {}\nOn Debian: sudo apt-get install -y {}",
        words.join("\n  - "),
        packages.join(" ")
    );
    let debian = Path::new("/etc/debian_version").exists() && tools::find(sh, "apt-get").is_some();
    let root = cmd!(sh, "id -u").quiet().read().is_ok_and(|id| id == "0");
    ensure!(debian && root, "{list}");
    step(
        &format!("installing {}", packages.join(", ")),
        "the tests run the shaders on a Vulkan adapter and the page in two real browsers",
    );
    cmd!(sh, "apt-get update").run()?;
    let options = ["-y", "--no-install-recommends"];
    cmd!(sh, "apt-get install {options...} {packages...}")
        .env("DEBIAN_FRONTEND", "noninteractive")
        .run()?;
    ensure!(
        missing(sh).is_empty(),
        "installed and still not found: {list}"
    );
    Ok(())
}

/// Whether a program succeeds and prints something.
fn says(sh: &Shell, program: &str, args: &[&str]) -> bool {
    let output = cmd!(sh, "{program} {args...}")
        .quiet()
        .ignore_stderr()
        .read();
    output.is_ok_and(|text| !text.is_empty())
}

fn vulkan_driver() -> bool {
    let named = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"]
        .iter()
        .any(|name| env::var_os(name).is_some());
    let folders = [
        "/usr/share/vulkan/icd.d",
        "/etc/vulkan/icd.d",
        "/usr/local/share/vulkan/icd.d",
    ];
    let has_files =
        |dir: &&str| std::fs::read_dir(dir).is_ok_and(|mut files| files.next().is_some());
    named || folders.iter().any(has_files)
}

/// Without ldconfig this cannot be checked; the native tests will report it.
fn vulkan_loader(sh: &Shell) -> bool {
    let list = |program| cmd!(sh, "{program} -p").quiet().ignore_stderr().read().ok();
    let libraries = ["/sbin/ldconfig", "ldconfig"].into_iter().find_map(list);
    libraries.is_none_or(|text| text.contains("libvulkan.so.1"))
}
