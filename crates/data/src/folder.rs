//! Golden cases and shipped inputs from folders, for native tests and tools.

use std::fmt::Display;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::case::Case;
use super::minilm;
use super::safetensors::{ReadError, Tensors};

/// The folder of golden cases: `ATTNSCOPE_GOLDEN`, or the project's own.
pub fn golden() -> PathBuf {
    std::env::var_os("ATTNSCOPE_GOLDEN").map_or_else(own_golden, PathBuf::from)
}

/// The project's own golden cases.
pub fn own_golden() -> PathBuf {
    project().join("tests/golden")
}

/// The folder of the shipped layer inputs.
pub fn shipped() -> PathBuf {
    project().join("www/data/minilm")
}

/// The project's folder: `CARGO_MANIFEST_DIR` as cargo sets it, else the current folder.
fn project() -> PathBuf {
    std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(PathBuf::new, PathBuf::from)
}

/// Why a folder of cases cannot be used.
#[derive(Debug)]
pub enum FolderError {
    /// The file system reported an error.
    Io(PathBuf, io::Error),
    /// A file in it is not a case.
    Case(PathBuf, ReadError),
    /// It has no case: a run that judges nothing must not pass.
    Empty(PathBuf),
}

impl std::fmt::Display for FolderError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Io(path, why) => write!(f, "{}: {why}", path.display()),
            Self::Case(path, why) => write!(f, "{}: {why}", path.display()),
            Self::Empty(path) => write!(f, "{}: no case here", path.display()),
        }
    }
}

impl std::error::Error for FolderError {}

/// All cases of `folder`, by name. A file that a case names under `data/` is searched beside the
/// folder (`../data/…`) and then among the shipped inputs.
///
/// # Errors
/// When the folder cannot be read, has no case, or one of its files is not a case.
pub fn cases(folder: &Path) -> Result<Vec<Case>, FolderError> {
    let io = |path: &Path| {
        let path = path.to_owned();
        move |why| FolderError::Io(path, why)
    };
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(io(folder))? {
        let path = entry.map_err(io(folder))?.path();
        if path.extension().is_some_and(|e| e == "safetensors") {
            paths.push(path);
        }
    }
    paths.sort();
    let mut cases = Vec::with_capacity(paths.len());
    for path in paths {
        let bytes = fs::read(&path).map_err(io(&path))?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let case = Case::parse(&name, &bytes, |input, tensor| {
            resolve(folder, input, tensor)
        })
        .map_err(|why| FolderError::Case(path.clone(), why))?;
        cases.push(case);
    }
    if cases.is_empty() {
        return Err(FolderError::Empty(folder.to_owned()));
    }
    Ok(cases)
}

fn read(path: &Path) -> Result<Tensors, ReadError> {
    let named = |why: &dyn Display| ReadError::Content(format!("{}: {why}", path.display()));
    let bytes = fs::read(path).map_err(|why| named(&why))?;
    Tensors::parse(&bytes).map_err(|why| named(&why))
}

/// The tensors that a case names as `input` (`data/minilm-page.safetensors`), or only `tensor` if
/// it is given.
///
/// # Errors
/// When no such file is beside the golden folder or among the shipped inputs.
pub fn resolve(golden: &Path, input: &str, tensor: Option<&str>) -> Result<Tensors, ReadError> {
    let beside = golden.join("..").join(input);
    if beside.is_file() {
        return read(&beside);
    }
    let paths =
        minilm::captured(input, tensor).ok_or_else(|| ReadError::Missing(input.to_owned()))?;
    let mut all = Tensors::default();
    for path in paths {
        let file = read(&shipped().join("..").join(path))?;
        all.tensors.extend(file.tensors);
    }
    Ok(all)
}
