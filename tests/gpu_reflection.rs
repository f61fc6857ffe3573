//! The shaders as naga sees them against their Rust twins: offsets, sizes, bindings, workgroup
//! constant, numbers of enums and constants. And both compilers of the browsers accept them.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::HashMap;
use std::mem::offset_of;
use std::process::Command;

use attnscope_attention::config::{FullyMasked, Reading};
use attnscope_engine::{ColorTable, Pool};
use attnscope_engine_gpu::gpu_data::{
    self as data, BiasParams, EnergyParams, HeadParams, HeatmapParams, LinearParams, MapParams,
    MatrixParams, OutputParams,
};
use attnscope_engine_gpu::passes::{Bind, Kernel, Variant};
use attnscope_engine_gpu::pipelines::HEATMAP_BINDS;
use attnscope_engine_gpu::shaders::{self, Shader};
use attnscope_scene::{ColorScale, Quantity};

#[path = "../crates/engine-gpu/build/wgsl.rs"]
mod wgsl;

fn module(shader: Shader) -> naga::Module {
    parsed(shader, &shader.source())
}

fn parsed(shader: Shader, source: &str) -> naga::Module {
    let module = naga::front::wgsl::parse_str(source)
        .unwrap_or_else(|e| panic!("{}: {}", shader.name, e.emit_to_string(source)));
    naga::valid::Validator::new(
        naga::valid::ValidationFlags::all(),
        naga::valid::Capabilities::empty(),
    )
    .validate(&module)
    .unwrap_or_else(|e| panic!("{}: {e:?}", shader.name));
    module
}

#[test]
fn naga_accepts_every_shader() {
    for shader in shaders::all() {
        module(shader);
    }
}

#[test]
fn the_shortened_text_of_the_page_means_the_same() {
    for shader in shaders::all() {
        let short = wgsl::short(&shader.source());
        assert!(!short.contains("//") && !short.contains("\n ") && !shader.source().contains("/*"));
        let (full, short) = (module(shader), parsed(shader, &short));
        assert_eq!(
            without_places(&full),
            without_places(&short),
            "{}",
            shader.name
        );
    }
}

/// A module as text, without where in the source its parts stood.
fn without_places(module: &naga::Module) -> String {
    let text = format!("{module:?}");
    let mut pieces = text.split("Span { ");
    let first = pieces.next().unwrap();
    pieces.fold(first.to_owned(), |text, piece| {
        text + piece.split_once('}').unwrap().1
    })
}

#[test]
fn tint_accepts_every_shader() {
    if Command::new("tint").arg("--help").output().is_err() {
        println!("skipped: the program tint is not on PATH (Chromium's own tests cover it)");
        return;
    }
    for shader in shaders::all() {
        let file = std::env::temp_dir().join(format!(
            "attnscope-{}-{}.wgsl",
            std::process::id(),
            shader.name
        ));
        std::fs::write(&file, shader.source()).unwrap();
        let out = Command::new("tint")
            .arg("--format=wgsl")
            .arg(&file)
            .output()
            .unwrap();
        std::fs::remove_file(&file).unwrap();
        assert!(
            out.status.success(),
            "{}: {}",
            shader.name,
            String::from_utf8_lossy(&out.stderr)
        );
    }
}

#[test]
fn parts_are_the_imports_in_order() {
    for shader in shaders::all() {
        let mut there: Vec<&str> = Vec::new();
        for (stem, text) in shader.parts {
            for import in text.lines().filter_map(|l| l.strip_prefix("//!import ")) {
                assert!(
                    there.contains(&import),
                    "{}: {stem} needs {import} before it",
                    shader.name
                );
            }
            there.push(stem);
        }
        // Nothing is carried along that nobody imports.
        for (stem, _) in &shader.parts[..shader.parts.len() - 1] {
            let used = shader
                .parts
                .iter()
                .any(|(_, t)| t.lines().any(|l| l == format!("//!import {stem}")));
            assert!(used, "{}: {stem} is not imported", shader.name);
        }
    }
}

/// Field names, offsets and the size of a Rust twin.
type Twin = (&'static str, usize, Vec<(&'static str, usize)>);

macro_rules! twin {
    ($type:ident: $($field:ident),+) => {
        (stringify!($type), size_of::<$type>(), vec![$((stringify!($field), offset_of!($type, $field))),+])
    };
}

fn twins() -> Vec<(Shader, Twin)> {
    vec![
        (
            Kernel::Map.shader(),
            twin!(HeadParams: seq_len, width, stride, scale, flags, left, right, dilation, prefix_keys, globals, segment, segments, stat_stride, row0, row_end, key_end),
        ),
        (
            Kernel::Map.shader(),
            twin!(MapParams: row, col, rows, cols, texel_rows, texel_cols, first, end, pool),
        ),
        (
            Kernel::Output.shader(),
            twin!(OutputParams: head_dim, value_stride, out_stride, out_col),
        ),
        (
            Kernel::Linear.shader(),
            twin!(LinearParams: row0, row_end, inner, x_stride, w_stride, w_col0, outs, y_stride, has_bias, first, start, to),
        ),
        (
            Kernel::Bias.shader(),
            twin!(BiasParams: count, period, amplitude, stride),
        ),
        (
            Kernel::Matrix.shader(),
            twin!(MatrixParams: stride, offset, widens),
        ),
        (
            Kernel::Energy.shader(),
            twin!(EnergyParams: rows, cols, stride, offset),
        ),
        (
            shaders::HEATMAP,
            twin!(HeatmapParams: origin, size, texel_rows, texel_cols, offset, table, range, range_given, symmetric),
        ),
    ]
}

#[test]
fn structs_have_the_layout_of_their_twins() {
    for (shader, (name, size, fields)) in twins() {
        let module = module(shader);
        let found = module
            .types
            .iter()
            .find(|(_, t)| t.name.as_deref() == Some(name));
        let naga::TypeInner::Struct { members, span } = &found.expect(name).1.inner else {
            panic!("{name} is no struct");
        };
        assert_eq!(*span as usize, size, "size of {name}");
        let wgsl: Vec<(&str, usize)> = members
            .iter()
            .map(|m| (m.name.as_deref().unwrap_or(""), m.offset as usize))
            .filter(|(n, _)| !n.starts_with("pad"))
            .collect();
        assert_eq!(wgsl, fields, "fields of {name}");
    }
}

fn check_bindings(shader: Shader, groups: &[&[Bind]]) {
    let module = module(shader);
    let mut found = HashMap::new();
    for (_, global) in module.global_variables.iter() {
        let Some(binding) = global.binding else {
            continue;
        };
        let bind = match global.space {
            naga::AddressSpace::Uniform => {
                let naga::TypeInner::Struct { span, .. } = module.types[global.ty].inner else {
                    panic!("uniforms are structs");
                };
                Bind::Uniform(span as usize)
            }
            naga::AddressSpace::Storage { access }
                if access.contains(naga::StorageAccess::STORE) =>
            {
                Bind::Write
            }
            naga::AddressSpace::Storage { .. } => Bind::Read,
            other => panic!("{}: {other:?} is not bound by the engine", shader.name),
        };
        found.insert((binding.group as usize, binding.binding as usize), bind);
    }
    let wanted: HashMap<_, _> = groups
        .iter()
        .enumerate()
        .flat_map(|(g, binds)| {
            binds
                .iter()
                .enumerate()
                .map(move |(b, bind)| ((g, b), *bind))
        })
        .collect();
    assert_eq!(found, wanted, "bindings of {}", shader.name);
}

#[test]
fn bindings_are_those_of_the_kernel_table() {
    for kernel in Kernel::all() {
        check_bindings(kernel.shader(), kernel.groups());
    }
    check_bindings(shaders::HEATMAP, &[HEATMAP_BINDS]);
}

#[test]
fn every_override_is_given_and_every_given_one_exists() {
    for kernel in Kernel::all() {
        let module = module(kernel.shader());
        let mut there: Vec<_> = module
            .overrides
            .iter()
            .filter_map(|(_, o)| o.name.clone())
            .collect();
        let mut given: Vec<_> = kernel
            .constants(Variant::default(), 8)
            .iter()
            .map(|(n, _)| (*n).to_owned())
            .collect();
        there.sort();
        given.sort();
        assert_eq!(there, given, "{kernel:?}");
        let entry = &module.entry_points[0];
        assert_eq!(entry.name, "main");
        // The workgroup is the override along x and 1 across.
        assert_eq!(entry.workgroup_size[1..], [1, 1]);
        let overridden = entry
            .workgroup_size_overrides
            .expect("WORKGROUP sets the size");
        assert!(overridden[0].is_some() && overridden[1].is_none() && overridden[2].is_none());
    }
}

#[test]
fn the_heatmap_has_the_overrides_that_it_is_given() {
    let module = module(shaders::HEATMAP);
    let names: Vec<_> = module
        .overrides
        .iter()
        .filter_map(|(_, o)| o.name.as_deref())
        .collect();
    assert_eq!(names, ["SHRUNK", "SCALE"]);
}

/// Number of a WGSL constant.
fn constant(shader: Shader, name: &str) -> f64 {
    let module = module(shader);
    let (_, constant) = module
        .constants
        .iter()
        .find(|(_, c)| c.name.as_deref() == Some(name))
        .unwrap_or_else(|| panic!("{name} is not in {}", shader.name));
    match module.global_expressions[constant.init] {
        naga::Expression::Literal(naga::Literal::U32(v)) => f64::from(v),
        naga::Expression::Literal(naga::Literal::F32(v)) => f64::from(v),
        ref other => panic!("{name} is {other:?}"),
    }
}

#[test]
fn numbers_are_the_same_on_both_sides() {
    let rust = [
        ("READING_SOFTMAX", Reading::Softmax as u32),
        ("READING_BIAS", Reading::Bias as u32),
        ("READING_PRODUCT", Reading::Product as u32),
        ("EMPTY_ZERO", FullyMasked::Zero as u32),
        ("EMPTY_MEAN", FullyMasked::Mean as u32),
        ("FLAG_CAUSAL", data::FLAG_CAUSAL),
        ("FLAG_LEFT_LIMITED", data::FLAG_LEFT_LIMITED),
        ("FLAG_RIGHT_LIMITED", data::FLAG_RIGHT_LIMITED),
        ("S_NONE", data::S_NONE),
        ("S_CURVE", data::S_CURVE),
        ("S_DENSE", data::S_DENSE),
        ("SEGMENTS_ONE", data::SEGMENTS_ONE),
        ("SEGMENTS_STORED", data::SEGMENTS_STORED),
        ("SEGMENTS_RECOMPUTED", data::SEGMENTS_RECOMPUTED),
        ("QUANTITY_WEIGHTS", Quantity::Weights as u32),
        ("QUANTITY_SCORE", Quantity::Score as u32),
        ("POOL_MAX", Pool::Max as u32),
        ("POOL_MEAN", Pool::Mean as u32),
    ];
    for (name, value) in rust {
        assert!(
            (constant(Kernel::Pool.shader(), name) - f64::from(value)).abs() < 1e-9,
            "{name}"
        );
    }
    let steps = attnscope_engine::colors::STEPS;
    assert!((constant(shaders::HEATMAP, "STEPS") - steps as f64).abs() < 1e-9);
    let floor = f64::from(attnscope_engine::colors::LOG_FLOOR);
    assert!((constant(shaders::HEATMAP, "LOG_FLOOR") - floor).abs() < 1e-12);
    for (name, scale) in [
        ("SCALE_LINEAR", ColorScale::Linear),
        ("SCALE_SQRT", ColorScale::Sqrt),
        ("SCALE_LOG", ColorScale::Log),
    ] {
        let number = constant(shaders::HEATMAP, name);
        assert!((number - f64::from(scale as u32)).abs() < 1e-9, "{name}");
    }
    assert_eq!(
        [ColorTable::Cividis as u32, ColorTable::Diverging as u32],
        [0, 1]
    );
    assert!((constant(Kernel::Output.shader(), "CHUNK") - 8.0).abs() < f64::EPSILON);
}
