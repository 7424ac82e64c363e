//! Settings without values that may be credentials: of environment variables, of headers, and URLs.

use super::node::SyntaxNode;
use super::{JsonDialect, split_bom, toml, tree};

/// Tables whose values are private.
const PRIVATE_TABLES: [&str; 5] =
    ["env", "headers", "http_headers", "env_http_headers", "environment"];

/// Fields whose values are private: a URL may hold a token.
const PRIVATE_FIELDS: [&str; 3] = ["url", "httpUrl", "serverUrl"];

/// Replaces each private value by an ellipsis; line breaks stay. A text that is neither JSON nor TOML
/// has no such values.
pub(crate) fn mask_private_values(text: &str) -> String {
    let (bom, text) = split_bom(text);
    if let Ok(Some(mut json)) = tree::parse(text, JsonDialect::Comments) {
        mask_value(&[], &mut json.root, false);
        return [bom, &json.before, &json.root.text(), &json.behind].concat();
    }
    let masked = toml::edit_values(text, |path, value| mask_value(path, value, false));
    [bom, masked.as_deref().unwrap_or(text)].concat()
}

fn mask_value(path: &[String], value: &mut SyntaxNode, is_inside: bool) {
    let is_table = |name: &String| PRIVATE_TABLES.contains(&name.as_str());
    let (name, tables) = path.split_last().map_or((None, path), |(name, it)| (Some(name), it));
    let is_inside = is_inside || tables.iter().any(is_table);
    match value {
        SyntaxNode::Object(list) | SyntaxNode::Array(list) => {
            let is_inside = is_inside || name.is_some_and(is_table);
            for item in &mut list.items {
                mask_value(&item.name, &mut item.value, is_inside);
            }
        }
        SyntaxNode::Scalar(text) => {
            let is_text = text.starts_with(['"', '\'']);
            let is_field = name.is_some_and(|name| PRIVATE_FIELDS.contains(&name.as_str()));
            if is_inside || is_field && is_text {
                *text = format!("…{}", "\n".repeat(text.matches('\n').count()));
            }
        }
    }
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
            (r#"{"url": "http://x/y"}"#, r#"{"url": …}"#),
            ("url = 'http://x/y' # url\n", "url = … # url\n"),
            ("\u{feff}env.A = \"\"\"x\ny\"\"\"\n", "\u{feff}env.A = …\n\n"),
            (r#"{"command":"env","args":["A=1"]}"#, r#"{"command":"env","args":["A=1"]}"#),
            (r#"{"headers": {}, "env": 1}"#, r#"{"headers": {}, "env": 1}"#),
            ("/.claude/settings.local.json\n", "/.claude/settings.local.json\n"),
        ] {
            assert_eq!(mask_private_values(text), shown);
        }
    }
}
