//! Entries as they are stored: which form a body takes, that no damage passes
//! unnoticed, and that nothing a header claims is believed.

mod damage;
mod header;

use std::sync::Arc;

use bytes::Bytes;
use recoup_core::entry::{
    Body, BodyEncoding, CHUNK_LEN, ChunkSource as _, EntryRecord, INLINE_MAX, StoredBody,
};

use crate::support::{noise, record};

fn open(record: EntryRecord) -> Result<recoup_core::entry::Entry, recoup_core::entry::BodyDamage> {
    Arc::new(record).open()
}

fn stored(record: &EntryRecord) -> Vec<u8> {
    match &record.payload {
        StoredBody::Inline(bytes) => bytes.to_vec(),
        other => panic!("not in one piece: {other:?}"),
    }
}

#[test]
fn what_gzip_makes_smaller_is_compressed() {
    let record = record("a".repeat(10_000));
    let info = record.head.header.body;
    assert_eq!((info.encoding, info.raw_len), (BodyEncoding::Gzip, 10_000));
    assert_eq!(info.stored_len, stored(&record).len() as u64);
    assert!(info.stored_len < 200, "{}", info.stored_len);
    assert!(stored(&record).starts_with(&[0x1f, 0x8b]), "gzip, as the contract asks");
    assert_eq!(open(record).unwrap().body().to_bytes().unwrap(), "a".repeat(10_000));
}

#[test]
fn what_gzip_does_not_make_smaller_is_kept_as_it_is() {
    for body in [vec![], b"a".to_vec(), noise(1_000, 1), noise(INLINE_MAX, 2)] {
        let record = record(body.clone());
        let info = record.head.header.body;
        assert_eq!((info.encoding, info.stored_len), (BodyEncoding::Plain, body.len() as u64));
        assert_eq!(stored(&record), body);
        assert_eq!(open(record).unwrap().body().to_bytes().unwrap(), body);
    }
}

#[test]
fn what_is_too_large_is_framed_and_not_compressed() {
    let record = record("a".repeat(2 * CHUNK_LEN + 1));
    let info = record.head.header.body;
    assert_eq!(info.encoding, BodyEncoding::Framed);
    let StoredBody::Framed(frames) = &record.payload else { panic!("{:?}", record.payload) };
    let mut lens = Vec::new();
    let measure = &mut |frame: &[u8]| {
        lens.push(frame.len());
        Ok(())
    };
    frames.for_each_chunk(measure).unwrap();
    assert_eq!(lens, [CHUNK_LEN + 32, CHUNK_LEN + 32, 33]);
    assert_eq!(info.stored_len, lens.iter().sum::<usize>() as u64);
    let entry = open(record).unwrap();
    assert!(matches!(entry.body(), Body::Large(_)), "a large body is read in chunks");
    assert_eq!(entry.body().to_bytes().unwrap(), "a".repeat(2 * CHUNK_LEN + 1));
}

#[test]
fn a_large_body_can_be_read_again_and_broken_off() {
    let record = record(noise(3 * CHUNK_LEN, 1));
    let entry = open(record).unwrap();
    let mut chunks = 0;
    let stop = &mut |_: &[u8]| {
        chunks += 1;
        Err(recoup_core::Error::usage("enough"))
    };
    let error = entry.body().for_each_chunk(stop).unwrap_err();
    assert_eq!((chunks, error.message()), (1, "enough"));
    assert_eq!(entry.body().to_bytes().unwrap(), noise(3 * CHUNK_LEN, 1));
    assert_eq!(entry.body().to_bytes().unwrap(), noise(3 * CHUNK_LEN, 1));
}

#[test]
fn a_record_that_was_opened_is_sealed_as_it_was() {
    for body in [Bytes::from("a".repeat(500)), noise(CHUNK_LEN + 1, 1).into()] {
        let before = record(body.clone());
        let opened =
            EntryRecord { payload: StoredBody::Opened(body.clone().into()), ..before.clone() };
        let after = opened.to_sealed().unwrap();
        assert_eq!(after.head, before.head);
        assert_eq!(open(after).unwrap().body().to_bytes().unwrap(), body);
    }
}
