//! Who may be returned.

use recoup_core::base::project::ProjectId;
use recoup_core::memory::recall::search;
use recoup_core::memory::recall::search::SearchQuery;
use recoup_core::memory::{NoteKind, NoteScope, NoteStatus, NoteTrust};

use super::Memory;

fn project(digit: char) -> NoteScope {
    NoteScope::Project(ProjectId::parse(&digit.to_string().repeat(32)).unwrap())
}

fn moved(memory: &Memory, row: i64, scope: &NoteScope) {
    memory.set(row, "scope", &scope.to_string());
    search::index_note(&memory.0, row, "use tabs", None).unwrap();
}

#[test]
fn superseded_and_retired_notes_and_candidates_are_not_returned() {
    let memory = Memory::of(["use tabs"; 4]);
    for (row, status) in [(1, "superseded"), (2, "retired"), (3, "candidate")] {
        memory.set(row, "status", status);
    }
    assert_eq!(memory.find("tabs"), [4]);
    let all = SearchQuery { statuses: NoteStatus::ALL, ..SearchQuery::new("tabs") };
    assert_eq!(memory.answer(&all).len(), 4);
}

#[test]
fn a_project_sees_what_is_universal_and_its_own() {
    let memory = Memory::of(["use tabs"; 3]);
    moved(&memory, 2, &project('a'));
    moved(&memory, 3, &project('b'));
    let look =
        |scopes: &[NoteScope]| memory.answer(&SearchQuery { scopes, ..SearchQuery::new("tabs") });
    assert_eq!(look(&[project('a'), NoteScope::Universal]), [2, 1]);
    assert_eq!(look(&[project('b')]), [3]);
    assert_eq!(look(&[project('c')]), [0_i64; 0]);
    assert_eq!(look(&[]), [3, 2, 1]);
}

#[test]
fn an_old_project_is_not_drowned_by_thousands_of_newer_notes_elsewhere() {
    let memory = Memory::of(["use tabs"]);
    moved(&memory, 1, &project('a'));
    memory.0.execute_batch("BEGIN").unwrap();
    for row in 2..4_000 {
        memory.add(row, "use tabs");
    }
    memory.0.execute_batch("COMMIT").unwrap();
    let scopes = [project('a')];
    assert_eq!(memory.answer(&SearchQuery { scopes: &scopes, ..SearchQuery::new("tabs") }), [1]);
}

#[test]
fn trust_and_kind_are_filters() {
    let memory = Memory::of(["use tabs"; 4]);
    for (row, source) in [(1, "tool"), (2, "import"), (3, "team"), (4, "manual")] {
        memory.set(row, "source", source);
    }
    let at_least = |trust| memory.answer(&SearchQuery { trust, ..SearchQuery::new("tabs") });
    assert_eq!(at_least(NoteTrust::Untrusted), [4, 3, 2, 1]);
    assert_eq!(at_least(NoteTrust::Inferred), [4, 3, 2]);
    assert_eq!(at_least(NoteTrust::Agreed), [4, 3]);
    assert_eq!(at_least(NoteTrust::Stated), [4]);
    memory.set(2, "kind", "devops");
    let kinds = [NoteKind::Devops];
    assert_eq!(memory.answer(&SearchQuery { kinds: &kinds, ..SearchQuery::new("tabs") }), [2]);
}

#[test]
fn a_limit_is_kept_also_when_it_is_nothing() {
    let memory = Memory::of(["use tabs"; 20]);
    for limit in [0, 1, 7, 20, 1_000] {
        assert_eq!(
            memory.answer(&SearchQuery { limit, ..SearchQuery::new("tabs") }).len(),
            limit.min(20)
        );
    }
}

#[test]
fn a_note_whose_row_is_gone_is_not_returned() {
    let memory = Memory::of(["use tabs", "use tabs too"]);
    memory.0.execute("DELETE FROM notes WHERE row = 1", []).unwrap();
    assert_eq!(memory.find("tabs"), [2]);
}
