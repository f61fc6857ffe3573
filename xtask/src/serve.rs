//! `cargo xtask serve`: set up, build, serve, open.

use std::net::{IpAddr, Ipv4Addr};
use std::process::{Command, Stdio};

use crate::build;
use crate::files;
use crate::say::{self, Failure, Outcome};
use crate::server;

/// What the command line asks for.
#[derive(Debug, PartialEq)]
struct Options {
    open: bool,
    host: IpAddr,
    port: u16,
}

/// `cargo xtask serve [--no-open] [--port N] [--host ADDRESS]`.
///
/// # Errors
/// When the page cannot be built or no port is free.
pub fn main(args: &[String]) -> Outcome {
    let options = parse(args)?;
    build::page()?;
    let server = server::bind(options.host, options.port).map_err(|why| {
        Failure::new(
            format!("no port from {} on can be used: {why}", options.port),
            "cargo xtask serve --port 9000",
        )
    })?;
    let port = server
        .server_addr()
        .to_ip()
        .map_or(options.port, |address| address.port());
    let shown = match options.host {
        IpAddr::V4(_) => options.host.to_string(),
        IpAddr::V6(_) => format!("[{}]", options.host),
    };
    let address = format!("http://{shown}:{port}/");
    say::step(
        &format!("serving the page at {address}"),
        "leave it running; Ctrl-C ends it",
    );
    if !options.host.is_loopback() {
        say::note("browsers give WebGPU to secure pages only: over the network use https");
    }
    if options.open {
        open(&address);
    }
    server::run(server, &files::dist());
    Ok(())
}

fn parse(args: &[String]) -> Outcome<Options> {
    let mut options = Options {
        open: true,
        host: IpAddr::V4(Ipv4Addr::LOCALHOST),
        port: 8080,
    };
    let odd = |what: String| Failure::new(what, "cargo xtask help");
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let mut value = || {
            args.next()
                .ok_or_else(|| odd(format!("{arg} needs a value")))
        };
        match arg.as_str() {
            "--no-open" => options.open = false,
            "--port" => {
                let text = value()?;
                options.port = text
                    .parse()
                    .map_err(|_| odd(format!("'{text}' is not a port (0 to 65535)")))?;
            }
            "--host" => {
                let text = value()?;
                options.host = text
                    .parse()
                    .map_err(|_| odd(format!("'{text}' is not an IP address")))?;
            }
            other => return Err(odd(format!("'{other}' is not understood here"))),
        }
    }
    Ok(options)
}

/// Asks the desktop to open the page; where there is none, the printed address is enough.
fn open(address: &str) {
    let (program, args): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("cmd", &["/C", "start", ""])
    } else {
        ("xdg-open", &[])
    };
    let started = Command::new(program)
        .args(args)
        .arg(address)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    if started.is_err() {
        say::note(&format!(
            "no browser could be opened: open {address} yourself"
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(line: &str) -> Option<Options> {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        parse(&args).ok()
    }

    #[test]
    fn reads_the_command_line_and_refuses_the_rest() {
        let plain = options("");
        assert!(matches!(&plain, Some(o) if o.open && o.port == 8080 && o.host.is_loopback()));
        let own = options("--port 9000 --no-open");
        assert!(matches!(&own, Some(o) if !o.open && o.port == 9000));
        for line in ["--port", "--port x", "--port 70000", "--host here", "now"] {
            assert_eq!(options(line), None, "{line}");
        }
    }
}
