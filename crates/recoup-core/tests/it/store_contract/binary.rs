//! Bodies that are no text, for stores that take any bytes.

use recoup_core::entry::{CHUNK_LEN, INLINE_MAX};

use super::stores::Factory;
use crate::support::{body_of, id, noise, record};

pub(super) fn incompressible_bodies_of_every_size_come_back<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    for len in [1, 1_000, INLINE_MAX, INLINE_MAX + 1, 3 * CHUNK_LEN + CHUNK_LEN / 2] {
        let bytes = noise(len, 7);
        store.put(&id("noise"), &record(bytes.clone())).unwrap();
        assert_eq!(body_of(&*store, &id("noise")), Some(bytes), "{len}");
    }
}

pub(super) fn every_byte_value_comes_back<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    let bytes: Vec<u8> = (0..=255).chain([0, 0, 0xff, 0xfe]).collect();
    store.put(&id("bytes"), &record(bytes.clone())).unwrap();
    assert_eq!(body_of(&*store, &id("bytes")), Some(bytes));
}
