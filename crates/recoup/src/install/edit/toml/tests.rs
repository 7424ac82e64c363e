//! Texts after insertions, and back; removal is in `removal`.

mod removal;

use super::super::{EmptiedContainers, SettingsSyntax, SettingsText};
use super::*;
use crate::clients::CODEX_SERVERS as SERVERS;

fn put_server(
    text: &str,
    name: &str,
    command: &str,
    args: &[String],
) -> Result<String, SettingsSyntaxError> {
    let fields = [("command", command.into()), ("args", Inline::from_iter(args))];
    put_fields(text, &[SERVERS, name], &fields)
}

fn remove_server(text: &str, name: &str, empty: bool) -> Result<String, SettingsSyntaxError> {
    let mut file = SettingsText::read(Some(text.as_bytes()), SettingsSyntax::Toml)?;
    let emptied = if empty { EmptiedContainers::Any } else { EmptiedContainers::Made(&[]) };
    file.remove(&[SERVERS.into(), name.into()], emptied)?;
    Ok(String::from_utf8(file.bytes()).unwrap())
}

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
    let fault = put_server("mcp_servers.recoup.args.a = 1\n", "recoup", "r", &args()).unwrap_err();
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
