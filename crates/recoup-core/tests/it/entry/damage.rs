//! Headers that lie, bodies that bomb, frames that are missing or out of place.

use std::sync::Arc;

use bytes::Bytes;
use proptest::prelude::*;
use recoup_core::entry::{
    BodyDamage, BodyEncoding, BodyInfo, CHUNK_LEN, ChunkSource, EntryRecord, INLINE_MAX, StoredBody,
};
use recoup_core::{ErrorKind, Result};

use super::{open, stored};
use crate::support::{noise, record};

fn lying(record: &EntryRecord, lie: impl FnOnce(&mut BodyInfo)) -> EntryRecord {
    let mut record = record.clone();
    lie(&mut record.head.header.body);
    record
}

fn with_payload(record: &EntryRecord, stored: Vec<u8>) -> EntryRecord {
    EntryRecord { payload: StoredBody::Inline(stored.into()), ..record.clone() }
}

#[test]
fn a_lying_length_is_found_out() {
    let packed = record("a".repeat(10_000));
    let plain = record("short");
    for raw_len in [0, 1, 9_999, 10_001, INLINE_MAX as u64] {
        for sound in [&packed, &plain] {
            let lie = lying(sound, |info| info.raw_len = raw_len);
            assert_eq!(open(lie).unwrap_err(), BodyDamage::Mismatch, "{raw_len}");
        }
    }
}

/// Were it believed, this would ask for all the memory there is.
#[test]
fn a_huge_length_allocates_nothing() {
    let packed = record("a".repeat(10_000));
    for raw_len in [INLINE_MAX as u64 + 1, 1 << 40, u64::MAX] {
        let lie = lying(&packed, |info| info.raw_len = raw_len);
        assert_eq!(open(lie).unwrap_err(), BodyDamage::Unreadable, "{raw_len}");
    }
    let lie = lying(&record("short"), |info| info.raw_len = u64::MAX);
    assert_eq!(open(lie).unwrap_err(), BodyDamage::Mismatch);
}

/// Some 2 GB of zeros in a body of 2 MB, under a header that says 10,000 bytes.
#[test]
fn a_gzip_bomb_is_not_inflated() {
    let sound = record("a".repeat(10_000));
    let member = stored(&record(vec![0; INLINE_MAX]));
    let bomb = member.repeat(2_000);
    for raw_len in [10_000, INLINE_MAX as u64, u64::MAX] {
        let bomb = lying(&with_payload(&sound, bomb.clone()), |info| info.raw_len = raw_len);
        assert!(open(bomb).is_err(), "{raw_len}");
    }
}

#[test]
fn gzip_that_breaks_off_is_unreadable() {
    let sound = record("abc".repeat(5_000));
    let packed = stored(&sound);
    for len in [0, 1, 9, 10, 11, packed.len() / 2, packed.len() - 8, packed.len() - 1] {
        let cut = with_payload(&sound, packed[..len].to_vec());
        assert_eq!(open(cut).unwrap_err(), BodyDamage::Unreadable, "{len} of {}", packed.len());
    }
}

#[test]
fn another_encoding_than_the_one_in_the_header_is_never_served() {
    let (packed, plain) = (record("a".repeat(900)), record("short"));
    for (sound, encoding) in [
        (&packed, BodyEncoding::Plain),
        (&packed, BodyEncoding::Framed),
        (&plain, BodyEncoding::Gzip),
        (&plain, BodyEncoding::Framed),
    ] {
        assert!(open(lying(sound, |info| info.encoding = encoding)).is_err(), "{encoding:?}");
    }
}

proptest! {
    #[test]
    fn no_changed_bit_is_served(
        body in "[a-d]{0,400}", at in any::<prop::sample::Index>(), bit in 0..8u8,
    ) {
        let sound = record(body.clone());
        let mut bytes = stored(&sound);
        prop_assume!(!bytes.is_empty());
        let at = at.index(bytes.len());
        bytes[at] ^= 1u8 << bit;
        // Some bits of gzip's own header mean nothing: then the body is whole.
        if let Ok(entry) = open(with_payload(&sound, bytes)) {
            prop_assert_eq!(entry.body().to_bytes().unwrap(), body);
        }
    }
}

#[derive(Debug)]
struct Frames(Vec<Bytes>);

impl ChunkSource for Frames {
    fn for_each_chunk(&self, visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        self.0.iter().try_for_each(|frame| visit(frame))
    }
}

fn frames_of(record: &EntryRecord) -> Vec<Bytes> {
    let StoredBody::Framed(frames) = &record.payload else { panic!("not framed") };
    let mut all = Vec::new();
    let collect = &mut |frame: &[u8]| {
        all.push(Bytes::copy_from_slice(frame));
        Ok(())
    };
    frames.for_each_chunk(collect).unwrap();
    all
}

/// Reading fails as damage, and every byte given out before that is right.
fn assert_refused(sound: &EntryRecord, body: &[u8], frames: Vec<Bytes>, what: &str) {
    let damaged =
        EntryRecord { payload: StoredBody::Framed(Arc::new(Frames(frames))), ..sound.clone() };
    let mut read = Vec::new();
    let collect = &mut |chunk: &[u8]| {
        read.extend_from_slice(chunk);
        Ok(())
    };
    let error = open(damaged).unwrap().body().for_each_chunk(collect).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{what}: {error}");
    assert!(body.starts_with(&read), "{what}: wrong bytes were given out");
}

#[test]
fn frames_out_of_place_are_refused() {
    let body = noise(3 * CHUNK_LEN, 1);
    let sound = record(body.clone());
    let [a, b, c] = <[Bytes; 3]>::try_from(frames_of(&sound)).unwrap();
    let flipped = |frame: &Bytes, at: usize| {
        let mut frame = frame.to_vec();
        frame[at] ^= 1;
        Bytes::from(frame)
    };
    for (what, frames) in [
        ("none", vec![]),
        ("swapped", vec![b.clone(), a.clone(), c.clone()]),
        ("first missing", vec![b.clone(), c.clone()]),
        ("middle missing", vec![a.clone(), c.clone()]),
        ("last missing", vec![a.clone(), b.clone()]),
        ("one twice", vec![a.clone(), a.clone(), b.clone(), c.clone()]),
        ("last twice", vec![a.clone(), b.clone(), c.clone(), c.clone()]),
        ("changed data", vec![a.clone(), flipped(&b, 40), c.clone()]),
        ("changed digest", vec![a.clone(), flipped(&b, 0), c.clone()]),
        ("cut", vec![a.clone(), b.slice(..b.len() - 1), c.clone()]),
        ("too short for its digest", vec![a.clone(), b.slice(..31), c.clone()]),
        ("nothing but its digest", vec![a, b.slice(..32), c]),
    ] {
        assert_refused(&sound, &body, frames, what);
    }
}

#[test]
fn frames_of_another_body_of_that_length_are_refused() {
    let body = noise(2 * CHUNK_LEN, 1);
    let sound = record(body.clone());
    let other = frames_of(&record(noise(2 * CHUNK_LEN, 2)));
    let own = frames_of(&sound);
    assert_refused(&sound, &body, other.clone(), "all of them");
    assert_refused(&sound, &body, vec![own[0].clone(), other[1].clone()], "the last");
}

#[test]
fn a_lying_length_of_a_large_body_is_found_out() {
    let body = noise(2 * CHUNK_LEN, 1);
    let sound = record(body.clone());
    for raw_len in [0, 1, CHUNK_LEN as u64, 2 * CHUNK_LEN as u64 + 1, u64::MAX] {
        let lie = lying(&sound, |info| info.raw_len = raw_len);
        assert_refused(&lie, &body, frames_of(&sound), &raw_len.to_string());
    }
}
