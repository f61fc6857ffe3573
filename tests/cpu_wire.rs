//! Frames over the wire to the CPU engine: everything arrives, nothing travels twice, and damaged
//! bytes are refused.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use attnscope_attention::layer::Tensor;
use attnscope_data::folder;
use attnscope_engine::Frame;
use attnscope_engine_cpu::engine::Targets;
use attnscope_engine_cpu::wire::Wire;
use attnscope_scene::{ColorScale, Quantity};
use support::{frame, output, strip, whole_map};

const TARGETS: Targets = Targets {
    sizes: [(640, 480), (0, 0), (3, 8192)],
};

fn frames() -> Vec<Frame> {
    let cases = folder::cases(&folder::golden()).unwrap();
    let mut frames = Vec::new();
    for (at, case) in cases.iter().enumerate() {
        let mut frame = frame(case);
        if at % 4 != 0 {
            frame.map = Some(whole_map(&case.layer, at % 3, Quantity::Score));
        }
        if at % 3 != 0 {
            frame.strip = Some(strip(at as u32));
        }
        if at % 2 != 0 {
            frame.output = Some(output(&case.layer));
            frame.output.as_mut().unwrap().colors.range = Some((-0.25, 1e-9));
            frame.output.as_mut().unwrap().colors.scale =
                [ColorScale::Sqrt, ColorScale::Log][at % 4 / 2];
        }
        frames.push(frame);
    }
    frames
}

#[test]
fn every_frame_arrives_whole() {
    let (mut here, mut there) = (Wire::<false>::default(), Wire::<true>::default());
    for frame in frames() {
        let sent = here.pack(&frame, TARGETS).into_blobs();
        let (arrived, targets) = there.unpack(sent).expect("a Frame");
        assert_eq!(arrived, frame);
        assert_eq!(targets, TARGETS);
    }
}

#[test]
fn tensors_travel_once_and_stay_themselves() {
    let (mut here, mut there) = (Wire::<false>::default(), Wire::<true>::default());
    let mut moved = 0;
    for mut frame in frames() {
        let first = there
            .unpack(here.pack(&frame, TARGETS).into_blobs())
            .unwrap()
            .0;
        frame.config.scale *= 2.0;
        if let Some(p_k) = &mut frame.biases.p_k {
            p_k.amplitude += 1.0;
        }
        let sent = here.pack(&frame, TARGETS);
        assert_eq!(sent.tensors.len(), 0, "numbers alone");
        let second = there.unpack(sent.into_blobs()).unwrap().0;
        assert_eq!(second, frame);
        // What the plan compares is the identity of tensors.
        assert!(std::sync::Arc::ptr_eq(&first.layer, &second.layer));
        if let (Some(a), Some(b)) = (&first.biases.p_k, &second.biases.p_k) {
            assert!(std::sync::Arc::ptr_eq(&a.unit.data, &b.unit.data));
            // Equal numbers in another place are another tensor.
            let p_k = frame.biases.p_k.as_mut().unwrap();
            p_k.unit = Tensor::new(&p_k.unit.shape, p_k.unit.data.to_vec()).unwrap();
            let sent = here.pack(&frame, TARGETS);
            assert_eq!(sent.tensors.len(), 1);
            assert_eq!(there.unpack(sent.into_blobs()).unwrap().0, frame);
            moved += 1;
        }
    }
    assert!(moved > 10);
}

#[test]
fn damaged_bytes_are_no_frame() {
    let no_frame = |blobs: &[Vec<u8>]| {
        assert_eq!(Wire::<true>::default().unpack(blobs.to_vec()), None);
    };
    for frame in frames().into_iter().step_by(9) {
        let sent = Wire::<false>::default().pack(&frame, TARGETS).into_blobs();
        assert!(Wire::<true>::default().unpack(sent.clone()).is_some());
        no_frame(&[]);
        no_frame(&sent[1..]);
        no_frame(&sent[..sent.len() - 1]);
        let mut short = sent.clone();
        let whole = short[0].len();
        short[0].truncate(whole - 8);
        no_frame(&short);
        let mut long = sent.clone();
        long[0].extend([0; 8]);
        no_frame(&long);
        // A Frame that counts on tensors that never came.
        let mut here = Wire::<false>::default();
        here.pack(&frame, TARGETS);
        no_frame(&here.pack(&frame, TARGETS).into_blobs());
    }
}
