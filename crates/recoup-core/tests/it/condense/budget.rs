//! Tokens: counted with a real tokenizer, and kept to.

use recoup_core::condense::{CondenseOptions, CondenseStrategy, TokenEstimate, Tokenizer};
use serde_json::{Value, json};

use super::kept;

#[test]
fn the_counts_are_those_of_the_tokenizer_that_people_know() {
    let tokenizer = Tokenizer::load();
    // As tiktoken counts them with cl100k_base.
    for (text, tokens) in [
        ("", 0),
        ("hello world", 2),
        ("tiktoken is great!", 6),
        ("antidisestablishmentarianism", 6),
        ("2 + 2 = 4", 7),
        ("お誕生日おめでとう", 9),
    ] {
        assert_eq!(tokenizer.count(text), tokens, "{text}");
    }
}

/// With a tokenizer that takes the square of the length, this would not end.
#[test]
fn hostile_text_is_counted_too() {
    let tokenizer = Tokenizer::load();
    for text in ["a", " ", "\n", "é", "ab", "1"] {
        assert!(tokenizer.count(&text.repeat(1_000_000)) > 0);
    }
}

#[test]
fn identifiers_stay_within_the_budget_and_the_rest_is_counted() {
    let files: Vec<_> = (0..300).map(|n| format!("src/module_{n:03}.rs")).collect();
    let input =
        json!({"files": files, "extra": "preserved", "rest": "left out, so the input is longer"})
            .to_string();
    let tokenizer = Tokenizer::load();
    for max_tokens in [0, 1, 50, 400, 1_000_000] {
        let options = CondenseOptions {
            strategy: CondenseStrategy::IdentifiersOnly,
            preserve: vec!["extra".to_owned()],
            max_tokens: Some(max_tokens),
            ..CondenseOptions::default()
        };
        let printed = kept(&options, &input);
        let json: Value = serde_json::from_str(&printed).unwrap();
        let kept = json["identifiers"].as_array().unwrap();
        let cut = json.get("truncated").map_or(0, |cut| cut.as_u64().unwrap());
        assert_eq!(kept.len() + usize::try_from(cut).unwrap(), files.len());
        assert!(kept.iter().zip(&files).all(|(kept, file)| kept == file));
        assert!(kept.is_empty() || tokenizer.count(&printed) <= max_tokens, "{printed}");
        assert_eq!(kept.len() == files.len(), max_tokens == 1_000_000);
        assert_eq!(kept.is_empty(), max_tokens < 50, "{printed}");
    }
}

#[test]
fn an_estimate_compares_every_strategy_with_the_input() {
    let findings: Vec<_> =
        (0..100).map(|n| json!({"id": n, "message": "words ".repeat(9)})).collect();
    let estimate = TokenEstimate::of(json!({"findings": findings}).to_string().as_bytes()).unwrap();
    let [(_, verdict), (_, identifiers), (_, summary)] = estimate.condensed;
    assert!(estimate.original > 1_000 && verdict < 400 && summary < 60, "{estimate:?}");
    assert!(estimate.saved_pct(verdict) > 60 && estimate.saved_pct(identifiers) >= 99);
    let tiny = TokenEstimate::of(b"{}").unwrap();
    assert_eq!(tiny.saved_pct(tiny.condensed[0].1), 0, "the input itself is shorter");
    let clean = TokenEstimate::of(b"{\"reason\":\"build-finished\",\"success\":true}").unwrap();
    assert!(clean.saved_pct(clean.condensed[0].1) < 0, "a report is condensed in any case");
}
