//! Hides the values of environment variables and headers in diffs: they may be credentials.

use super::split_tokens;

/// The tables whose values are private.
const TABLES: [&str; 5] = ["env", "headers", "http_headers", "env_http_headers", "environment"];

/// Replaces each value in a private table by an ellipsis. Line breaks stay.
pub(super) fn hide_private_values(text: &str) -> String {
    hide_in_sections(&hide_in_tables(text))
}

/// Hides values in `"env": {"NAME": "value"}` and `env = { NAME = "value" }`.
fn hide_in_tables(text: &str) -> String {
    let words = split_tokens(text);
    let mut shown = String::with_capacity(text.len());
    let mut at = 0;
    while at < words.len() {
        let open = if is_private_table(words[at]) { opening_bracket(&words, at) } else { None };
        let Some(open) = open else {
            shown.push_str(words[at]);
            at += 1;
            continue;
        };
        shown.push_str(&words[at..=open].concat());
        at = push_field_names(&words, open + 1, &mut shown);
    }
    shown
}

/// Appends the fields of a private table without values; returns the index of its end.
fn push_field_names(words: &[&str], from: usize, shown: &mut String) -> usize {
    let (mut depth, mut in_value, mut said) = (0, false, false);
    for (at, word) in words.iter().enumerate().skip(from) {
        match *word {
            "}" if depth == 0 => return at,
            "{" | "[" => depth += 1,
            "}" | "]" => depth -= 1,
            "," if depth == 0 => in_value = false,
            _ => {}
        }
        if !in_value || word.trim().is_empty() {
            shown.push_str(word);
        } else if !said {
            shown.push('…');
            said = true;
        }
        if depth == 0 && matches!(*word, ":" | "=") {
            (in_value, said) = (true, false);
        }
    }
    words.len()
}

fn is_private_table(word: &str) -> bool {
    TABLES.contains(&word.trim_matches('"'))
}

/// Index of the bracket that opens the value of the name at `at`.
fn opening_bracket(words: &[&str], at: usize) -> Option<usize> {
    let mut behind =
        words.iter().enumerate().skip(at + 1).filter(|(_, word)| !word.trim().is_empty());
    let (_, sign) = behind.next()?;
    let (open, bracket) = behind.next()?;
    (matches!(*sign, ":" | "=") && *bracket == "{").then_some(open)
}

/// Hides values below `[servers.x.env]`, and in `servers.x.env.NAME = "value"`.
fn hide_in_sections(text: &str) -> String {
    let mut private = false;
    let line = |line: &str| {
        let bare = line.trim();
        if bare.starts_with('[') {
            let name = bare.trim_matches(['[', ']']).rsplit('.').next().unwrap_or_default();
            private = is_private_table(name.trim());
        }
        let end = &line[line.trim_end_matches(['\r', '\n']).len()..];
        match line.split_once('=') {
            Some((name, _))
                if !bare.starts_with(['#', '[']) && (private || is_private_key_path(name)) =>
            {
                format!("{name}= …{end}")
            }
            _ => line.to_owned(),
        }
    };
    text.split_inclusive('\n').map(line).collect()
}

fn is_private_key_path(name: &str) -> bool {
    name.rsplit('.').skip(1).any(|part| is_private_table(part.trim()))
        && !name.contains(|c: char| c.is_whitespace() && c != ' ')
        && !name.contains(['{', '('])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_variables_and_headers_are_not_shown() {
        for (text, shown) in [
            (r#"{"env":{"A":"x","B": "y"},"c":"z"}"#, r#"{"env":{"A":…,"B": …},"c":"z"}"#),
            (
                "{\n  \"env\": {\n    \"A\": \"x\",\n    \"B\": \"}\"\n  }\n}\n",
                "{\n  \"env\": {\n    \"A\": …,\n    \"B\": …\n  }\n}\n",
            ),
            ("env = { A = \"x\" }\nb = 1\n", "env = { A = … }\nb = 1\n"),
            (
                "[s.x.env]\r\nA = \"x\"\r\n[s.y]\r\nB = 1\r\n",
                "[s.x.env]\r\nA = …\r\n[s.y]\r\nB = 1\r\n",
            ),
            ("s.x.env.A = \"x\"\n", "s.x.env.A = …\n"),
            (r#"{"command":"env","args":["A=1"]}"#, r#"{"command":"env","args":["A=1"]}"#),
            (r#"{"headers": {}, "env": 1}"#, r#"{"headers": {}, "env": 1}"#),
        ] {
            assert_eq!(hide_private_values(text), shown);
            assert_eq!(hide_private_values(text).lines().count(), text.lines().count());
        }
    }
}
