//! Random documents in random layouts: put in, no other value changes; taken out, not one byte
//! has.

mod toml;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Map, Value, json};

use super::{Machine, SETTINGS};

/// How a text is laid out: by turns, from a list of numbers.
struct Layout {
    choices: Vec<u8>,
    at: usize,
    newline: &'static str,
    comments: bool,
}

impl Layout {
    fn choose(&mut self, of: u8) -> u8 {
        self.at += 1;
        self.choices[self.at % self.choices.len()] % of
    }

    fn blank(&mut self) -> String {
        let newline = self.newline;
        match self.choose(8) {
            0..=3 => String::new(),
            4 => " ".to_owned(),
            5 => format!("{newline}  "),
            6 if self.comments => format!(" // it's {{ a, \"comment\"{newline}"),
            7 if self.comments => "/* ] , */".to_owned(),
            _ => format!("{newline}\t"),
        }
    }

    fn write(&mut self, value: &Value) -> String {
        let (open, close, items): (_, _, Vec<String>) = match value {
            Value::Object(fields) => {
                let field = |(name, value): (&String, &Value)| {
                    format!(
                        "{}{}:{}{}",
                        Value::from(name.as_str()),
                        self.blank(),
                        self.blank(),
                        self.write(value)
                    )
                };
                ("{", "}", fields.iter().map(field).collect())
            }
            Value::Array(items) => ("[", "]", items.iter().map(|item| self.write(item)).collect()),
            scalar => return scalar.to_string(),
        };
        let mut text = open.to_owned();
        for (index, item) in items.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            text += &[comma, &self.blank(), item, &self.blank()].concat();
        }
        if self.comments && !items.is_empty() && self.choose(3) == 0 {
            text += ",";
        }
        text + &self.blank() + close
    }
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[ -~é日🎉\\n\\t]{0,8}".prop_map(Value::from),
    ]
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z]{1,4}", "[ -~é\\n]{0,6}", Just("model".to_owned()), Just("x\"y".to_owned())]
}

fn anything() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map(name(), inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// Hooks of others, on our events and on theirs.
fn hooks() -> impl Strategy<Value = Value> {
    let hook =
        anything().prop_map(|more| json!({ "type": "command", "command": "other", "more": more }));
    let group = prop::collection::vec(hook, 0..3).prop_map(|hooks| json!({ "hooks": hooks }));
    let event = prop::sample::select(vec!["Stop", "SessionStart", "Notification", "Mine"]);
    let events = prop::collection::hash_map(event, prop::collection::vec(group, 0..3), 0..3);
    events.prop_map(|events| json!(events))
}

fn settings() -> impl Strategy<Value = Value> {
    let fields = prop::collection::hash_map(name(), anything(), 0..5);
    (fields, prop::option::of(hooks())).prop_map(|(fields, hooks)| {
        let mut all: Map<String, Value> = fields.into_iter().collect();
        all.extend(hooks.map(|hooks| ("hooks".to_owned(), hooks)));
        Value::Object(all)
    })
}

/// Without our hooks, and without the places that were made for them.
fn without_ours(mut after: Value, before: &Value) -> Value {
    let Some(hooks) = after.get_mut("hooks").and_then(Value::as_object_mut) else { return after };
    for groups in hooks.values_mut() {
        let is_ours = |group: &Value| group["hooks"][0]["args"] == json!(["hook"]);
        groups.as_array_mut().unwrap().retain(|group| !is_ours(group));
    }
    let there = before.get("hooks");
    hooks.retain(|event, _| there.is_some_and(|hooks| hooks.get(event).is_some()));
    if there.is_none() {
        after.as_object_mut().unwrap().remove("hooks");
    }
    after
}

#[test]
fn put_in_nothing_else_changes_and_taken_out_not_a_byte_has() {
    let machine = Machine::new();
    let cases = (settings(), prop::collection::vec(any::<u8>(), 16..64), any::<bool>());
    let mut runner =
        TestRunner::new(Config { cases: 24, failure_persistence: None, ..Config::default() });
    let zed = ".config/zed/settings.json";
    let both = ["--client", "claude-code", "--client", "zed"];
    let result = runner.run(&cases, |(before, choices, crlf)| {
        let newline = if crlf { "\r\n" } else { "\n" };
        let strict =
            Layout { choices: choices.clone(), at: 0, newline, comments: false }.write(&before);
        let loose = Layout { choices, at: 7, newline, comments: true }.write(&before);
        machine.write(SETTINGS, &strict);
        machine.write(zed, &loose);
        machine.init(&both);
        prop_assert_eq!(without_ours(machine.json(SETTINGS), &before), before.clone());
        let (put, put_loose) = (machine.text(SETTINGS), machine.text(zed));
        machine.init(&both);
        prop_assert_eq!(&machine.text(SETTINGS), &put);
        prop_assert_eq!(&machine.text(zed), &put_loose);
        machine.uninstall(&[]);
        prop_assert_eq!(machine.text(SETTINGS), strict.clone());
        prop_assert_eq!(machine.text(zed), loose.clone());
        // With a change in between there is no copy to go back to: ours is cut out.
        machine.init(&both);
        machine.write(SETTINGS, machine.text(SETTINGS) + "\n");
        machine.write(zed, machine.text(zed) + "\n");
        machine.uninstall(&[]);
        prop_assert_eq!(machine.json(SETTINGS), before.clone());
        prop_assert_eq!(machine.text(zed), loose + "\n");
        Ok(())
    });
    result.unwrap();
}

/// A server of somebody, at a URL or with a command.
fn server() -> impl Strategy<Value = Value> {
    let texts = || prop::collection::hash_map(name(), "[ -~é]{0,8}", 0..3);
    let args = prop::option::of(prop::collection::vec("[ -~é日]{0,8}", 0..4));
    let command =
        ("[!-~]{1,6}", args, prop::option::of(texts())).prop_map(|(command, args, env)| {
            let mut entry = json!({ "command": command });
            if let Some(args) = args {
                entry["args"] = json!(args);
            }
            if let Some(env) = env {
                entry["env"] = json!(env);
            }
            entry
        });
    let headers = prop::collection::hash_map("[A-Z][a-z-]{0,5}", "[ -~]{0,8}", 0..3);
    let url = (any::<bool>(), prop::option::of(headers)).prop_map(|(is_typed, headers)| {
        let mut entry = json!({ "url": "https://x.example/mcp" });
        if is_typed {
            entry["type"] = json!("sse");
        }
        if let Some(headers) = headers {
            entry["headers"] = json!(headers);
        }
        entry
    });
    (prop_oneof![command, url], anything()).prop_map(|(mut entry, more)| {
        entry["more"] = more;
        entry
    })
}

/// Without lists and objects in which nothing is: without a copy, nobody knows of them.
fn without_empty(servers: &Value) -> Value {
    let mut servers = servers.clone();
    for entry in servers.as_object_mut().unwrap().values_mut() {
        let is_empty = |value: &Value| *value == json!([]) || *value == json!({});
        entry.as_object_mut().unwrap().retain(|name, it| name == "more" || !is_empty(it));
    }
    servers
}

#[test]
fn behind_the_proxy_nothing_else_changes_and_taken_out_not_a_byte_has() {
    let machine = Machine::new();
    let servers = prop::collection::hash_map(name(), server(), 1..4);
    let cases = (settings(), servers, prop::collection::vec(any::<u8>(), 16..64), any::<bool>());
    let mut runner =
        TestRunner::new(Config { cases: 32, failure_persistence: None, ..Config::default() });
    let (pi, zed) = (".pi/agent/mcp.json", ".config/zed/settings.json");
    let result = runner.run(&cases, |(mut before, servers, choices, crlf)| {
        let newline = if crlf { "\r\n" } else { "\n" };
        before["mcpServers"] = json!(servers);
        before["context_servers"] = json!(servers);
        let strict =
            Layout { choices: choices.clone(), at: 0, newline, comments: false }.write(&before);
        let loose = Layout { choices, at: 7, newline, comments: true }.write(&before);
        let reset = || {
            machine.write(pi, &strict);
            machine.write(zed, &loose);
        };
        reset();
        machine.wrap(&[]);
        let wrapped = machine.json(pi);
        for (name, entry) in wrapped["mcpServers"].as_object().unwrap() {
            prop_assert_eq!(&entry["command"], &json!(machine.program()), "{}", name);
            prop_assert_eq!(&entry["args"][3], &json!(name));
            prop_assert_eq!(&entry["more"], &before["mcpServers"][name]["more"]);
        }
        machine.wrap(&[]);
        prop_assert_eq!(machine.json(pi), wrapped);
        machine.unwrap(&[]);
        prop_assert_eq!(&machine.text(pi), &strict);
        prop_assert_eq!(&machine.text(zed), &loose);
        // With a change in between each entry has its bytes again.
        machine.wrap(&[]);
        machine.write(pi, machine.text(pi) + "\n");
        machine.write(zed, machine.text(zed) + "\n");
        machine.unwrap(&[]);
        prop_assert_eq!(&machine.text(pi), &(strict.clone() + "\n"));
        prop_assert_eq!(&machine.text(zed), &(loose.clone() + "\n"));
        // Without any copy, its values.
        reset();
        machine.wrap(&[]);
        std::fs::remove_dir_all(machine.home.recoup()).unwrap();
        machine.unwrap(&[]);
        let back = machine.json(pi);
        prop_assert_eq!(without_empty(&back["mcpServers"]), without_empty(&before["mcpServers"]));
        prop_assert_eq!(&back["context_servers"], &before["context_servers"]);
        Ok(())
    });
    result.unwrap();
}
