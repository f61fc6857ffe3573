//! Wrong kernels, read from `list.txt`.

pub mod checks;
pub mod pictures;

use attnscope_engine_gpu::GpuEngine;
use attnscope_engine_gpu::passes::Kernel;
use attnscope_engine_gpu::shaders;

/// The real WGSL with one deliberate error.
#[derive(Debug, Default)]
pub struct Mutant {
    pub name: String,
    /// Names of shaders.
    pub kernels: Vec<String>,
    pub what: String,
    /// The check of the quick test that must catch it.
    pub check: String,
    /// Right and wrong text.
    patches: Vec<(String, String)>,
}

/// The mutants of `list.txt`, in its order.
pub fn all() -> Vec<Mutant> {
    let mut all: Vec<Mutant> = Vec::new();
    for (number, line) in include_str!("list.txt").lines().enumerate() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let text = line.split_once(' ').map_or("", |(_, text)| text).trim();
        if line.starts_with("== ") {
            all.push(Mutant {
                name: text.to_owned(),
                ..Mutant::default()
            });
            continue;
        }
        let mutant = all.last_mut().expect("a mutant begins with ==");
        let patch = text.replace("\\n", "\n");
        match line.split(' ').next() {
            Some("kernels:") => mutant.kernels = text.split(' ').map(str::to_owned).collect(),
            Some("what:") => text.clone_into(&mut mutant.what),
            Some("check:") => text.clone_into(&mut mutant.check),
            Some("-") => mutant.patches.push((patch, String::new())),
            Some("+") => mutant.patches.last_mut().expect("- before +").1 = patch,
            _ => panic!("list.txt:{}: {line}", number + 1),
        }
    }
    all
}

impl Mutant {
    /// Puts the wrong kernels into `engine`.
    ///
    /// # Errors
    /// A sentence, when a patch no longer applies.
    pub fn infect(&self, engine: &mut GpuEngine) -> Result<(), String> {
        engine.restore_kernels();
        let mut used = vec![false; self.patches.len()];
        for name in &self.kernels {
            let shader = shaders::all()
                .into_iter()
                .find(|shader| shader.name == name)
                .ok_or_else(|| format!("there is no kernel {name}"))?;
            let real = shader.source();
            let mut source = real.clone();
            for ((right, wrong), used) in self.patches.iter().zip(&mut used) {
                let found = source.matches(right.as_str()).count();
                if found > 1 {
                    return Err(format!("{right:?} stands {found} times in {name}"));
                }
                *used |= found == 1;
                source = source.replace(right.as_str(), wrong);
            }
            if source == real {
                return Err(format!("nothing of it is in {name}"));
            }
            match Kernel::all().find(|k| k.shader().name == name) {
                Some(kernel) => engine.replace_kernel(kernel, &source),
                None => engine.replace_heatmap(&source),
            }
        }
        match used.iter().position(|used| !used) {
            Some(at) => Err(format!("{:?} is gone", self.patches[at].0)),
            None => Ok(()),
        }
    }
}
