//! Wrong kernels must be caught: the real WGSL with one deliberate error each
//! (`tests/mutants/list.txt`), judged like the right one.
//!
//! Each mutant runs the check that the list names. `cargo xtask mutants` runs the whole suite, in
//! its order, until one check catches it, and writes a table to the file `ATTNSCOPE_MUTANTS`.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod mutants;
mod support;

use std::collections::HashSet;
use std::fmt::Write;

use attnscope_attention::compare::{Comparison, Verdict};
use attnscope_engine_gpu::{GpuEngine, shaders};
use mutants::Mutant;
use mutants::checks::Judge;

/// How far beyond its tolerance a comparison is.
fn excess(found: &Comparison) -> f64 {
    match found.verdict {
        Verdict::Equal | Verdict::Differs => (found.got - found.want).abs() / found.allowed,
        Verdict::NotFinite | Verdict::Length(..) => f64::INFINITY,
    }
}

/// The worst failed comparison of the first check that fails.
fn caught<'a>(
    engine: &mut GpuEngine,
    checks: impl IntoIterator<Item = &'a Judge>,
) -> Option<Comparison> {
    checks.into_iter().find_map(|check| {
        (check.run)(engine)
            .into_iter()
            .filter(|found| !found.is_equal())
            .max_by(|a, b| excess(a).total_cmp(&excess(b)))
    })
}

fn row(table: &mut String, mutant: &Mutant, by: &str) {
    println!("{}: {by}", mutant.name);
    let Mutant {
        name,
        kernels,
        what,
        ..
    } = mutant;
    writeln!(table, "| {name} | {} | {what} | {by} |", kernels.join(" ")).unwrap();
}

fn error(found: &Comparison) -> String {
    match found.verdict {
        Verdict::Equal | Verdict::Differs => format!(
            "{}: off by {:.2e} where {:.2e} is allowed",
            found.what,
            (found.got - found.want).abs(),
            found.allowed
        ),
        Verdict::NotFinite => format!("{}: not finite", found.what),
        Verdict::Length(got, want) => format!("{}: {got} numbers for {want}", found.what),
    }
}

#[test]
fn every_wrong_kernel_is_caught() {
    let checks = mutants::checks::all();
    let table_file = std::env::var_os("ATTNSCOPE_MUTANTS");
    let mut table =
        String::from("| mutant | kernels | what is wrong | caught by |\n|---|---|---|---|\n");
    let mut wrong = Vec::new();
    let mut engine = support::engine();
    let all = mutants::all();
    for mutant in &all {
        if let Err(why) = mutant.infect(&mut engine) {
            row(&mut table, mutant, "**does not apply**");
            wrong.push(format!("{} does not apply: {why}", mutant.name));
            continue;
        }
        let named = checks.iter().filter(|check| check.name == mutant.check);
        let found = if table_file.is_some() {
            caught(&mut engine, &checks)
        } else {
            caught(&mut engine, named)
        };
        if let Some(found) = found {
            row(&mut table, mutant, &error(&found));
        } else {
            row(&mut table, mutant, "**nothing**");
            wrong.push(format!("{} ({}) was not noticed", mutant.name, mutant.what));
        }
        // A kernel that does not compile would be caught for the wrong reason.
        if let Some(fault) = engine.take_fault() {
            wrong.push(format!("{}: {fault}", mutant.name));
            engine = support::engine();
        }
    }
    if let Some(file) = table_file {
        std::fs::write(file, &table).unwrap();
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The right kernels pass: the checks catch the errors and nothing else.
#[test]
fn the_right_kernels_pass_the_same_checks() {
    let mut engine = support::engine();
    let all = mutants::all();
    let named: HashSet<&str> = all.iter().map(|m| &*m.check).collect();
    let checks = mutants::checks::all();
    let checks = checks.iter().filter(|check| named.contains(&*check.name));
    let mut judged = 0;
    for check in checks {
        for found in (check.run)(&mut engine) {
            found.assert();
        }
        judged += 1;
    }
    assert_eq!(judged, named.len(), "every named check exists");
    assert_eq!(engine.take_fault(), None);
}

#[test]
fn every_kernel_has_mutants() {
    let all = mutants::all();
    for shader in shaders::all() {
        let count = all
            .iter()
            .filter(|m| m.kernels.iter().any(|k| k == shader.name))
            .count();
        assert!(count >= 3, "{} has {count}", shader.name);
    }
    let names: HashSet<_> = all.iter().map(|m| &m.name).collect();
    assert_eq!(names.len(), all.len(), "two mutants have one name");
}
