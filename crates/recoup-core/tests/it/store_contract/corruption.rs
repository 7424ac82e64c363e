//! A medium that was changed behind the store's back: what is damaged is never
//! served, and harms nothing but itself.

use recoup_core::ErrorKind;
use recoup_core::entry::{BodyDamage, CHUNK_LEN, INLINE_MAX};
use recoup_core::key::EntryId;
use recoup_core::store::{ScanFilter, ScanFlow, Store};

use super::stores::{Damageable, Harm};
use crate::support::{body_of, id, noise_text, record};

/// What reading the whole body comes to.
fn read(store: &dyn Store, id: &EntryId) -> Result<Vec<u8>, BodyDamage> {
    let entry = store.get(id).unwrap().expect("it is there").open()?;
    match entry.body().to_bytes() {
        Ok(bytes) => Ok(bytes.to_vec()),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
            Err(BodyDamage::Mismatch)
        }
    }
}

fn is_never_served<D: Damageable>(bodies: &[String], how: Harm) {
    let factory = D::fresh();
    let store = factory.store();
    store.put(&id("sound"), &record("sound")).unwrap();
    for (n, body) in bodies.iter().enumerate() {
        let damaged = id(&n.to_string());
        store.put(&damaged, &record(body.clone())).unwrap();
        factory.harm(&damaged, how);
        let reopened = factory.reopen();
        let found = read(&*reopened, &damaged);
        assert!(found.is_err(), "{} bytes, {how:?}", body.len());
        assert_eq!(body_of(&*reopened, &id("sound")), Some(b"sound".to_vec()));
    }
}

fn small() -> [String; 4] {
    // Compressed, plain, one byte, and the largest of its kind.
    ["a".repeat(5_000), noise_text(40, 1), "x".to_owned(), noise_text(INLINE_MAX, 2)]
}

fn large() -> [String; 3] {
    [INLINE_MAX + 1, 3 * CHUNK_LEN, 2 * CHUNK_LEN + 99].map(|len| noise_text(len, 4))
}

pub(super) fn a_changed_body_is_never_served<D: Damageable>() {
    is_never_served::<D>(&small(), Harm::FlippedBody);
}

pub(super) fn a_cut_body_is_never_served<D: Damageable>() {
    is_never_served::<D>(&small(), Harm::CutBody);
}

pub(super) fn a_changed_large_body_is_never_served<D: Damageable>() {
    is_never_served::<D>(&large(), Harm::FlippedBody);
}

pub(super) fn a_cut_large_body_is_never_served<D: Damageable>() {
    is_never_served::<D>(&large(), Harm::CutBody);
}

pub(super) fn a_broken_header_is_reported_and_harms_no_other<D: Damageable>() {
    let factory = D::fresh();
    let store = factory.store();
    for key in ["a", "b", "c"] {
        store.put(&id(key), &record(key.to_owned())).unwrap();
    }
    factory.harm(&id("b"), Harm::BrokenHeader);
    let store = factory.reopen();
    assert_eq!(store.get(&id("b")).unwrap_err().kind(), ErrorKind::Corrupt);
    let (mut sound, mut broken) = (Vec::new(), Vec::new());
    let visit = &mut |id: &EntryId, head: recoup_core::Result<&_>| {
        match head {
            Ok(_) => sound.push(id.clone()),
            Err(error) => broken.push((id.clone(), error.kind())),
        }
        ScanFlow::Continue(())
    };
    store.scan(&ScanFilter::default(), visit).unwrap();
    sound.sort();
    assert_eq!(sound, ["a", "c"].map(id));
    assert_eq!(broken, [(id("b"), ErrorKind::Corrupt)]);
    for key in ["a", "c"] {
        assert_eq!(body_of(&*store, &id(key)), Some(key.as_bytes().to_vec()));
    }
}

pub(super) fn a_damaged_entry_can_be_replaced<D: Damageable>() {
    let factory = D::fresh();
    let store = factory.store();
    for how in [Harm::FlippedBody, Harm::CutBody, Harm::BrokenHeader] {
        for body in [noise_text(700, 1), noise_text(INLINE_MAX + 5, 2)] {
            store.put(&id("key"), &record(body.clone())).unwrap();
            factory.harm(&id("key"), how);
            let reopened = factory.reopen();
            reopened.put(&id("key"), &record(body.clone())).unwrap();
            assert_eq!(body_of(&*reopened, &id("key")), Some(body.into_bytes()), "{how:?}");
        }
    }
}

pub(super) fn a_damaged_entry_can_be_removed<D: Damageable>() {
    let factory = D::fresh();
    let store = factory.store();
    for how in [Harm::FlippedBody, Harm::CutBody, Harm::BrokenHeader] {
        store.put(&id("key"), &record(noise_text(700, 1))).unwrap();
        factory.harm(&id("key"), how);
        let reopened = factory.reopen();
        assert_eq!(reopened.remove(&[id("key")]).unwrap(), 1, "{how:?}");
        assert!(reopened.get(&id("key")).unwrap().is_none());
    }
}
