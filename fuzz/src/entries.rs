//! One function a decoder: any bytes go in, and none may panic, hang, or come back as something else.

use std::io::Write as _;

use stead_model::{Digest, Limits, Name, PathPattern, StackId};
use stead_state::{Batch, Export, Head, RunRecord, Snapshot, Spooled, State, extent, verify};

/// The bytes with a last line that is their digest, so that what is behind the seal is reached.
pub(crate) fn sealed(bytes: &[u8]) -> Vec<u8> {
    let mut whole = bytes.to_vec();
    if !whole.ends_with(b"\n") {
        whole.push(b'\n');
    }
    stead_state::seal(whole)
}

/// Without the last line, so that a whole file of the corpus reaches what is behind the seal too.
fn unsealed(bytes: &[u8]) -> &[u8] {
    let body = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    body.iter().rposition(|byte| *byte == b'\n').map_or(body, |at| &body[..=at])
}

pub fn head(bytes: &[u8]) {
    for bytes in [bytes.to_vec(), sealed(bytes), sealed(unsealed(bytes))] {
        if let Ok(head) = Head::decode(&bytes) {
            assert_eq!(Head::decode(&head.encode()).as_ref(), Ok(&head));
        }
    }
}

pub fn batch(bytes: &[u8]) {
    for bytes in [bytes.to_vec(), sealed(bytes), sealed(unsealed(bytes))] {
        let Ok(batch) = Batch::decode(&bytes) else { continue };
        assert_eq!(Batch::decode(&batch.encode()).as_ref(), Ok(&batch));
        let mut state = State::from(Snapshot::empty(StackId("s".to_owned())));
        for record in &batch.records {
            if state.apply(record).is_err() {
                break;
            }
        }
        let _ = verify(&state.snapshot(None));
    }
}

/// Packed bytes as they are, and bytes that this packs first.
pub fn snapshot(bytes: &[u8]) {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let packed = gzip.write_all(bytes).and_then(|()| gzip.finish()).unwrap_or_default();
    for bytes in [bytes, &packed] {
        let Ok(snapshot) = Snapshot::decode(bytes, &Digest::of(bytes)) else { continue };
        let (again, digest) = snapshot.encode();
        assert_eq!(Snapshot::decode(&again, &digest).as_ref(), Ok(&snapshot));
        let _ = extent(&snapshot);
        if verify(&snapshot).is_empty() {
            let state = State::from(snapshot.clone());
            assert_eq!(state.resources().len(), snapshot.resources.len());
        }
    }
}

pub fn spool(bytes: &[u8]) {
    for bytes in [bytes.to_vec(), sealed(bytes), sealed(unsealed(bytes))] {
        if let Ok(answer) = Spooled::decode(&bytes) {
            assert_eq!(Spooled::decode(&answer.encode()).as_ref(), Ok(&answer));
        }
    }
}

pub fn history(bytes: &[u8]) {
    if let Ok(record) = RunRecord::decode(bytes) {
        assert_eq!(RunRecord::decode(&record.encode()).as_ref(), Ok(&record));
    }
}

pub fn export(bytes: &[u8]) {
    let Ok(export) = Export::decode(bytes, &Limits::default()) else { return };
    let snapshot = export.into_snapshot();
    let _ = verify(&snapshot);
    let _ = extent(&snapshot);
}

pub fn name(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(name) = text.parse::<Name>() {
        assert_eq!(name.to_string(), text);
    }
}

pub fn pattern(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(pattern) = text.parse::<PathPattern>() {
        assert_eq!(pattern.to_string().parse::<PathPattern>(), Ok(pattern));
    }
}
