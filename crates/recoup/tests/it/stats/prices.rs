//! What tokens cost: a built-in table with a date, and the user's own.

use super::configure;
use crate::support::Home;

/// What a million tokens in and out of `model` cost, in millionths of a dollar.
fn price(home: &Home, model: &str) -> Option<u64> {
    let tokens = "1000000";
    let set = ["set", "--key", "k", "--condensed", "1", "--model", model];
    home.cache(&[&set[..], &["--input-tokens", tokens, "--output-tokens", tokens]].concat())
        .expect(0);
    let shown = home.cache(&["show", "--key", "k", "--json"]).expect(0).json();
    shown["cost"]["micro_dollars"].as_u64()
}

#[test]
fn models_are_found_by_the_longest_beginning_of_their_name() {
    let home = Home::new();
    assert_eq!(price(&home, "claude-sonnet-4-5-20250929"), Some(18_000_000));
    assert_eq!(price(&home, "claude-opus-4-1"), Some(90_000_000));
    assert_eq!(price(&home, "claude-opus-4-5"), Some(30_000_000));
    assert_eq!(price(&home, "openai/gpt-5-mini"), Some(2_250_000));
    assert_eq!(price(&home, "gpt-5"), Some(11_250_000));
}

#[test]
fn an_unknown_model_costs_nobody_knows_what_and_the_remedy_is_said() {
    let home = Home::new();
    assert_eq!(price(&home, "llama-12"), None);
    let flags =
        ["set", "--key", "k", "--condensed", "1", "--model", "llama-12", "--input-tokens", "1"];
    let told = home.cache(&flags).expect(0);
    assert!(
        told.stderr.contains("no price is known for the model \"llama-12\""),
        "{}",
        told.stderr
    );
    assert!(told.stderr.contains("[prices.\"llama-12\"]"), "{}", told.stderr);
}

#[test]
fn the_users_own_prices_win() {
    let home = Home::new();
    configure(
        &home,
        "[prices.\"claude\"]\ninput = 1\noutput = 2.5\n[prices.llama]\ninput = 0.0\noutput = 0.1\n",
    );
    assert_eq!(price(&home, "claude-opus-4-1"), Some(3_500_000));
    assert_eq!(price(&home, "llama-12"), Some(100_000));
    assert_eq!(price(&home, "gpt-5"), Some(11_250_000), "the others are as they were");
    let shown = home.run(&["config", "show"]).expect(0).text();
    assert!(shown.contains("2 of your own, then built-in, of 2025-11"), "{shown}");
}

#[test]
fn wrong_prices_are_errors_that_name_the_place() {
    let home = Home::new();
    for (toml, words) in [
        ("prices = 1", "config.toml:1: prices: expected a table for each model"),
        ("[prices.a]\ninput = 1", "prices.\"a\": expected input and output"),
        ("[prices.a]\ninput = \"1\"\noutput = 1", "prices.\"a\".input: expected dollars"),
        ("[prices.a]\ninput = -1\noutput = 1", "prices.\"a\".input: expected dollars"),
        ("[prices.a]\ninput = 1\noutput = 1\ncached = 1", "prices.\"a\".cached: unknown key"),
        ("[prices]\na = 3", "prices.\"a\": expected input and output"),
    ] {
        configure(&home, toml);
        home.run(&["stats"]).expect_usage(words);
    }
}

#[test]
fn a_repository_has_no_say_in_prices() {
    let home = Home::new();
    home.write("recoup.toml", "[prices.\"claude\"]\ninput = 1000\noutput = 1000\n");
    let output = home.run(&["stats"]).expect(0);
    let warning =
        "ignoring recoup.toml as a whole: line 1: prices: prices can only be set in your own";
    assert!(output.stderr.contains(warning), "{}", output.stderr);
    home.run(&["config", "check"])
        .expect_usage("prices can only be set in your own configuration file");
}
