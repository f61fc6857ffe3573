//! Messages to the workers and back: every Frame arrives whole, no tensor travels twice, and
//! damaged bytes give an error, never a panic.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use attnscope_attention::layer::Tensor;
use attnscope_attention::reference::{Head, ReferenceError};
use attnscope_attention::summary::{Lost, Summary};
use attnscope_data::folder;
use attnscope_data::synthetic::synthetic;
use attnscope_engine::Frame;
use attnscope_scene::resolve::Sizes;
use attnscope_scene::{ColorScale, Pattern, Quantity, Scene};
use attnscope_worker::Blob;
use attnscope_worker::blobs::BlobReader;
use attnscope_worker::codec::{ProtocolError, decode, encode};
use attnscope_worker::compute_protocol::{ComputeRequest, ComputeResponse};
use attnscope_worker::compute_worker::ComputeWorker;
use attnscope_worker::cpu_protocol::{CpuRequest, CpuResponse};
use attnscope_worker::cpu_worker::CpuWorker;
use attnscope_worker::frame_message::{FrameReceiver, FrameSender, Packed, Targets};
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

/// Encodes and decodes, as a message does.
fn receive(receiver: &mut FrameReceiver, sent: &Packed) -> (Frame, Targets) {
    let (message, blobs) = bytes(sent);
    unpack(receiver, &message, blobs).expect("a Frame")
}

fn bytes(sent: &Packed) -> (Vec<u8>, Vec<Blob>) {
    (encode(&sent.frame), sent.blobs())
}

fn unpack(
    receiver: &mut FrameReceiver,
    message: &[u8],
    blobs: Vec<Blob>,
) -> Result<(Frame, Targets), ProtocolError> {
    decode(message).and_then(|message| receiver.unpack(message, blobs))
}

#[test]
fn every_frame_arrives_whole() {
    let (mut here, mut there) = (FrameSender::default(), FrameReceiver::default());
    for frame in frames() {
        let (arrived, targets) = receive(&mut there, &here.pack(&frame, TARGETS));
        assert_eq!(arrived, frame);
        assert_eq!(targets, TARGETS);
    }
}

#[test]
fn tensors_travel_once_and_stay_themselves() {
    let (mut here, mut there) = (FrameSender::default(), FrameReceiver::default());
    let mut moved = 0;
    for mut frame in frames() {
        let first = receive(&mut there, &here.pack(&frame, TARGETS)).0;
        frame.config.scale *= 2.0;
        if let Some(p_k) = &mut frame.biases.p_k {
            p_k.amplitude += 1.0;
        }
        let sent = here.pack(&frame, TARGETS);
        assert_eq!(sent.tensors.len(), 0, "numbers alone");
        let second = receive(&mut there, &sent).0;
        assert_eq!(second, frame);
        // The plan compares tensors by identity.
        assert!(std::sync::Arc::ptr_eq(&first.layer, &second.layer));
        if let (Some(a), Some(b)) = (&first.biases.p_k, &second.biases.p_k) {
            assert!(std::sync::Arc::ptr_eq(&a.unit.data, &b.unit.data));
            // Equal numbers in another allocation are another tensor.
            let p_k = frame.biases.p_k.as_mut().unwrap();
            p_k.unit = Tensor::new(&p_k.unit.shape, p_k.unit.data.to_vec()).unwrap();
            let sent = here.pack(&frame, TARGETS);
            assert_eq!(sent.tensors.len(), 1);
            assert_eq!(receive(&mut there, &sent).0, frame);
            moved += 1;
        }
    }
    assert!(moved > 10);
}

#[test]
fn a_bias_that_was_away_for_a_frame_does_not_travel_again() {
    let (mut here, mut there) = (FrameSender::default(), FrameReceiver::default());
    let with = frames()
        .into_iter()
        .find(|f| f.biases.p_k.is_some())
        .unwrap();
    let mut without = with.clone();
    without.biases.p_k = None;
    for frame in [&with, &without, &with] {
        let sent = here.pack(frame, TARGETS);
        assert_eq!(receive(&mut there, &sent).0, *frame);
        assert!(frame != &without || sent.tensors.is_empty());
    }
    assert!(here.pack(&with, TARGETS).tensors.is_empty());
}

#[test]
fn damaged_bytes_are_no_frame() {
    let no_frame = |message: &[u8], blobs: &[Blob]| {
        let unpacked = unpack(&mut FrameReceiver::default(), message, blobs.to_vec());
        assert!(unpacked.is_err(), "{unpacked:?}");
    };
    for frame in frames().into_iter().step_by(9) {
        let (message, blobs) = bytes(&FrameSender::default().pack(&frame, TARGETS));
        assert!(unpack(&mut FrameReceiver::default(), &message, blobs.clone()).is_ok());
        no_frame(&[], &blobs);
        no_frame(&message, &[]);
        no_frame(&message, &blobs[1..]);
        no_frame(&message, &blobs[..blobs.len() - 1]);
        no_frame(&message, &[&blobs[..], &[Vec::new()]].concat());
        let mut short = blobs.clone();
        short[0].pop();
        no_frame(&message, &short);
        for end in 0..message.len() {
            no_frame(&message[..end], &blobs);
        }
        no_frame(&[&message[..], &[0; 8]].concat(), &blobs);
        // A Frame that relies on tensors that never came.
        let mut here = FrameSender::default();
        here.pack(&frame, TARGETS);
        no_frame(&encode(&here.pack(&frame, TARGETS).frame), &[]);
    }
}

#[test]
fn any_flipped_bit_gives_an_error_or_a_frame_and_never_a_panic() {
    for frame in frames().into_iter().step_by(30) {
        let (message, blobs) = bytes(&FrameSender::default().pack(&frame, TARGETS));
        for bit in 0..message.len() * 8 {
            let mut damaged = message.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            if let Ok((frame, _)) = unpack(&mut FrameReceiver::default(), &damaged, blobs.clone()) {
                // Whatever arrives, its tensors fit.
                frame.layer.check().unwrap();
                frame.biases.check(&frame.layer).unwrap();
            }
        }
    }
}

#[test]
fn the_receiver_starts_anew_after_an_error() {
    let frame = &frames()[0];
    let (mut here, mut there) = (FrameSender::default(), FrameReceiver::default());
    receive(&mut there, &here.pack(frame, TARGETS));
    let (message, _) = bytes(&here.pack(frame, TARGETS));
    assert!(unpack(&mut there, &message, vec![Vec::new()]).is_err());
    assert_eq!(
        unpack(&mut there, &message, Vec::new()),
        Err(ProtocolError::MissingFrame)
    );
    let anew = FrameSender::default().pack(frame, TARGETS);
    assert_eq!(receive(&mut there, &anew).0, *frame);
}

#[test]
fn facts_arrive_as_they_were() {
    let full = Summary {
        visible_min: 1,
        visible_max: 24,
        visible_mean: 12.5,
        empty_rows: 2,
        strongest: Some((3, 4, -0.75)),
        favourite: Some((5, 0.5)),
        favourite_row: Some(9),
        offset: Some((-3, 0.25)),
        offset_row: Some(10),
        row_sum: (-1.5, 2.5),
        negative: 0.125,
        entropy: Some(1.75),
        lost: Some(Lost {
            mean: 0.1,
            row: 6,
            share: 0.2,
            key: 7,
            key_share: 0.3,
        }),
        moved: 0.4,
        moved_at: Some((11, 12)),
    };
    for summary in [Some(full), Some(Summary::default()), None] {
        let response = ComputeResponse::Summary(summary);
        assert_eq!(decode(&encode(&response)), Ok(response));
    }
}

fn cpu(
    worker: &mut CpuWorker,
    request: &CpuRequest,
    blobs: Vec<Blob>,
) -> (CpuResponse, BlobReader) {
    let (response, blobs) = worker.answer(&encode(request), blobs);
    (decode(&response).unwrap(), BlobReader::new(blobs))
}

#[test]
fn the_cpu_worker_draws_a_frame_whose_tensors_came_in_chunks() {
    let frame = frames()
        .into_iter()
        .find(|f| f.map.is_some() && f.score_factors.is_none())
        .unwrap();
    let sent = FrameSender::default().pack(&frame, TARGETS);
    let draw = CpuRequest::Draw(Box::new(sent.frame.clone()));
    let mut maps = Vec::new();
    for in_chunks in [false, true] {
        let mut worker = CpuWorker::new(|| 0.0);
        let mut blobs = sent.blobs();
        if in_chunks {
            // A Frame that never came had more of them.
            for (tensor, blob) in (0..).zip(blobs.iter().chain(&blobs)) {
                let chunk = CpuRequest::Chunk { tensor, at: 0 };
                assert_eq!(
                    cpu(&mut worker, &chunk, vec![blob.clone()]).0,
                    CpuResponse::Chunk
                );
            }
            for (tensor, blob) in (0..).zip(std::mem::take(&mut blobs)) {
                for (at, half) in (0..).zip([&blob[..4], &blob[4..]]) {
                    let chunk = CpuRequest::Chunk { tensor, at };
                    assert_eq!(
                        cpu(&mut worker, &chunk, vec![half.to_vec()]).0,
                        CpuResponse::Chunk
                    );
                }
            }
        }
        let (drawn, mut pictures) = cpu(&mut worker, &draw, blobs);
        let CpuResponse::Drawn(drawn) = drawn else {
            panic!("{drawn:?}");
        };
        let picture = drawn.pictures[0].unwrap();
        let rgba = pictures.bytes(picture.rgba).unwrap();
        assert_eq!(rgba.len(), (picture.width * picture.height * 4) as usize);
        let (map, mut blobs) = cpu(&mut worker, &CpuRequest::ReadMap, Vec::new());
        let CpuResponse::Map(map) = map else {
            panic!("{map:?}");
        };
        maps.push(map.read(1, &mut blobs).unwrap());
    }
    assert_eq!(maps[0], maps[1]);
    assert!(maps[0].values.iter().any(|&value| value != 0.0));
}

#[test]
fn workers_answer_what_they_do_not_understand_with_a_failure() {
    let mut compute = ComputeWorker::default();
    let mut worker = CpuWorker::new(|| 0.0);
    let chunk = |tensor, at| encode(&CpuRequest::Chunk { tensor, at });
    for bytes in [
        Vec::new(),
        vec![255; 40],
        chunk(0, 1),
        chunk(u32::MAX, 0),
        chunk(0, 0),
        b"draw 0 ".to_vec(),
    ] {
        let (response, _) = worker.answer(&bytes, Vec::new());
        assert!(matches!(decode(&response), Ok(CpuResponse::Failed(_))));
    }
    let lost = |layer| encode(&ComputeRequest::Chunk { layer, at: 0 });
    for bytes in [Vec::new(), vec![255; 40], lost(1), b"out 1 ".to_vec()] {
        let (response, _) = compute.answer(&bytes, &[]);
        assert!(matches!(decode(&response), Ok(ComputeResponse::Failed(_))));
    }
}

#[test]
fn the_compute_worker_gives_a_synthetic_layer_away_in_chunks() {
    let mut compute = ComputeWorker::default();
    let mut ask = |request: &ComputeRequest| {
        let (response, blobs) = compute.answer(&encode(request), &[]);
        (decode(&response).unwrap(), BlobReader::new(blobs))
    };
    let scene = "v=1&src=random.9.1&m=window&w=2".to_owned();
    let made = ask(&ComputeRequest::Layer {
        id: 7,
        scene: scene.clone(),
    });
    let (ComputeResponse::Synthetic { tokens, w_o }, mut blobs) = made else {
        panic!("{made:?}");
    };
    assert_eq!(tokens.len(), 9);
    assert_eq!(blobs.tensor(&w_o).unwrap().shape.len(), 2);
    for at in 0..3 {
        let (response, mut blobs) = ask(&ComputeRequest::Chunk { layer: 7, at });
        assert_eq!(response, ComputeResponse::Chunk);
        assert!(blobs.floats(0).unwrap().len().is_multiple_of(9));
    }
    let beyond = ask(&ComputeRequest::Chunk { layer: 7, at: 3 }).0;
    assert!(matches!(beyond, ComputeResponse::Failed(_)));
    let (facts, _) = ask(&ComputeRequest::Summary { layer: 7, scene });
    assert!(matches!(facts, ComputeResponse::Summary(Some(_))));
}

#[test]
fn a_head_from_the_compute_worker_has_the_cells_of_the_reference() {
    let mut compute = ComputeWorker::default();
    let mut ask = |request: &ComputeRequest| {
        let (response, blobs) = compute.answer(&encode(request), &[]);
        (decode(&response).unwrap(), BlobReader::new(blobs))
    };
    let link = "v=1&src=random.9.1&m=cjar&pk=0.7&rho=3&head=2";
    let scene = Scene::from_fragment(link).scene;
    let layer = synthetic(Pattern::Random, 9, 1, 7).layer;
    ask(&ComputeRequest::Layer {
        id: 7,
        scene: link.to_owned(),
    });
    let (response, mut blobs) = ask(&ComputeRequest::Head {
        layer: 7,
        head: 2,
        factors: Some(link.to_owned()),
    });
    let ComputeResponse::Head(head) = response else {
        panic!("{response:?}");
    };
    let (projected, factors) = head.read(9, &mut blobs).unwrap();
    let sizes = Sizes::from(&layer);
    let (config, biases) = (scene.config(sizes), scene.biases(sizes));
    assert_eq!(config.score_rank, Some(3));
    let from = |factors| Head::from_factors(&layer, &projected, factors, &config, &biases, 2);
    assert_eq!(from(None).unwrap_err(), ReferenceError::NoFactors);
    let here = from(factors.as_ref()).unwrap();
    let wanted = Head::new(&layer, &config, &biases, 2).unwrap();
    for (i, j) in [(0, 0), (3, 8), (8, 1)] {
        assert_eq!(here.cell(i, j), wanted.cell(i, j));
    }
}
