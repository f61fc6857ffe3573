//! Reads good, bad and mutated bytes.
// Exact comparisons of two numbers check that the bits are the same.
#![allow(clippy::unwrap_used, clippy::float_cmp)]

use proptest::prelude::*;

use super::*;

/// A file of `header` (as JSON text) and `data`.
fn file(header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

fn entry(name: &str, dtype: &str, shape: &str, from: u64, to: u64) -> String {
    format!(r#""{name}":{{"dtype":"{dtype}","shape":{shape},"data_offsets":[{from},{to}]}}"#)
}

#[test]
fn every_supported_type_is_read() {
    let header = format!(
        "{{\"__metadata__\":{{\"note\":\"n\"}},{},{},{},{},{},{}}}",
        entry("a", "F64", "[1]", 0, 8),
        entry("b", "F32", "[1]", 8, 12),
        entry("c", "F16", "[1,1]", 12, 14),
        entry("d", "BF16", "[]", 14, 16),
        entry("e", "U8", "[2]", 16, 18),
        entry("f", "BOOL", "[1]", 18, 19),
    );
    let mut data = (-1.5f64).to_le_bytes().to_vec();
    data.extend(2.5f32.to_le_bytes());
    data.extend(f16::from_f32(0.25).to_le_bytes());
    data.extend(bf16::from_f32(-4.0).to_le_bytes());
    data.extend([0, 7, 1]);
    let read = Tensors::parse(&file(&header, &data)).unwrap();
    let first = |name: &str| read.tensors[name].data[0];
    assert_eq!(["a", "b", "c", "d"].map(first), [-1.5f32, 2.5, 0.25, -4.0]);
    assert_eq!(&*read.tensors["e"].data, &[0.0, 7.0]);
    assert_eq!(&*read.tensors["f"].data, &[1.0]);
    assert_eq!(read.meta("note"), Ok("n"));
    assert_eq!(read.tensors["d"].shape, [0usize; 0]);
}

#[test]
fn bad_layouts_are_refused_by_name() {
    let whole = entry("a", "F32", "[2]", 0, 8);
    let good = file(&format!("{{{whole}}}"), &[0; 8]);
    assert!(Tensors::parse(&good).is_ok());
    let error =
        |header: String, data: usize| Tensors::parse(&file(&header, &vec![0; data])).unwrap_err();
    // Truncated, and with extra bytes.
    assert_eq!(
        Tensors::parse(&good[..good.len() - 1]).unwrap_err(),
        ReadError::Short {
            needed: good.len() as u64,
            there: good.len() as u64 - 1
        }
    );
    assert_eq!(error(format!("{{{whole}}}"), 9), ReadError::Surplus(1));
    // Duplicate tensor, duplicate metadata, duplicate metadata key.
    let meta = r#""__metadata__":{"k":"v"}"#;
    for header in [
        format!("{{{whole},{whole}}}"),
        format!("{{{meta},{meta},{whole}}}"),
        format!("{{\"__metadata__\":{{\"k\":\"v\",\"k\":\"w\"}},{whole}}}"),
    ] {
        let found = error(header, 8);
        assert!(
            matches!(&found, ReadError::Header(why) if why.contains("twice")),
            "{found}"
        );
    }
    // Gap, overlap, size that is not the shape's, a product that overflows.
    for header in [
        format!("{{{}}}", entry("a", "F32", "[1]", 4, 8)),
        format!("{{{whole},{}}}", entry("b", "F32", "[1]", 4, 8)),
        format!("{{{}}}", entry("a", "F32", "[3]", 0, 8)),
        format!("{{{}}}", entry("a", "F32", "[4294967296,4294967296]", 0, 8)),
    ] {
        let found = error(header, 8);
        assert!(matches!(found, ReadError::Layout(_)), "{found}");
    }
    // Extents that end at the end of the address space: the crate alone would overflow its sum.
    let each = u64::MAX / 8;
    let huge: Vec<String> = (0..8)
        .map(|n| {
            entry(
                &format!("t{n}"),
                "U8",
                &format!("[{each}]"),
                n * each,
                (n + 1) * each,
            )
        })
        .collect();
    let found = error(format!("{{{}}}", huge.join(",")), 8);
    assert!(matches!(found, ReadError::Short { .. }), "{found}");
    // A type that is not supported.
    let int = error(format!("{{{}}}", entry("a", "I64", "[1]", 0, 8)), 8);
    assert!(matches!(int, ReadError::Type { .. }));
    // A header beyond the limit, whether or not its bytes are there.
    let long = (MAX_HEADER as u64 + 1).to_le_bytes();
    assert!(matches!(
        Tensors::parse(&long),
        Err(ReadError::HeaderTooLong(_))
    ));
    assert!(matches!(
        Tensors::parse(&[1, 2]),
        Err(ReadError::Short { .. })
    ));
}

proptest! {
    #[test]
    fn any_bytes_give_a_value(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = Tensors::parse(&bytes);
    }

    /// Mutations of a real file: bytes replaced, a piece cut out, an end cut off. The result is
    /// either an error or tensors with the right sizes.
    #[test]
    fn mutated_files_give_a_value(
        edits in proptest::collection::vec((0usize..700, any::<u8>()), 0..6),
        digits in proptest::collection::vec((0usize..400, b'0'..=b'9'), 0..4),
        cut in proptest::option::of((0usize..870, 0usize..40)),
        end in 0usize..4,
    ) {
        let mut bytes = include_bytes!("../../../tests/golden/causal-l1.safetensors").to_vec();
        for (at, value) in edits.into_iter().chain(digits) {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = value;
            }
        }
        if let Some((from, n)) = cut {
            let from = from.min(bytes.len());
            let to = (from + n).min(bytes.len());
            bytes.drain(from..to);
        }
        bytes.truncate(bytes.len() - end.min(bytes.len()));
        if let Ok(read) = Tensors::parse(&bytes) {
            for tensor in read.tensors.values() {
                prop_assert_eq!(tensor.shape.iter().product::<usize>(), tensor.data.len());
            }
        }
    }
}
