//! Any cut of a transcript gives a part of its entries.

use std::fs;

use proptest::prelude::*;
use recoup::transcripts::excerpt::TranscriptFile;
use recoup::transcripts::parse_entries;
use recoup_core::memory::HookClient;
use recoup_core::memory::capture::transcript::TranscriptEntry;

fn whole() -> String {
    let text = include_str!("../../fixtures/claude-code/transcript-entries.json");
    let lines: serde_json::Map<String, serde_json::Value> = serde_json::from_str(text).unwrap();
    lines.values().flat_map(|line| [line.to_string(), "\n".to_owned()]).collect()
}

fn forwards(text: &[u8]) -> Vec<TranscriptEntry> {
    let lines = text.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"));
    lines.flat_map(|line| parse_entries(HookClient::ClaudeCode, line.trim_ascii_end())).collect()
}

fn read(text: &[u8], most: usize) -> Vec<TranscriptEntry> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.jsonl");
    fs::write(&path, text).unwrap();
    TranscriptFile::open(&path, HookClient::ClaudeCode)
        .unwrap()
        .unwrap()
        .last(most)
        .unwrap()
        .entries
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_beginning_gives_the_first_entries(cut in 0.0_f64..=1.0) {
        let text = whole();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a place in a short text")]
        let len = (text.len() as f64 * cut) as usize;
        let (part, all) = (read(&text.as_bytes()[..len], 1_000), forwards(text.as_bytes()));
        prop_assert!(all.starts_with(&part));
        prop_assert_eq!(part, forwards(&text.as_bytes()[..len]));
    }

    #[test]
    fn an_end_gives_the_last_entries(start in 0_usize..39, most in 0_usize..30) {
        let text = whole();
        let from: usize = text.split_inclusive('\n').take(start).map(str::len).sum();
        let all = forwards(text.as_bytes());
        let end = read(&text.as_bytes()[from..], 1_000);
        prop_assert!(all.ends_with(&end));
        let last = read(text.as_bytes(), most);
        prop_assert_eq!(&last[..], &all[all.len() - most.min(all.len())..]);
    }

    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..500)) {
        for client in [HookClient::ClaudeCode, HookClient::Codex, HookClient::Pi] {
            let _ = parse_entries(client, &bytes);
        }
    }
}
