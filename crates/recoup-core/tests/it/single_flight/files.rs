//! Claims as files: one owner at a time, and nothing left behind.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use recoup_core::cache::{CacheLimits, CacheOptions, FillOutcome, Outcome, Ttl};
use recoup_core::key::Scope;
use recoup_core::store::{ClaimRegistry, FileClaims, StoreUrl, ThreadClaims};

use super::lookup;
use super::meetings::{Meeting, OnOneMachine, around, assemble};
use crate::store_contract::stores::InSqlite;
use crate::support::{Faults, draft, id, id_in, scopes};

fn names_in(dir: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_claim_is_one_owners_until_it_is_dropped() {
    let dir = tempfile::tempdir().unwrap();
    let files: [&dyn ClaimRegistry; 2] = [&FileClaims::at(dir.path()), &FileClaims::at(dir.path())];
    let threads = ThreadClaims::default();
    for [one, other] in [files, [&threads, &threads.clone()]] {
        let claim = one.try_claim(&id("a")).unwrap().expect("it is free");
        assert!(other.try_claim(&id("a")).unwrap().is_none());
        assert!(one.try_claim(&id("a")).unwrap().is_none());
        let another = other.try_claim(&id("b")).unwrap().expect("another entry");
        drop(claim);
        let claim = other.try_claim(&id("a")).unwrap().expect("it is free again");
        claim.release();
        another.release();
        assert!(one.try_claim(&id("a")).unwrap().is_some());
    }
}

#[test]
fn the_same_key_in_two_scopes_is_two_claims() {
    let dir = tempfile::tempdir().unwrap();
    let claims = FileClaims::at(dir.path());
    let held = scopes().map(|scope| claims.try_claim(&id_in(&scope, "a")).unwrap());
    assert!(held.iter().all(Option::is_some));
}

#[test]
fn claims_leave_no_file_behind() {
    let dir = tempfile::tempdir().unwrap();
    let claims = FileClaims::at(dir.path().join("deep/down"));
    let claim = claims.try_claim(&id("a")).unwrap();
    assert_eq!(names_in(&dir.path().join("deep/down")).len(), 1);
    drop(claim);
    assert_eq!(names_in(&dir.path().join("deep/down")), [""; 0]);
}

/// The file comes and goes all the time; two who hold two files of one name would
/// be seen here.
#[test]
fn there_are_never_two_owners() {
    let dir = tempfile::tempdir().unwrap();
    let (owners, turns) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let claims = FileClaims::at(dir.path());
                while turns.load(Ordering::SeqCst) < 1_000 {
                    let Some(claim) = claims.try_claim(&id("a")).unwrap() else { continue };
                    assert_eq!(owners.fetch_add(1, Ordering::SeqCst), 0);
                    turns.fetch_add(1, Ordering::SeqCst);
                    thread::sleep(Duration::from_micros(100));
                    owners.fetch_sub(1, Ordering::SeqCst);
                    drop(claim);
                }
            });
        }
    });
    assert_eq!(names_in(dir.path()), [""; 0]);
}

#[test]
fn what_a_dead_owner_left_is_used_again() {
    let dir = tempfile::tempdir().unwrap();
    let claims = FileClaims::at(dir.path());
    let claim = claims.try_claim(&id("a")).unwrap().unwrap();
    let name = names_in(dir.path()).remove(0);
    drop(claim);
    fs::write(dir.path().join(&name), "").unwrap();
    let claim = claims.try_claim(&id("a")).unwrap().expect("nobody holds it");
    assert_eq!(names_in(dir.path()), [name]);
    drop(claim);
    assert_eq!(names_in(dir.path()), [""; 0]);
}

/// Somebody cleared the directory in the middle of the work, and others came: what
/// is theirs stays.
#[test]
fn an_owner_whose_file_was_taken_away_removes_no_others() {
    let dir = tempfile::tempdir().unwrap();
    let claims = FileClaims::at(dir.path());
    let robbed = claims.try_claim(&id("a")).unwrap().unwrap();
    fs::remove_file(dir.path().join(&names_in(dir.path())[0])).unwrap();
    let second = claims.try_claim(&id("a")).unwrap().expect("there is no file");
    drop(robbed);
    assert!(claims.try_claim(&id("a")).unwrap().is_none());
    drop(second);
    assert!(claims.try_claim(&id("a")).unwrap().is_some());
}

#[test]
fn sweeping_takes_what_nobody_holds_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let claims = FileClaims::at(dir.path());
    let held = claims.try_claim(&id("a")).unwrap();
    fs::write(dir.path().join("left.claim"), "").unwrap();
    fs::write(dir.path().join("foreign"), "").unwrap();
    assert_eq!(claims.sweep().unwrap(), 1);
    assert_eq!(names_in(dir.path()).len(), 2);
    drop(held);
    assert_eq!(names_in(dir.path()), ["foreign"]);
    assert_eq!(FileClaims::at(dir.path().join("nowhere")).sweep().unwrap(), 0);
}

#[test]
fn a_local_store_has_claims_in_files() {
    let (dir, meeting) = (tempfile::tempdir().unwrap(), OnOneMachine::<InSqlite>::fresh());
    let url = StoreUrl::parse("sqlite:/x/cache.db", Path::new("/"), None).unwrap();
    let near = Arc::new(FileClaims::at(dir.path().join("claims")));
    let claims = url.claims(&around(&Faults::new(), meeting.clock()), near);
    assert!(!dir.path().join("claims").exists(), "before it is needed");
    let claim = claims.try_claim(&id("a")).unwrap();
    assert_eq!(names_in(&dir.path().join("claims")).len(), 1);
    drop(claim);
}

#[test]
fn clean_up_sweeps() {
    let meeting = OnOneMachine::<InSqlite>::fresh();
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("left.claim"), "").unwrap();
    let (store, _) = meeting.parts();
    let claims = Arc::new(FileClaims::at(dir.path()));
    let cache = assemble(store, claims, meeting.clock(), CacheOptions::default());
    let _ = cache.clean_up(&Scope::global(), CacheLimits::default()).unwrap();
    assert_eq!(names_in(dir.path()), [""; 0]);
}

/// Where no claim can be had, everybody works.
#[test]
fn a_directory_that_cant_be_made_is_in_nobodys_way() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    let claims = Arc::new(FileClaims::at(dir.path().join("file/claims")));
    claims.try_claim(&id("key")).unwrap_err();
    let meeting = OnOneMachine::<InSqlite>::fresh();
    let (store, _) = meeting.parts();
    let cache = assemble(store, claims, meeting.clock(), CacheOptions::default());
    let (one, two) = (lookup(&cache, "key"), lookup(&cache, "key"));
    let (Outcome::Miss(one, _), Outcome::Miss(two, _)) = (one, two) else { panic!("no misses") };
    for permit in [one, two] {
        assert!(matches!(permit.fill(draft("a"), Ttl::days(1)).unwrap(), FillOutcome::Stored(_)));
    }
    assert!(matches!(lookup(&cache, "key"), Outcome::Hit(_)));
}
