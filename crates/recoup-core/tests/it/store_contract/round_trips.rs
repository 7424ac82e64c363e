//! What goes in comes out: bodies of every size and shape, and all that a head
//! says about them.

use std::sync::Arc;

use recoup_core::entry::{Body, BodyEncoding, CHUNK_LEN, ChunkSource, INLINE_MAX};
use recoup_core::{Error, ErrorKind, Result};

use super::stores::Factory;
use crate::support::{
    START, body_of, draft, id, later, noise, noise_text, record, rich_draft, rich_sources,
};

pub(super) fn text_bodies_of_every_size_come_back<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    for len in [0, 1, 1_000, INLINE_MAX, INLINE_MAX + 1, 3 * CHUNK_LEN + CHUNK_LEN / 2] {
        let text = noise_text(len, 1);
        store.put(&id("noise"), &record(text.clone())).unwrap();
        assert_eq!(body_of(&*store, &id("noise")), Some(text.into_bytes()), "{len} of noise");
        let text = "x".repeat(len);
        store.put(&id("same"), &record(text.clone())).unwrap();
        assert_eq!(body_of(&*store, &id("same")), Some(text.into_bytes()), "{len} of the same");
    }
}

pub(super) fn every_field_of_the_head_comes_back<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    for (key, body) in [("small", "text".to_owned()), ("large", "l".repeat(INLINE_MAX + 9))] {
        let mut record = rich_draft(body).seal(rich_sources(), START).unwrap();
        record.head.hits = 41;
        record.head.last_used = later(5_000);
        store.put(&id(key), &record).unwrap();
        let found = store.get(&id(key)).unwrap().unwrap();
        assert_eq!(found.head, record.head, "{key}");
    }
}

/// Pieces of an odd length, across the borders of frames.
#[derive(Debug)]
struct Drops(Vec<u8>);

impl ChunkSource for Drops {
    fn for_each_chunk(&self, visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        self.0.chunks(4_093).try_for_each(visit)
    }
}

pub(super) fn a_body_that_arrives_in_small_chunks_comes_back<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    for len in [0, 10, 2 * CHUNK_LEN, 2 * CHUNK_LEN + 1] {
        let text = noise_text(len, 3).into_bytes();
        let body = Body::Large(Arc::new(Drops(text.clone())));
        let record = record_of(body);
        assert_eq!(record.head.header.body.encoding, BodyEncoding::Framed);
        store.put(&id("drops"), &record).unwrap();
        assert_eq!(body_of(&*store, &id("drops")), Some(text), "{len}");
    }
}

fn record_of(body: Body) -> recoup_core::entry::EntryRecord {
    draft(body).seal(rich_sources(), START).unwrap()
}

pub(super) fn a_stored_record_can_be_stored_again_under_another_id<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    for text in [String::new(), noise_text(500, 1), noise_text(2 * CHUNK_LEN + 5, 2)] {
        store.put(&id("one"), &record(text.clone())).unwrap();
        let found = store.get(&id("one")).unwrap().unwrap();
        store.put(&id("two"), &found).unwrap();
        store.put(&id("one"), &found).unwrap();
        for key in ["one", "two"] {
            assert_eq!(body_of(&*store, &id(key)), Some(text.clone().into_bytes()), "{key}");
        }
        assert_eq!(store.get(&id("two")).unwrap().unwrap().head, found.head);
    }
}

pub(super) fn what_was_never_stored_is_absent<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    assert!(store.get(&id("nothing")).unwrap().is_none(), "before the first write");
    store.put(&id("something"), &record("a")).unwrap();
    assert!(store.get(&id("nothing")).unwrap().is_none());
    assert!(store.get(&id("somethin")).unwrap().is_none());
    assert!(store.get(&id("SOMETHING")).unwrap().is_none(), "keys are case-sensitive");
}

/// Gives its bytes once in full, to be measured, then breaks off.
#[derive(Debug)]
struct BreaksOff(Vec<u8>, std::sync::atomic::AtomicUsize);

impl ChunkSource for BreaksOff {
    fn for_each_chunk(&self, visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        visit(&self.0)?;
        match self.1.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
            0 => Ok(()),
            _ => Err(Error::new(ErrorKind::Io, "the pipe broke")),
        }
    }
}

pub(super) fn a_body_that_fails_half_way_leaves_what_was_there<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    store.put(&id("key"), &record("before")).unwrap();
    let body = BreaksOff(noise(2 * CHUNK_LEN, 9), std::sync::atomic::AtomicUsize::new(0));
    let broken = record_of(Body::Large(Arc::new(body)));
    let error = store.put(&id("key"), &broken).unwrap_err();
    assert!(error.to_string().contains("the pipe broke"), "{error}");
    assert_eq!(body_of(&*store, &id("key")), Some(b"before".to_vec()));
    store.put(&id("key"), &record("after")).unwrap();
    assert_eq!(body_of(&*store, &id("key")), Some(b"after".to_vec()));
}
