//! Things with a name of two words: among many clients, "the payments client" is one.

use super::Memory;

const NAMES: [&str; 24] = [
    "shop", "payments", "people", "search", "email", "billing", "stock", "shipping", "catalogue",
    "pricing", "charts", "auth", "alerts", "webhooks", "exports", "imports", "reviews", "sessions",
    "tickets", "ledger", "tax", "loyalty", "media", "audit",
];
const RULES: [&str; 6] = [
    "the {s} client must have a timeout of 5 seconds",
    "the {s} client must never follow redirects",
    "{s} client: idempotency keys for each POST",
    "never call the {s} API from a migration",
    "the tests of the {s} service need the queue emulator",
    "log lines of the {s} worker are JSON",
];

/// Rules about each of many things; rows 7 to 9 are about the payments client.
fn project() -> Memory {
    let texts: Vec<String> =
        NAMES.iter().flat_map(|name| RULES.map(|rule| rule.replace("{s}", name))).collect();
    Memory::of(texts.iter().map(String::as_str))
}

#[test]
fn a_thing_among_many_of_its_sort_is_known_by_its_name() {
    let memory = project();
    let of_the_client = 7..=9;
    for prompt in [
        "add a retry to the payments client",
        "please refactor the payments client",
        "write a mock of the payments client for the tests",
        "rename the methods of PaymentsClient",
        "look into src/payments_client.rs, it is slow",
    ] {
        let found = memory.fitting(prompt);
        assert!(!found.is_empty(), "{prompt}");
        assert!(found.iter().all(|row| of_the_client.contains(row)), "{prompt}: {found:?}");
    }
}

#[test]
fn the_sort_of_a_thing_alone_or_two_words_apart_are_no_name() {
    let memory = project();
    for prompt in [
        "write a client for the weather forecast",
        "add a retry to the flaky test",
        "the client asked about late payments of a customer",
        "what is the difference between a client and a server?",
        "fix the typo in the header",
    ] {
        assert_eq!(memory.fitting(prompt), [0_i64; 0], "{prompt}");
    }
}
