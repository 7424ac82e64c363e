//! The tour as text, all steps at once: for scripts, and for people who want to see every byte.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Output, Stdio};

use recoup_core::base::clock::{Clock as _, SystemClock};
use recoup_core::error::IoContext as _;
use recoup_core::{Error, ErrorKind, Result};

use super::{CORRECTION, NEXT_SESSION, SOURCE, TourHome};
use crate::cli::{CommandError, human, ui};

const NAMED: [&str; 6] =
    ["--paths", SOURCE, "--query", "find sql injection", "--operation", "security-audit"];
const REVIEW: &str = r#"{"verdict":"PASS","findings":[]}"#;

/// Stands in for an agent: slow, and about a file.
const AGENT: &str = "sleep 1\necho \"$(wc -l < src/auth.rs) lines reviewed, nothing found\"\n";
const EXEC: [&str; 6] = ["exec", "--source", SOURCE, "--", "sh", "agent.sh"];

/// An MCP server with one slow tool.
const MCP_SERVER: &str = r#"while read -r line; do
  id=$(printf %s "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
  case $line in
    *'"initialize"'*) answer='{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"search","version":"1"}}' ;;
    *'"tools/list"'*) answer='{"tools":[{"name":"search","inputSchema":{"type":"object"}}]}' ;;
    *'"tools/call"'*) sleep 1; answer='{"content":[{"type":"text","text":"3 documents found"}]}' ;;
    *) continue ;;
  esac
  echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$answer}"
done
"#;
const MCP_CONFIG: &str = "[mcpServers.search]\ncache = \"5m\"\n";
const MCP_PROXY: [&str; 7] = ["mcp", "proxy", "--name", "search", "--", "sh", "server.sh"];
/// An MCP client's messages.
const MCP_CLIENT: [&str; 4] = [
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"tour","version":"1"}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#,
    r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"search","arguments":{"query":"never pay twice"}}}"#,
];

/// One of the examples: an agent file, a question, and what a model answered.
const AGENT_FILES: [(&str, &str); 3] = [
    ("review-diff.md", include_str!("../../../../assets/examples/review-diff.md")),
    (DIFF, include_str!("../../../../assets/examples/change.diff")),
    ("recorded.jsonl", include_str!("../../../../assets/examples/review-diff.cassette.jsonl")),
];
const DIFF: &str = "change.diff";
const RUN: [&str; 3] = ["run", "review-diff.md", "-"];

/// Shows the main job end to end.
pub(super) fn play(home: &TourHome) -> Result<(), CommandError> {
    PlainTour { home }.play()
}

struct PlainTour<'a> {
    home: &'a TourHome,
}

impl PlainTour<'_> {
    fn play(&self) -> Result<(), CommandError> {
        self.edit_source("fn login() {\n}\n")?;
        self.home.write("agent.sh", AGENT)?;

        print_comment("A slow command, such as an agent that reviews a file:")?;
        self.run_step(&EXEC, 0)?;
        print_comment("The same again is replayed, without running anything:")?;
        self.run_step(&EXEC, 0)?;
        print_comment(
            "Somebody edits the file. The old output is no longer valid, and the command runs again:",
        )?;
        self.edit_source("fn login() {\n    query()\n}\n")?;
        self.run_step(&EXEC, 0)?;

        print_comment("Agents can also store results themselves. Has this been asked before?")?;
        self.cache_step(&["get"], 1)?;
        print_comment(
            "A miss (exit 1). The agent does the work, and stores the result with the file that it depends on:",
        )?;
        self.cache_step(&["set", "--condensed", REVIEW, "--sources", SOURCE], 0)?;
        print_comment("The next agent that asks the same gets the answer, without paying again:")?;
        self.cache_step(&["get"], 0)?;
        print_comment(
            "Somebody edits the file. The old answer is no longer valid, and `get` is a miss:",
        )?;
        self.edit_source("fn login(name: &str) { query(name) }\n")?;
        self.cache_step(&["get"], 1)?;

        print_comment(
            "A client with recoup's hooks passes on what its user says, here a correction:",
        )?;
        self.run_step(&["hook", CORRECTION], 0)?;
        print_comment("Its next session, tomorrow, gets the rule at the start:")?;
        self.run_step(&["hook", NEXT_SESSION], 0)?;
        print_comment("You can see and change everything that is remembered:")?;
        self.run_step(&["memory", "list"], 0)?;
        self.home.write("server.sh", MCP_SERVER)?;
        self.home.write("../home/config.toml", MCP_CONFIG)?;
        print_comment("An MCP server with a slow tool. You allow its results for 5 minutes:")?;
        ui::line("$ cat ~/.recoup/config.toml")?;
        ui::data(&[MCP_CONFIG.as_bytes()])?;
        print_comment("A client calls the tool, through the proxy:")?;
        self.mcp_step()?;
        print_comment("The next agent that makes the same call does not wait for the server:")?;
        self.mcp_step()?;
        print_comment("`recoup mcp wrap` puts the proxy in front of the servers of your clients.")?;

        for (name, text) in AGENT_FILES {
            self.home.write(name, text)?;
        }
        print_comment(
            "An agent can be a file, too: this one reviews a diff. Its model's answer is a recording here:",
        )?;
        self.run_step(&[&RUN[..], &["--refresh", "--replay", "recorded.jsonl"]].concat(), 0)?;
        print_comment("The same diff again. No model is asked, and nothing is paid:")?;
        self.run_step(&[&RUN[..], &["-v"]].concat(), 0)?;

        print_comment(
            "For more, see `recoup exec --help`, `recoup run --help` and `recoup memory --help`.",
        )
    }

    fn edit_source(&self, contents: &str) -> Result<()> {
        self.home.write(SOURCE, contents)
    }

    /// A `recoup cache` command about the review.
    fn cache_step(&self, action: &[&str], expected: i32) -> Result<(), CommandError> {
        let args: Vec<&str> =
            ["cache", action[0]].iter().chain(&NAMED).chain(&action[1..]).copied().collect();
        self.run_step(&args, expected)
    }

    /// Runs a real command and shows its output and duration.
    fn run_step(&self, args: &[&str], expected: i32) -> Result<(), CommandError> {
        let input = if args.contains(&"-") { format!(" < {DIFF}") } else { String::new() };
        ui::line(format_args!("$ {}{input}", super::typed_command(args)))?;
        let started = SystemClock.now();
        let output = self.run(args)?;
        self.home.check_interrupt()?;
        ui::data(&[&output.stdout, &output.stderr])?;
        let took = SystemClock.now().millis_since(started);
        ui::line(format_args!("({})", human::short_duration(took)))?;
        if output.status.code() == Some(expected) {
            Ok(())
        } else {
            let message =
                format!("the tour expected exit code {expected}, but got {}", output.status);
            Err(Error::new(ErrorKind::Io, message).into())
        }
    }

    /// Calls a tool through the proxy, as a client does, and shows the answer.
    fn mcp_step(&self) -> Result<(), CommandError> {
        ui::line(format_args!("$ recoup {}", MCP_PROXY.join(" ")))?;
        let started = SystemClock.now();
        let talking = || "talking to the proxy".to_owned();
        let mut child = self
            .home
            .command(&MCP_PROXY)?
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(talking)?;
        let (Some(mut requests), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Error::new(ErrorKind::Io, "the proxy has no streams").into());
        };
        let mut answers = BufReader::new(answers).lines();
        for request in MCP_CLIENT {
            writeln!(requests, "{request}").with_context(talking)?;
            if request.contains("\"id\"") {
                let answer = answers.next().transpose().with_context(talking)?.unwrap_or_default();
                if request == MCP_CLIENT[3] {
                    ui::line(format_args!("> {request}\n< {answer}"))?;
                }
            }
        }
        let took = SystemClock.now().millis_since(started);
        ui::line(format_args!("({})", human::short_duration(took)))?;
        drop(requests);
        child.wait().with_context(talking)?;
        self.home.check_interrupt()
    }

    fn run(&self, args: &[&str]) -> Result<Output> {
        let mut command = self.home.command(args)?;
        let input = if args.contains(&"-") {
            let file = File::open(self.home.project().join(DIFF));
            Stdio::from(file.with_context(|| format!("opening {DIFF}"))?)
        } else {
            Stdio::null()
        };
        command.stdin(input).output().with_context(|| "starting recoup".to_owned())
    }
}

fn print_comment(text: &str) -> Result<(), CommandError> {
    ui::line(format_args!("\n# {text}"))
}
