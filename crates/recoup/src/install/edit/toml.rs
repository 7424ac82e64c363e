//! TOML settings: reading and insertion; removal is in `cut`.

mod cut;

use std::ops::Range;

use serde_json::{Map, Value};
use toml_edit::{Document, InlineTable, Item, Key, Table, TableLike, Value as Inline};

use super::{SettingsSyntaxError, split_bom};
use cut::{TomlCuts, inline_elements, line_end, line_start};
pub(crate) use cut::{without_hooks, without_key};

/// Codex's table of MCP servers.
pub(crate) const SERVERS: &str = "mcp_servers";

/// Splits the content of a file into its byte order mark, which may be empty, and its text.
pub(crate) fn split_text(bytes: &[u8]) -> Result<(&'static str, &str), SettingsSyntaxError> {
    let text = str::from_utf8(bytes);
    text.map(split_bom).map_err(|_| SettingsSyntaxError::at("", 0, "the file is not UTF-8"))
}

fn parse(text: &str) -> Result<Document<&str>, SettingsSyntaxError> {
    Document::parse(text).map_err(|error| {
        let byte = error.span().map_or(0, |span| span.start);
        let what = error.message().lines().next().unwrap_or("not valid TOML");
        SettingsSyntaxError::at(text, byte, what)
    })
}

/// Parses TOML into the JSON data model.
pub(crate) fn parse_to_json(text: &str) -> Result<Value, SettingsSyntaxError> {
    Ok(item_to_json(parse(text)?.as_item()))
}

fn item_to_json(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(value) => value_to_json(value),
        Item::Table(table) => Value::Object(
            table.iter().map(|(name, it)| (name.to_owned(), item_to_json(it))).collect(),
        ),
        Item::ArrayOfTables(tables) => {
            let fields = |table: &Table| {
                let fields = table.iter().map(|(name, item)| (name.to_owned(), item_to_json(item)));
                Value::Object(fields.collect::<Map<_, _>>())
            };
            tables.iter().map(fields).collect()
        }
    }
}

fn value_to_json(value: &Inline) -> Value {
    match value {
        Inline::String(text) => text.value().as_str().into(),
        Inline::Integer(number) => (*number.value()).into(),
        Inline::Float(number) => (*number.value()).into(),
        Inline::Boolean(truth) => (*truth.value()).into(),
        Inline::Datetime(time) => time.value().to_string().into(),
        Inline::Array(items) => items.iter().map(value_to_json).collect(),
        Inline::InlineTable(table) => Value::Object(
            table.iter().map(|(name, it)| (name.to_owned(), value_to_json(it))).collect(),
        ),
    }
}

/// Converts a text, or a list of texts.
pub(crate) fn from_json(value: &Value) -> Inline {
    match value {
        Value::Array(items) => items.iter().map(from_json).collect(),
        Value::String(text) => text.as_str().into(),
        other => other.to_string().into(),
    }
}

/// Adds or updates the table of a server; returns the same text if nothing changes.
pub(crate) fn put_server(
    text: &str,
    name: &str,
    command: &str,
    args: &[String],
) -> Result<String, SettingsSyntaxError> {
    let fields = [("command", command.into()), ("args", Inline::from_iter(args))];
    put_fields(text, &[SERVERS, name], &fields)
}

/// Removes a server; with `empty`, also the table of servers if it becomes empty.
pub(crate) fn remove_server(
    text: &str,
    name: &str,
    empty: bool,
) -> Result<String, SettingsSyntaxError> {
    let document = parse(text)?;
    let mut cuts = TomlCuts::of(text);
    if let Some((key, servers)) = document.as_table().get_key_value(SERVERS)
        && let Some(all) = servers.as_table_like()
    {
        if empty && all.iter().all(|(it, _)| it == name) {
            cuts.cut_item(Some(key), servers);
        } else {
            cuts.cut_members(servers, &[name]);
        }
    }
    Ok(cuts.apply())
}

/// Removes fields of the table at a path.
pub(crate) fn remove_fields(
    text: &str,
    names: &[&str],
    gone: &[&str],
) -> Result<String, SettingsSyntaxError> {
    let document = parse(text)?;
    let mut cuts = TomlCuts::of(text);
    let way = TomlTablePath::resolve(document.as_item(), names);
    match way.home.as_inline_table() {
        _ if !way.rest.is_empty() => {}
        Some(braces) => cuts.cut_dotted_members(braces, way.found, gone),
        None => cuts.cut_members(way.found, gone),
    }
    Ok(cuts.apply())
}

/// Writes the value at a path as an earlier text has it, with its comments, if it is the same value.
pub(crate) fn restore_writing(
    text: &str,
    earlier: &str,
    names: &[&str],
) -> Result<String, SettingsSyntaxError> {
    let mut left = text.to_owned();
    // Line ends that were converted meanwhile are what the user wants.
    if let Some((now, span)) = find_value(text, names)?
        && let Some((before, written)) = find_value(earlier, names)?
        && value_to_json(&now) == value_to_json(&before)
        && text.contains("\r\n") == earlier.contains("\r\n")
    {
        left.replace_range(span, &earlier[written]);
    }
    Ok(left)
}

/// Returns the value at a path, and its range in the text.
pub(crate) fn find_value(
    text: &str,
    names: &[&str],
) -> Result<Option<(Inline, Range<usize>)>, SettingsSyntaxError> {
    let document = parse(text)?;
    let way = TomlTablePath::resolve(document.as_item(), names);
    let value = way.rest.first().and_then(|name| way.get(name)).and_then(Item::as_value);
    Ok(value.and_then(|value| Some((value.clone(), value.span()?))))
}

/// Sets fields of the table at a path, which is created if missing. Returns the same text if
/// nothing changes.
pub(crate) fn put_fields(
    text: &str,
    names: &[&str],
    fields: &[(&str, Inline)],
) -> Result<String, SettingsSyntaxError> {
    let document = parse(text)?;
    let mut puts = TomlInsertions { text, made: Vec::new() };
    let way = TomlTablePath::resolve(document.as_item(), names);
    match way.rest {
        [] => puts.set_fields(&way, fields)?,
        [name, ..] if way.get(name).is_some() => return Err(type_error(text, name, "a table")),
        _ => puts.add_table(&way, fields),
    }
    Ok(puts.apply())
}

/// Resolved path to a table, as far as it exists.
struct TomlTablePath<'d, 'n> {
    /// The last existing table.
    found: &'d Item,
    /// The last one with a header or braces: dotted keys are in it.
    home: &'d Item,
    /// The whole path, and its part below `home`.
    names: &'n [&'n str],
    dotted: &'n [&'n str],
    /// The part that does not exist.
    rest: &'n [&'n str],
}

impl<'d, 'n> TomlTablePath<'d, 'n> {
    fn resolve(root: &'d Item, names: &'n [&'n str]) -> Self {
        let mut way = Self { found: root, home: root, names, dotted: &[], rest: names };
        let mut home_at = 0;
        for (at, name) in names.iter().enumerate() {
            let Some(next) = way.get(name).filter(|it| it.is_table_like()) else { break };
            way.found = next;
            if !next.as_table_like().is_some_and(TableLike::is_dotted) {
                (way.home, home_at) = (next, at + 1);
            }
            (way.dotted, way.rest) = (&names[home_at..=at], &names[at + 1..]);
        }
        way
    }

    /// Returns the table's item of that name.
    fn get(&self, name: &str) -> Option<&'d Item> {
        self.found.as_table_like()?.get(name)
    }
}

/// Insertions and replacements in a text that leave every other byte: `TomlCuts` removes exactly
/// what is inserted here.
struct TomlInsertions<'a> {
    text: &'a str,
    made: Vec<(Range<usize>, String)>,
}

impl TomlInsertions<'_> {
    /// Sets fields of an existing table. Comments and blanks around an old value stay.
    fn set_fields(
        &mut self,
        way: &TomlTablePath<'_, '_>,
        fields: &[(&str, Inline)],
    ) -> Result<(), SettingsSyntaxError> {
        let mut missing = Vec::new();
        for (name, new) in fields {
            let Some(old) = way.get(name) else {
                let name = dotted(&[way.dotted, &[name]].concat());
                missing.push(format!("{name} = {}", value_text(new)));
                continue;
            };
            let old = old.as_value().and_then(|old| Some((old, old.span()?)));
            let (old, span) =
                old.ok_or_else(|| type_error(self.text, name, "a value, not a table"))?;
            if value_to_json(old) != value_to_json(new) {
                self.made.push((span, value_text(new)));
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        // End of the table's last field, or of its header.
        let last_end = |table| last_field(table).or_else(|| header_end(table));
        match (way.home.as_inline_table(), way.found.as_table().and_then(last_end)) {
            (Some(braces), _) => self.insert_elements(braces, &missing),
            (None, Some(last)) => {
                let line = &self.text[line_start(self.text, last)..];
                let indent = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
                let lines: Vec<String> = missing.iter().map(|it| format!("{indent}{it}")).collect();
                self.insert_lines(line_end(self.text, last), &lines);
            }
            // A table that exists only through its sub-tables: it has no header yet.
            (None, None) => self.insert_block(self.end(), way.names, &missing),
        }
        Ok(())
    }

    /// Adds a missing table.
    fn add_table(&mut self, way: &TomlTablePath<'_, '_>, fields: &[(&str, Inline)]) {
        let lines: Vec<String> = fields
            .iter()
            .map(|(name, new)| format!("{} = {}", dotted(&[name]), value_text(new)))
            .collect();
        if let Some(braces) = way.home.as_inline_table() {
            let name = dotted(&[way.dotted, way.rest].concat());
            self.insert_elements(braces, &[format!("{name} = {{ {} }}", lines.join(", "))]);
            return;
        }
        // Beside related tables, unless these are last anyway: trailing comments stay last.
        let is_root = way.rest.len() == way.names.len();
        let kin = way.found.as_table().filter(|_| !is_root).and_then(last_table_end);
        let at = kin.map(|last| line_end(self.text, last));
        let is_content = |line: &str| !line.is_empty() && !line.starts_with('#');
        let has_content =
            |at: &usize| self.text[*at..].lines().map(str::trim_start).any(is_content);
        let at = at.filter(has_content).unwrap_or_else(|| self.end());
        self.insert_block(at, way.names, &lines);
    }

    /// End of the content, before trailing empty lines.
    fn end(&self) -> usize {
        match self.text.trim_end().len() {
            0 => self.text.len(),
            said => line_end(self.text, said),
        }
    }

    /// Inserts a header and lines, after an empty line if an empty line or the file's end follows.
    fn insert_block(&mut self, at: usize, names: &[&str], lines: &[String]) {
        let next = self.text[at..].split_inclusive('\n').next().unwrap_or_default();
        let parted = next.trim().is_empty() && !self.text[..at].trim().is_empty();
        let blank = parted.then(String::new);
        let head = format!("[{}]", dotted(names));
        let all: Vec<String> =
            blank.into_iter().chain([head]).chain(lines.iter().cloned()).collect();
        self.insert_lines(at, &all);
    }

    /// Inserts lines behind a line, which may be the last and have no end.
    fn insert_lines(&mut self, at: usize, lines: &[String]) {
        let newline = if self.text.contains("\r\n") { "\r\n" } else { "\n" };
        let before = &self.text[..at];
        let end = if before.is_empty() || before.ends_with('\n') { "" } else { newline };
        let lines = lines.iter().map(|line| format!("{line}{newline}"));
        self.made.push((at..at, end.to_owned() + &lines.collect::<String>()));
    }

    /// Adds elements to an inline table. If it is empty, its blanks stay before them, and are
    /// repeated behind.
    fn insert_elements(&mut self, braces: &InlineTable, new: &[String]) {
        let Some(span) = braces.span() else { return };
        let new = new.join(", ");
        let (at, new) = if let Some(last) = inline_elements(self.text, braces).last() {
            (last.span.end, format!(", {new}"))
        } else {
            let inside = &self.text[span.start + 1..span.end - 1];
            let blank = inside.rsplit('\n').next().unwrap_or_default();
            (span.end - 1, format!("{new}{blank}"))
        };
        self.made.push((at..at, new));
    }

    /// Returns the edited text.
    fn apply(mut self) -> String {
        self.made.sort_by_key(|(at, _)| at.start);
        let mut text = self.text.to_owned();
        for (at, new) in self.made.into_iter().rev() {
            text.replace_range(at, &new);
        }
        text
    }
}

/// End of the last field on a table's own lines.
fn last_field(table: &Table) -> Option<usize> {
    let ends = table.iter().filter_map(|(_, item)| match item {
        Item::Value(value) => value.span().map(|span| span.end),
        Item::Table(inner) if inner.is_dotted() => last_field(inner),
        _ => None,
    });
    ends.max()
}

/// End of a table's header, if it has one.
fn header_end(table: &Table) -> Option<usize> {
    let is_written = !table.is_implicit() && !table.is_dotted();
    table.span().filter(|span| is_written && !span.is_empty()).map(|span| span.end)
}

/// End of the last table with a header: this one, or one inside.
fn last_table_end(table: &Table) -> Option<usize> {
    let own = header_end(table).map(|head| last_field(table).unwrap_or(head));
    let inner = table.iter().filter_map(|(_, item)| match item {
        Item::Table(inner) => last_table_end(inner),
        Item::ArrayOfTables(tables) => tables.iter().filter_map(last_table_end).max(),
        _ => None,
    });
    inner.chain(own).max()
}

/// Formats a path of names as a dotted key.
pub(crate) fn dotted(names: &[&str]) -> String {
    names.iter().map(|name| Key::new(*name).to_string()).collect::<Vec<_>>().join(".")
}

fn value_text(value: &Inline) -> String {
    value.to_string().trim().to_owned()
}

fn type_error(text: &str, name: &str, what: &str) -> SettingsSyntaxError {
    SettingsSyntaxError::at(
        text,
        text.find(name).unwrap_or(0),
        format!("“{name}” should be {what}"),
    )
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
        let end = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
        assert_eq!(back, format!("{before}{end}"));
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
            // With a table that somebody has appended.
            let more = format!("{before}\n{OURS}\n[z]\nb = 2\n");
            let back = remove_server(&more, "recoup", !before.contains("mcp_servers")).unwrap();
            assert_eq!(back, format!("{before}\n[z]\nb = 2\n"));
        }
        assert_eq!(
            put_fields("[a]\nb = 1\n# c\n", &["judge"], &[("enabled", true.into())]).unwrap(),
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
        let ours = "recoup = { command = \"/bin/recoup\", args = [\"mcp\"] }";
        for (before, after) in [
            ("{ x = { command = \"y\" } }", format!("{{ x = {{ command = \"y\" }}, {ours} }}")),
            ("{x.command = 'y'} # x", format!("{{x.command = 'y', {ours}}} # x")),
            ("{ x.command = 'y', }", format!("{{ x.command = 'y', {ours}, }}")),
            ("{}", format!("{{{ours}}}")),
            ("{  }", format!("{{  {ours}  }}")),
            ("{ # none\n }", format!("{{ # none\n {ours} }}")),
        ] {
            let line = |table: &str| format!("a = 1\nmcp_servers = {table}\nb = 2\n");
            there_and_back(&line(before), &line(&after));
        }
    }

    /// Each is added in the form that its table has.
    #[test]
    fn what_is_missing_is_added_where_the_rest_is() {
        for (old, new) in [
            (
                "[mcp_servers.recoup]\n  command = 'r'\n[z]\n",
                "[mcp_servers.recoup]\n  command = \"/bin/recoup\"\n  args = [\"mcp\"]\n[z]\n",
            ),
            (
                "mcp_servers.recoup.command = 'r'\nb = 1",
                "mcp_servers.recoup.command = \"/bin/recoup\"\nmcp_servers.recoup.args = [\"mcp\"]\nb = 1",
            ),
            (
                "[mcp_servers]\nrecoup.command = 'r'",
                "[mcp_servers]\nrecoup.command = \"/bin/recoup\"\nrecoup.args = [\"mcp\"]\n",
            ),
            (
                "mcp_servers = { recoup.command = 'r' }\n",
                "mcp_servers = { recoup.command = \"/bin/recoup\", recoup.args = [\"mcp\"] }\n",
            ),
            (
                "mcp_servers.recoup = { command = 'r' } # us\n",
                "mcp_servers.recoup = { command = \"/bin/recoup\", args = [\"mcp\"] } # us\n",
            ),
            (
                "[mcp_servers.recoup.env]\nA = '1'\n",
                "[mcp_servers.recoup.env]\nA = '1'\n\n[mcp_servers.recoup]\ncommand = \"/bin/recoup\"\nargs = [\"mcp\"]\n",
            ),
        ] {
            assert_eq!(put_server(old, "recoup", "/bin/recoup", &args()).unwrap(), new);
            parse_to_json(new).unwrap();
        }
        let fault =
            put_server("mcp_servers.recoup.args.a = 1\n", "recoup", "r", &args()).unwrap_err();
        assert_eq!(fault.to_string(), "line 1, column 20: “args” should be a value, not a table");
    }

    #[test]
    fn keys_are_set_where_their_table_is() {
        let set = |text: &str| put_fields(text, &["judge"], &[("enabled", true.into())]).unwrap();
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
        let fault = put_fields("judge = 3\n", &["judge"], &[("enabled", true.into())]).unwrap_err();
        assert_eq!(fault.to_string(), "line 1, column 1: “judge” should be a table");
        let fault = parse_to_json("a = 1\nb = \n").unwrap_err();
        assert_eq!((fault.line, fault.column), (2, 5));
    }
}
