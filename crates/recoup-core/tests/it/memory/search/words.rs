//! Which words lead to which notes.

use super::{Memory, corpus};

fn finds(note: &str, queries: &[&str]) {
    let memory = Memory::of([note, "an unrelated remark on lunch"]);
    for query in queries {
        assert_eq!(memory.find(query), [1], "{query} in {note}");
    }
}

#[test]
fn an_identifier_is_found_in_any_casing_and_by_its_parts() {
    let casings = [
        "flush_queue", "flushQueue", "FlushQueue", "FLUSH_QUEUE", "flush-queue", "flush queue",
        "flushqueue", "flush", "queue", "queues",
    ];
    for note in ["flush_queue", "flushQueue", "FLUSH_QUEUE", "flush-queue"] {
        finds(&format!("never call `{note}()` here"), &casings);
    }
}

#[test]
fn words_that_are_written_apart_find_the_name_that_is_not() {
    finds("the tool patronictl switches over", &["patroni ctl", "patroniCtl", "PATRONI_CTL"]);
}

#[test]
fn a_path_is_found_by_its_components() {
    let queries = ["src/order_feed.py", "order_feed.py", "OrderFeed", "src order", "py feed"];
    finds("splits lines in src/order_feed.py", &queries);
}

#[test]
fn versions_and_ports_are_found() {
    finds("staging is http://stg.example.com:8443", &["8443", "port 8443", "stg.example.com"]);
    finds("we are on Redis 7.2.4", &["7.2.4", "redis 7.2", "v7", "7.2"]);
    finds("limit of 3,000 IOPS", &["3000 iops", "3,000"]);
}

#[test]
fn word_forms_find_each_other() {
    finds("migrations are tested before deploying", &["migration", "test", "deployed", "testing"]);
}

#[test]
fn names_of_the_trade_find_each_other() {
    finds("the database is in the repository", &["db", "repo"]);
    finds("k8s in prod", &["kubernetes", "production"]);
    finds("squash before you open a PR", &["pull request"]);
}

#[test]
fn five_languages_and_more_find_their_own() {
    finds("die Rechnungsnummern sind lückenlos", &["Rechnungsnummer", "luckenlos", "LÜCKENLOS"]);
    finds("ne jamais modifier une migration déjà fusionnée", &["fusionnées", "deja fusionnee"]);
    finds("los precios se guardan con cuatro decimales", &["precio", "decimal", "guardar"]);
    finds("os testes de integração ficam aqui", &["integracao", "INTEGRAÇÃO", "integrações"]);
    finds("i salvataggi si conservano per 90 giorni", &["conservazione", "salvataggio"]);
    finds("тесты запускаются вручную", &["ТЕСТЫ", "запускать тесты"]);
}

#[test]
fn chinese_and_japanese_are_found_without_spaces() {
    finds("在庫の同期は五分ごとに行われる", &["在庫", "同期", "在庫の同期", "五分"]);
    finds("前端项目统一使用pnpm，不要用npm", &["前端", "pnpm", "使用pnpm", "前端项目用什么"]);
}

#[test]
fn a_single_chinese_character_is_found_wherever_it_stands() {
    finds("统一端口", &["统", "一", "端", "口"]);
}

#[test]
fn a_topic_counts_as_words() {
    let memory = Memory::of(["use tabs"]);
    recoup_core::memory::recall::search::index_note(&memory.0, 1, "use tabs", Some("indentation"))
        .unwrap();
    assert_eq!(memory.find("indentation"), [1]);
}

#[test]
fn what_was_put_anew_is_found_by_its_new_words_only() {
    let memory = Memory::of(["we use yarn"]);
    memory.0.execute("UPDATE notes SET text = 'we use pnpm'", []).unwrap();
    recoup_core::memory::recall::search::index_note(&memory.0, 1, "we use pnpm", None).unwrap();
    assert_eq!(memory.find("pnpm"), [1]);
    assert_eq!(memory.find("yarn"), [0_i64; 0]);
}

#[test]
fn words_that_every_sentence_has_are_found_only_when_nothing_else_is_asked() {
    let memory = Memory::of(["which of the two", "a parser for dates"]);
    assert_eq!(memory.find("which is the parser"), [2]);
    assert_eq!(memory.find("which"), [1]);
}

/// The index of a memory has the words of the version that wrote it. If this fails, notes from before
/// are found by other words than new ones: then the index has to be built anew by a migration.
#[test]
fn notes_are_indexed_by_the_same_words_as_ever() {
    let memory = Memory::among_others(&[]);
    let mut select = memory.0.prepare("SELECT c0 FROM words_content ORDER BY id").unwrap();
    let forms = select.query_map([], |row| row.get::<_, String>(0)).unwrap().map(Result::unwrap);
    // FNV-1a.
    let hash = forms.flat_map(String::into_bytes).fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    assert_eq!((corpus::notes().len(), hash), (2257, 0x9465_ac12_b1fa_4fc6));
}
