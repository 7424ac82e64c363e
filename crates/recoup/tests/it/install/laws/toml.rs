//! Random files of Codex, with servers of others in every form that TOML has for them, comments
//! and empty lines anywhere: put in and taken out again, not one byte is another.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::Machine;

const CONFIG: &str = ".codex/config.toml";

/// What stands before the first table: keys of others, and between them a server by dotted keys.
fn keys() -> impl Strategy<Value = Vec<&'static str>> {
    let lines = prop::sample::select(vec![
        "model = 'x' # best\n",
        "# a comment\n",
        "\n",
        "  \n",
        "tools.web = true\n",
        "sandbox = \"\"\"\n[mcp_servers.recoup]\n\"\"\"\n",
    ]);
    prop::collection::vec(lines, 0..5).prop_map(|lines| {
        // A key may be there once.
        let mut seen: Vec<&str> = Vec::new();
        for line in lines {
            if line.trim().is_empty() || line.starts_with('#') || !seen.contains(&line) {
                seen.push(line);
            }
        }
        seen
    })
}

/// Servers of others, and where they stand: among the keys, or behind them.
fn servers() -> impl Strategy<Value = (&'static [&'static str], &'static str)> {
    prop::sample::select(vec![
        (&[][..], ""),
        (&["mcp_servers = {}\n"], ""),
        (&["mcp_servers = { }\n"], ""),
        (&["mcp_servers = {  } # none yet\n"], ""),
        (&["mcp_servers = { x = { command = 'y' } }\n"], ""),
        (&["mcp_servers = {x.command='y', z.command='w',x.args=[]}\n"], ""),
        (&["mcp_servers = {\n  x = { command = 'y' }, # about x\n}\n"], ""),
        (&["mcp_servers = { x.command = 'y', }\n"], ""),
        (&["mcp_servers.x.command = 'y'\n", "mcp_servers.x.args = ['a', # b\n]\n"], ""),
        (&["mcp_servers.x.command = 'y'\n"], "[mcp_servers.z]\ncommand = 'w'\n"),
        (&[], "[mcp_servers]\n"),
        (&[], "[mcp_servers]\nx = { command = 'y' }\nz.command = 'w'\n"),
        (&[], "[mcp_servers.x]\ncommand = 'y'\n\n[mcp_servers.x.env]\nA = '1'\n"),
    ])
}

/// What stands behind all that.
fn end() -> impl Strategy<Value = String> {
    let tables = prop::sample::select(vec!["", "[z]\nb = 1\n", "# about z\n[z]\n"]);
    let last = prop::sample::select(vec![
        "", "\n", "\n\n\n", "# the end\n", "# the end\n\n", "\n# the end\n  \n",
    ]);
    (any::<bool>(), tables, last).prop_map(|(blank, tables, last)| {
        format!("{}{tables}{last}", if blank { "\n" } else { "" })
    })
}

/// A file; the lines among `ours` are scattered over its beginning.
fn file(ours: &'static [&'static str]) -> impl Strategy<Value = (String, String)> {
    let places = prop::collection::vec(any::<prop::sample::Index>(), ours.len());
    let layout = (any::<bool>(), any::<bool>());
    (keys(), servers(), end(), places, layout).prop_map(
        move |(keys, servers, end, places, layout)| {
            // Braces, or a head, are all that there is of a table: no key of ours can stand beside it.
            let (among, behind) = servers;
            let whole = ["mcp_servers = ", "[mcp_servers]"];
            let is_whole =
                whole.iter().any(|it| among.concat().contains(it) || behind.contains(it));
            let (among, behind) =
                if is_whole && !ours.is_empty() { (&[][..], "") } else { servers };
            let mut lines: Vec<&str> = keys;
            for (at, line) in among.iter().enumerate() {
                lines.insert(lines.len().min(at * 2), line);
            }
            let without: String = lines.concat();
            for (line, place) in ours.iter().zip(&places) {
                lines.insert(place.index(lines.len() + 1), line);
            }
            let (crlf, bare) = layout;
            let made = |head: String| {
                let text = format!("{head}{behind}{end}");
                let text =
                    if bare { text.strip_suffix('\n').unwrap_or(&text).to_owned() } else { text };
                if crlf { text.replace('\n', "\r\n") } else { text }
            };
            (made(lines.concat()), made(without))
        },
    )
}

fn runner() -> TestRunner {
    TestRunner::new(Config { cases: 48, failure_persistence: None, ..Config::default() })
}

const CODEX: [&str; 2] = ["--client", "codex"];

#[test]
fn put_in_and_taken_out_not_a_byte_is_another() {
    let machine = Machine::new();
    let result = runner().run(&file(&[]), |(before, _)| {
        machine.write(CONFIG, &before);
        machine.init(&CODEX);
        let put = machine.text(CONFIG);
        prop_assert!(put.contains("bin/recoup"), "{}", put);
        machine.init(&CODEX);
        prop_assert_eq!(&machine.text(CONFIG), &put, "a second time");
        machine.uninstall(&[]);
        prop_assert_eq!(machine.text(CONFIG), before.clone());
        // With a change in between there is no copy to go back to: ours is cut out.
        machine.init(&CODEX);
        let more = if before.contains('\r') { "\r\n" } else { "\n" };
        machine.write(CONFIG, machine.text(CONFIG) + more);
        machine.uninstall(&[]);
        prop_assert_eq!(machine.text(CONFIG), before + more, "{}", put);
        Ok(())
    });
    result.unwrap();
}

#[test]
fn a_server_of_ours_in_keys_among_others_goes_and_these_stay() {
    const OURS: &[&str] = &[
        "mcp_servers.recoup.command = 'recoup' # by hand\n",
        "mcp_servers.recoup.args = ['mcp']\n",
        "mcp_servers.recoup.env.A = '1'\n",
    ];
    let machine = Machine::new();
    let result = runner().run(&file(OURS), |(before, without)| {
        machine.write(CONFIG, &before);
        machine.init(&CODEX);
        let program = format!("\"{}\" # by hand", machine.program());
        let put = before.replace("'recoup' # by hand", &program);
        let put = put.replace("['mcp']", "[\"mcp\", \"--with-hooks\"]");
        prop_assert_eq!(machine.text(CONFIG), put);
        machine.uninstall(&[]);
        // Empty lines around what went may go with it.
        let lines = |text: &str| {
            text.lines().filter(|it| !it.trim().is_empty()).map(str::to_owned).collect::<Vec<_>>()
        };
        prop_assert_eq!(lines(&machine.text(CONFIG)), lines(&without));
        Ok(())
    });
    result.unwrap();
}

#[test]
fn behind_the_proxy_and_taken_out_not_a_byte_is_another() {
    let machine = Machine::new();
    let result = runner().run(&file(&[]), |(before, _)| {
        machine.write(CONFIG, &before);
        machine.wrap(&[]);
        let put = machine.text(CONFIG);
        let servers = ["x", "z"].iter().filter(|name| {
            [format!("{name}.command"), format!("{name} = {{ c"), format!("mcp_servers.{name}]")]
                .iter()
                .any(|it| before.contains(it))
        });
        prop_assert_eq!(put.matches("\"proxy\"").count(), servers.count(), "{}", put);
        machine.unwrap(&[]);
        prop_assert_eq!(machine.text(CONFIG), before.clone());
        machine.wrap(&[]);
        let more = format!("# first\n{}", machine.text(CONFIG));
        machine.write(CONFIG, &more);
        machine.unwrap(&[]);
        // Without a copy of the entry, an empty list of arguments is left out.
        let expected = format!("# first\n{before}").replace(",x.args=[]", "");
        prop_assert_eq!(machine.text(CONFIG), expected);
        Ok(())
    });
    result.unwrap();
}
