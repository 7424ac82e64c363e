//! TOML: what is in a file, and what is put in and taken out.

mod cut;
mod hooks;

use serde_json::{Map, Value};
use similar::{ChangeTag, TextDiff};
use toml_edit::{DocumentMut, InlineTable, Item, Table, TableLike, TomlError, Value as Inline};

use super::Fault;
pub(crate) use cut::without_key;
pub(crate) use hooks::without_hooks;

/// The document that a text is.
fn parse(text: &str) -> Result<DocumentMut, Fault> {
    text.parse().map_err(|error| fault(text, &error))
}

fn fault(text: &str, error: &TomlError) -> Fault {
    let byte = error.span().map_or(0, |span| span.start);
    let what = error.message().lines().next().unwrap_or("not TOML");
    Fault::at(text, byte, what)
}

/// What it amounts to, as JSON has it: texts, numbers, lists and tables.
pub(crate) fn value(text: &str) -> Result<Value, Fault> {
    Ok(of_item(parse(text)?.as_item()))
}

fn of_item(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(value) => of_value(value),
        Item::Table(table) => {
            Value::Object(table.iter().map(|(name, it)| (name.to_owned(), of_item(it))).collect())
        }
        Item::ArrayOfTables(tables) => {
            let fields = |table: &Table| {
                let fields = table.iter().map(|(name, item)| (name.to_owned(), of_item(item)));
                Value::Object(fields.collect::<Map<_, _>>())
            };
            tables.iter().map(fields).collect()
        }
    }
}

fn of_value(value: &Inline) -> Value {
    match value {
        Inline::String(text) => text.value().as_str().into(),
        Inline::Integer(number) => (*number.value()).into(),
        Inline::Float(number) => (*number.value()).into(),
        Inline::Boolean(truth) => (*truth.value()).into(),
        Inline::Datetime(time) => time.value().to_string().into(),
        Inline::Array(items) => items.iter().map(of_value).collect(),
        Inline::InlineTable(table) => {
            Value::Object(table.iter().map(|(name, it)| (name.to_owned(), of_value(it))).collect())
        }
    }
}

/// Where Codex has its servers.
const SERVERS: &str = "mcp_servers";

/// The text after an edit. What it ends with, such as a comment, stays where it was: before a
/// table that is added behind everything.
fn edited(
    text: &str,
    edit: impl FnOnce(&mut DocumentMut) -> Result<(), Fault>,
) -> Result<String, Fault> {
    let mut document = parse(text)?;
    let end = document.trailing().as_str().unwrap_or_default().replace('\r', "");
    document.set_trailing("");
    let before = document.to_string();
    edit(&mut document)?;
    let after = document.to_string();
    let added = after.strip_prefix(&before).filter(|added| added.trim_start().starts_with('['));
    let whole = match added {
        Some(added) if end.contains('#') => {
            format!("{before}{}\n\n{}", end.trim_end(), added.trim_start())
        }
        _ => after + &end,
    };
    Ok(with_line_ends_of(text, &whole))
}

/// A table for a server, put in or brought up to date; the same text where nothing is new.
pub(crate) fn put_server(
    text: &str,
    name: &str,
    command: &str,
    args: &[String],
) -> Result<String, Fault> {
    edited(text, |document| {
        let servers = document.entry(SERVERS).or_insert_with(|| {
            let mut table = Table::new();
            table.set_implicit(true);
            Item::Table(table)
        });
        let inline = servers.is_inline_table();
        let Some(servers) = servers.as_table_like_mut() else {
            return Err(not_a_table(text, SERVERS));
        };
        let fields = [("command", command.into()), ("args", Inline::from_iter(args))];
        match servers.get_mut(name).map(|entry| entry.as_table_like_mut()) {
            Some(None) => return Err(not_a_table(text, name)),
            Some(Some(entry)) => {
                for (field, new) in fields {
                    set(entry, field, new);
                }
            }
            None if inline => {
                let entry: InlineTable = fields.into_iter().collect();
                servers.insert(name, Item::Value(entry.into()));
            }
            None => {
                let entry: Table =
                    fields.into_iter().map(|(name, it)| (name, Item::Value(it))).collect();
                servers.insert(name, Item::Table(entry));
            }
        }
        Ok(())
    })
}

/// The same without it; `empty` tells whether the table of servers may go when it is.
pub(crate) fn remove_server(text: &str, name: &str, empty: bool) -> Result<String, Fault> {
    let mut document = parse(text)?;
    let whole = document.to_string();
    let mut above = None;
    if let Some(servers) = document.get_mut(SERVERS).and_then(Item::as_table_like_mut) {
        let entry = servers.remove(name).and_then(|entry| entry.into_table().ok());
        above = entry.and_then(|entry| Some(entry.decor().prefix()?.as_str()?.replace('\r', "")));
        if servers.is_empty() && empty {
            document.remove(SERVERS);
        }
    }
    let left = document.to_string();
    // A comment above the table is not ours: it may have stood at the end of the file before.
    let above = above.filter(|above| above.contains('#'));
    let at = above.as_ref().and_then(|above| whole.find(&format!("{above}[{SERVERS}")));
    let left = match (above, at) {
        (Some(above), Some(at)) if left.get(..at) == whole.get(..at) => {
            [&left[..at], above.trim_end(), "\n", &left[at..]].concat()
        }
        _ => left,
    };
    Ok(with_line_ends_of(text, &left))
}

/// Sets a key below a table, `table.key`.
pub(crate) fn set_key(text: &str, table: &str, key: &str, new: Inline) -> Result<String, Fault> {
    edited(text, |document| {
        let entry = document.entry(table).or_insert_with(toml_edit::table);
        let Some(entry) = entry.as_table_like_mut() else { return Err(not_a_table(text, table)) };
        set(entry, key, new);
        Ok(())
    })
}

/// What stood around the old value stays around the new one.
fn set(table: &mut dyn TableLike, key: &str, mut new: Inline) {
    match table.get_mut(key).and_then(Item::as_value_mut) {
        Some(old) if of_value(old) == of_value(&new) => {}
        Some(old) => {
            *new.decor_mut() = old.decor().clone();
            *old = new;
        }
        None => {
            table.insert(key, Item::Value(new));
        }
    }
}

fn not_a_table(text: &str, name: &str) -> Fault {
    Fault::at(text, text.find(name).unwrap_or(0), format!("“{name}” should be a table"))
}

/// `new` with every line that stayed just as it was in `old`: the parser turns CRLF into LF, and
/// ends the last line.
fn with_line_ends_of(old: &str, new: &str) -> String {
    let newline = if old.contains("\r\n") { "\r\n" } else { "\n" };
    let bare = |line: &str| line.trim_end_matches(['\r', '\n']).to_owned();
    let (before, after): (Vec<String>, Vec<String>) = (
        old.split_inclusive('\n').map(bare).collect(),
        new.split_inclusive('\n').map(bare).collect(),
    );
    let lines: Vec<&str> = old.split_inclusive('\n').collect();
    let mut text = String::with_capacity(new.len());
    for change in TextDiff::from_slices(&refs(&before), &refs(&after)).iter_all_changes() {
        match (change.tag(), change.old_index()) {
            (ChangeTag::Delete, _) => {}
            (ChangeTag::Equal, Some(at)) => push_line(&mut text, lines[at], newline),
            _ => push_line(&mut text, &format!("{}{newline}", change.value()), newline),
        }
    }
    text
}

fn refs(lines: &[String]) -> Vec<&str> {
    lines.iter().map(String::as_str).collect()
}

fn push_line(text: &mut String, line: &str, newline: &str) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push_str(newline);
    }
    text.push_str(line);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args() -> Vec<String> {
        vec!["mcp".to_owned()]
    }

    #[track_caller]
    fn there_and_back(before: &str, after: &str) {
        let put = put_server(before, "recoup", "/bin/recoup", &args()).unwrap();
        assert_eq!(put, after);
        assert_eq!(put_server(&put, "recoup", "/bin/recoup", &args()).unwrap(), put, "twice");
        let back = remove_server(&put, "recoup", !before.contains("mcp_servers")).unwrap();
        assert_eq!(back.trim_end(), before.trim_end());
    }

    const OURS: &str = "[mcp_servers.recoup]\ncommand = \"/bin/recoup\"\nargs = [\"mcp\"]\n";

    #[test]
    fn a_server_is_a_table_of_its_own_and_goes_again() {
        there_and_back("", OURS);
        there_and_back("model = 'x' # mine\n", &format!("model = 'x' # mine\n\n{OURS}"));
        there_and_back("a = 1", &format!("a = 1\n\n{OURS}"));
        let crlf = "a = 1\r\n# c\r\n\r\n[b]\r\nc = \"\"\"x\r\ny\"\"\"\r\n";
        there_and_back(crlf, &format!("{crlf}\r\n{}", OURS.replace('\n', "\r\n")));
        let other = "[mcp_servers.x]\ncommand = \"y\"\n\n[z]\nb = 2 # two\n";
        let put = other.replace("\n[z]", &format!("\n{OURS}\n[z]"));
        there_and_back(other, &put);
    }

    #[test]
    fn a_comment_stays_with_the_table_that_it_was_in() {
        for before in [
            "[profiles.a]\nmodel = \"y\"\n# trailing comment\n",
            "[mcp_servers.x]\ncommand = \"y\"\n\n# trailing comment\n",
            "# nothing else\n",
        ] {
            there_and_back(before, &format!("{before}\n{OURS}"));
            // Something that somebody has put behind it.
            let more = format!("{before}\n{OURS}\n[z]\nb = 2\n");
            let back = remove_server(&more, "recoup", !before.contains("mcp_servers")).unwrap();
            assert_eq!(back, format!("{before}\n[z]\nb = 2\n"));
        }
        assert_eq!(
            set_key("[a]\nb = 1\n# c\n", "judge", "enabled", true.into()).unwrap(),
            "[a]\nb = 1\n# c\n\n[judge]\nenabled = true\n"
        );
    }

    #[test]
    fn what_is_there_is_brought_up_to_date_and_keeps_what_was_added() {
        let old = "[mcp_servers.recoup]\n# mine\ncommand = \"recoup\" # by name\nargs = [\"mcp\"]\nstartup_timeout_sec = 5\n";
        let new = put_server(old, "recoup", "/bin/recoup", &args()).unwrap();
        assert_eq!(new, old.replace("\"recoup\" #", "\"/bin/recoup\" #"));
    }

    #[test]
    fn inline_tables_stay_inline() {
        let old = "mcp_servers = { x = { command = \"y\" } }\n";
        let new = put_server(old, "recoup", "/bin/recoup", &args()).unwrap();
        assert!(new.contains("recoup = { command = \"/bin/recoup\", args = [\"mcp\"] }"), "{new}");
        assert_eq!(value(&remove_server(&new, "recoup", false).unwrap()), value(old));
    }

    #[test]
    fn keys_are_set_where_their_table_is() {
        let set = |text: &str| set_key(text, "judge", "enabled", true.into()).unwrap();
        assert_eq!(set(""), "[judge]\nenabled = true\n");
        assert_eq!(
            set("# me\n[judge]\nmodel = \"x\" # best\n\n[near]\nttl = \"3s\"\n"),
            "# me\n[judge]\nmodel = \"x\" # best\nenabled = true\n\n[near]\nttl = \"3s\"\n"
        );
        assert_eq!(set("[judge]\nenabled = false # no\n"), "[judge]\nenabled = true # no\n");
        assert_eq!(
            set("judge.model = \"x\"\nb = 1\n"),
            "judge.model = \"x\"\njudge.enabled = true\nb = 1\n"
        );
        let fault = set_key("judge = 3\n", "judge", "enabled", true.into()).unwrap_err();
        assert_eq!(fault.to_string(), "line 1, column 1: “judge” should be a table");
        let fault = value("a = 1\nb = \n").unwrap_err();
        assert_eq!((fault.line, fault.column), (2, 5));
    }
}
