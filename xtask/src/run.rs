//! Running other programs: shown, captured, or both.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::files;
use crate::say::{Failure, Outcome};

/// The file that `program` names on Windows, where `path` has the folders that are searched. npm and
/// what it installs are scripts there (`npm.cmd`), which no process finds by their bare name.
fn on_windows(program: &str, path: &OsStr) -> Option<PathBuf> {
    std::env::split_paths(path)
        .flat_map(|dir| ["exe", "cmd"].map(|ending| dir.join(format!("{program}.{ending}"))))
        .find(|file| file.is_file())
}

/// One command line.
pub struct Run {
    program: String,
    args: Vec<String>,
    dir: PathBuf,
    env: Vec<(String, OsString)>,
}

impl Run {
    /// `program args…` in the project's root.
    pub fn new(program: &str, args: &[&str]) -> Self {
        Self {
            program: program.to_owned(),
            args: args.iter().map(|&arg| arg.to_owned()).collect(),
            dir: files::root(),
            env: Vec::new(),
        }
    }

    /// One more argument.
    pub fn arg(mut self, arg: impl Into<String>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// In another folder.
    pub fn dir(mut self, dir: impl AsRef<Path>) -> Self {
        self.dir = dir.as_ref().to_path_buf();
        self
    }

    /// With an environment variable.
    pub fn env(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.env.push((name.to_owned(), value.into()));
        self
    }

    /// With the project's own tools first on the search path.
    pub fn with_tools(self) -> Self {
        let own = [
            files::tools().join("bin"),
            files::tools().join("node_modules").join(".bin"),
        ];
        let old = std::env::var_os("PATH").unwrap_or_default();
        let all = own.into_iter().chain(std::env::split_paths(&old));
        match std::env::join_paths(all) {
            Ok(path) => self.env("PATH", path),
            Err(_) => self,
        }
    }

    /// The line a person would type for this.
    pub fn by_hand(&self) -> String {
        // Writing to a String cannot fail.
        let mut line = String::new();
        if let Ok(below) = self.dir.strip_prefix(files::root())
            && !below.as_os_str().is_empty()
        {
            let _ = write!(line, "cd {} && ", below.display());
        }
        for (name, value) in &self.env {
            // The search path is long and only adds the project's own tools.
            let value = if name == "PATH" {
                "$PWD/.tools/bin:$PWD/.tools/node_modules/.bin:$PATH".into()
            } else {
                value.to_string_lossy()
            };
            let _ = write!(line, "{name}={value} ");
        }
        line += &self.program;
        for arg in &self.args {
            line.push(' ');
            if arg.contains(' ') {
                let _ = write!(line, "'{arg}'");
            } else {
                line += arg;
            }
        }
        line
    }

    fn command(&self) -> Command {
        let own = self.env.iter().rev().find(|(name, _)| name == "PATH");
        let path = own.map_or_else(|| std::env::var_os("PATH"), |(_, path)| Some(path.clone()));
        let program = path
            .filter(|_| cfg!(windows))
            .and_then(|path| on_windows(&self.program, &path))
            .map_or_else(|| self.program.clone().into(), PathBuf::into_os_string);
        let mut command = Command::new(program);
        command.args(&self.args).current_dir(&self.dir);
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs it with its output on screen.
    ///
    /// # Errors
    /// When it does not start or ends with a failure.
    pub fn show(&self) -> Outcome {
        crate::say::note(&format!("$ {}", self.by_hand()));
        match self.command().status() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(self.failure(&format!("ended with {status}"))),
            Err(why) => Err(self.failure(&format!("did not start: {why}"))),
        }
    }

    /// Its standard output, or nothing when it does not start or fails.
    pub fn text(&self) -> Option<String> {
        let output = self.command().stderr(Stdio::null()).output().ok()?;
        output
            .status
            .success()
            .then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// Runs it with its output on screen and hands every line of standard output to `line`.
    /// Returns whether it ended well.
    ///
    /// # Errors
    /// When it does not start.
    pub fn lines(&self, mut line: impl FnMut(&str)) -> Outcome<bool> {
        crate::say::note(&format!("$ {}", self.by_hand()));
        let broken = |why: std::io::Error| self.failure(&format!("did not start: {why}"));
        let mut child = self
            .command()
            .stdout(Stdio::piped())
            .spawn()
            .map_err(broken)?;
        if let Some(out) = child.stdout.take() {
            let mut reader = BufReader::new(out);
            let mut bytes = Vec::new();
            while matches!(reader.read_until(b'\n', &mut bytes), Ok(n) if n > 0) {
                // A closed terminal must not stop the tests.
                let _ = std::io::stdout().write_all(&bytes);
                line(String::from_utf8_lossy(&bytes).trim_end());
                bytes.clear();
            }
        }
        Ok(child.wait().map_err(broken)?.success())
    }

    fn failure(&self, what: &str) -> Failure {
        Failure::new(format!("'{}' {what}", self.program), self.by_hand())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn scripts_of_npm_are_found_on_windows() {
        let base = std::env::temp_dir().join(format!("attnscope-path-{}", std::process::id()));
        let [own, system] = ["own", "system"].map(|name| base.join(name));
        for dir in [&own, &system] {
            fs::create_dir_all(dir).unwrap();
        }
        // npm puts a script for other shells beside the one for Windows.
        for file in ["wasm-opt", "wasm-opt.cmd", "both.cmd", "both.exe"] {
            fs::write(own.join(file), "").unwrap();
        }
        for file in ["npm", "npm.cmd", "node.exe", "wasm-opt.exe"] {
            fs::write(system.join(file), "").unwrap();
        }
        let path = std::env::join_paths([&own, &system]).unwrap();
        let found = |program: &str| on_windows(program, &path);
        assert_eq!(found("npm"), Some(system.join("npm.cmd")));
        assert_eq!(found("node"), Some(system.join("node.exe")));
        assert_eq!(found("both"), Some(own.join("both.exe")));
        assert_eq!(
            found("wasm-opt"),
            Some(own.join("wasm-opt.cmd")),
            "ours first"
        );
        assert_eq!(found("cargo"), None, "the system says that it is missing");
        fs::remove_dir_all(&base).unwrap();
    }

    #[test]
    fn a_program_is_looked_for_with_the_tools_that_it_is_given() {
        let run = Run::new("node", &["--version"]).with_tools();
        let path = run.env.iter().find(|(name, _)| name == "PATH").unwrap();
        let first = std::env::split_paths(&path.1).next().unwrap();
        assert_eq!(first, files::tools().join("bin"));
        assert!(run.text().is_some_and(|version| version.starts_with('v')));
    }
}
