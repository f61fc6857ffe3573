//! A static file server for this machine only.
//!
//! Every answer has the headers with which the page works in frames of other pages ([`FRAMED`]).

use std::fs::{self, File};
use std::io::{self, Cursor};
use std::net::IpAddr;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::thread;

use tiny_http::{Header, Method, Request, Response, Server, StatusCode};

/// Requests answered at the same time: pages with several embeds ask for many files at once.
const THREADS: usize = 8;
/// How many ports are tried after the wanted one.
const TRIES: u16 = 50;

/// What a host must send with every file so that any page can embed ours.
const FRAMED: [(&str, &str); 3] = [
    // In a sandboxed frame every request of the page, its own module script included, comes from
    // origin `null`.
    ("Access-Control-Allow-Origin", "*"),
    // A cross-origin isolated page loads nothing from elsewhere that does not say this …
    ("Cross-Origin-Resource-Policy", "cross-origin"),
    // … and no frame that is not isolated itself, which its workers must be as well. Not
    // `credentialless`: Safari does not know it, and we load nothing that `require-corp` could stop.
    ("Cross-Origin-Embedder-Policy", "require-corp"),
];

/// Binds `port`, or the next free one. Port 0 lets the system choose.
///
/// # Errors
/// When none of the ports is free, or the address is not one of this machine.
pub fn bind(host: IpAddr, port: u16) -> io::Result<Server> {
    let mut last = io::Error::from(io::ErrorKind::AddrInUse);
    for port in (port..=u16::MAX).take(usize::from(TRIES)) {
        match Server::http((host, port)) {
            Ok(server) => return Ok(server),
            Err(why) => match why.downcast::<io::Error>() {
                Ok(why) if why.kind() == io::ErrorKind::AddrInUse => last = *why,
                Ok(why) => return Err(*why),
                Err(why) => return Err(io::Error::other(why)),
            },
        }
    }
    Err(last)
}

/// Answers requests from the files below `root` until the process ends.
pub fn run(server: Server, root: &Path) {
    let server = Arc::new(server);
    let threads: Vec<_> = (0..THREADS)
        .map(|_| {
            let (server, root) = (Arc::clone(&server), root.to_path_buf());
            thread::spawn(move || {
                while let Ok(request) = server.recv() {
                    // A reader that went away in the middle of an answer is not our concern.
                    let _ = answer(request, &root);
                }
            })
        })
        .collect();
    for thread in threads {
        let _ = thread.join();
    }
}

fn answer(request: Request, root: &Path) -> io::Result<()> {
    if !matches!(request.method(), Method::Get | Method::Head) {
        return plain(request, 405, "only GET and HEAD are answered here\n");
    }
    let Some(path) = resolve(root, request.url()) else {
        return plain(request, 404, "no such file\n");
    };
    let file = File::open(&path)?;
    let len = usize::try_from(file.metadata()?.len()).ok();
    let headers = headers(&[
        ("Content-Type", mime(&path)),
        // A page that was just built must be the page that is seen.
        ("Cache-Control", "no-store"),
        ("X-Content-Type-Options", "nosniff"),
    ]);
    // Whole files with their length, never in chunks: the page shows how much has come.
    let response = Response::new(StatusCode(200), headers, file, len, None);
    request.respond(response.with_chunked_threshold(usize::MAX))
}

fn plain(request: Request, status: u16, text: &'static str) -> io::Result<()> {
    let headers = headers(&[
        ("Content-Type", "text/plain; charset=utf-8"),
        ("Cache-Control", "no-store"),
    ]);
    let body = Cursor::new(text);
    request.respond(Response::new(
        StatusCode(status),
        headers,
        body,
        Some(text.len()),
        None,
    ))
}

/// `own` and those of [`FRAMED`].
fn headers(own: &[(&str, &str)]) -> Vec<Header> {
    own.iter()
        .chain(&FRAMED)
        .filter_map(|&(name, value)| Header::from_bytes(name, value).ok())
        .collect()
}

/// The file below `root` that a request names; nothing outside it, and no hidden file.
fn resolve(root: &Path, url: &str) -> Option<PathBuf> {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let path = decode(path)?;
    let mut file = root.to_path_buf();
    for part in Path::new(path.trim_start_matches('/')).components() {
        match part {
            Component::Normal(name) if !name.to_string_lossy().starts_with('.') => file.push(name),
            _ => return None,
        }
    }
    if file.is_dir() {
        // Relative links of an index page need the slash.
        if !path.ends_with('/') {
            return None;
        }
        file.push("index.html");
    }
    // A link inside the folder must not lead out of it either.
    let (file, root) = (fs::canonicalize(file).ok()?, fs::canonicalize(root).ok()?);
    (file.starts_with(root) && file.is_file()).then_some(file)
}

/// `%41` → `A`. `None` for broken escapes, text that is not UTF-8, and NUL.
fn decode(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next()?, rest.next()?];
            if !digits.iter().all(u8::is_ascii_hexdigit) {
                return None;
            }
            bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes)
        .ok()
        .filter(|text| !text.contains(['\0', '\\']))
}

/// Types by ending. Browsers refuse modules and WebAssembly under a wrong one.
fn mime(path: &Path) -> &'static str {
    match path.extension().and_then(|ext| ext.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("wasm") => "application/wasm",
        Some("json" | "map") => "application/json",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("ico") => "image/x-icon",
        Some("txt" | "md") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{Ipv4Addr, TcpStream};

    const LOCAL: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    fn site() -> PathBuf {
        // One folder per call: tests run side by side.
        static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let n = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let base = std::env::temp_dir().join(format!("attnscope-site-{}-{n}", std::process::id()));
        fs::create_dir_all(base.join("dist/data")).unwrap();
        fs::write(base.join("secret"), "outside").unwrap();
        fs::write(base.join("dist/index.html"), "<p>page").unwrap();
        fs::write(base.join("dist/.stamp"), "hidden").unwrap();
        fs::write(base.join("dist/a_bg.wasm"), "\0asm").unwrap();
        fs::write(base.join("dist/large.safetensors"), "x".repeat(100_000)).unwrap();
        fs::write(base.join("dist/data/中 文.bin"), "data").unwrap();
        base.join("dist")
    }

    #[test]
    fn finds_files_and_nothing_outside() {
        let root = site();
        let found = |url| resolve(&root, url).is_some();
        assert!(found("/"));
        assert!(found("/?lang=zh"));
        assert!(found("/index.html?x=../.."));
        assert!(found("/data/%E4%B8%AD%20%E6%96%87.bin"));
        assert!(!found("/data"), "a folder without its slash");
        assert!(!found("/data/"), "a folder without an index");
        for url in [
            "/../secret",
            "/%2e%2e/secret",
            "/data/../../secret",
            "/..%2fsecret",
            "/..\\secret",
            "/.stamp",
            "/%2estamp",
            "/index.html%00",
            "/%zz",
            "/%+1",
            "/%4",
            "/nothing",
        ] {
            assert!(!found(url), "{url}");
        }
        assert!(!found(&format!("/{}", root.join("index.html").display())));
    }

    #[test]
    fn answers_with_the_headers_that_frames_need() {
        let root = site();
        let server = bind(LOCAL, 0).unwrap();
        let address = server.server_addr().to_ip().unwrap();
        thread::spawn(move || run(server, &root));
        let ask = |head: &str| {
            let mut stream = TcpStream::connect(address).unwrap();
            write!(stream, "{head}\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
            let mut text = String::new();
            stream.read_to_string(&mut text).unwrap();
            text
        };
        let wasm = ask("GET /a_bg.wasm HTTP/1.1");
        assert!(wasm.starts_with("HTTP/1.1 200"), "{wasm}");
        assert!(
            wasm.contains("Content-Type: application/wasm\r\n"),
            "{wasm}"
        );
        for head in [
            "GET / HTTP/1.1",
            "GET /a_bg.wasm HTTP/1.1",
            "GET /nothing HTTP/1.1",
            "POST / HTTP/1.1",
        ] {
            let answer = ask(head);
            for header in [
                "Access-Control-Allow-Origin: *\r\n",
                "Cross-Origin-Resource-Policy: cross-origin\r\n",
                "Cross-Origin-Embedder-Policy: require-corp\r\n",
            ] {
                assert!(answer.contains(header), "{head}: {answer}");
            }
        }
        assert!(wasm.contains("Cache-Control: no-store\r\n"), "{wasm}");
        assert!(wasm.ends_with("\r\n\r\n\0asm"), "{wasm}");
        let large = ask("GET /large.safetensors HTTP/1.1");
        assert!(large.contains("Content-Length: 100000\r\n"), "{large:.300}");
        assert!(ask("GET /../secret HTTP/1.1").starts_with("HTTP/1.1 404"));
        assert!(ask("POST / HTTP/1.1").starts_with("HTTP/1.1 405"));
        assert!(ask("HEAD / HTTP/1.1").ends_with("\r\n\r\n"));
    }

    #[test]
    fn trunk_serves_with_the_same_headers() {
        let trunk = fs::read_to_string(crate::files::root().join("Trunk.toml")).unwrap();
        let (_, served) = trunk.split_once("[serve.headers]").unwrap();
        let served = served.split("\n[").next().unwrap();
        for (name, value) in FRAMED {
            let line = format!("\"{name}\" = \"{value}\"");
            assert!(served.lines().any(|found| found == line), "{line}");
        }
    }

    #[test]
    fn takes_the_next_free_port() {
        let first = bind(LOCAL, 0).unwrap();
        let taken = first.server_addr().to_ip().unwrap().port();
        if taken < u16::MAX - TRIES {
            let second = bind(LOCAL, taken).unwrap();
            assert!(second.server_addr().to_ip().unwrap().port() > taken);
        }
    }
}
