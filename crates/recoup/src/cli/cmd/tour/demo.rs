//! The tour as a demonstration on a terminal: one scene at a time, in colour, with the time that each
//! command took. What is shown is what the commands print, and what hooks tell, without its JSON.

use anstyle::{AnsiColor, Style};
use recoup_core::base::clock::{Clock as _, SystemClock};
use recoup_core::error::IoContext as _;
use recoup_core::{Error, ErrorKind};
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr as _;

use super::{NEXT_SESSION, SOURCE, TourHome, typed_command};
use crate::cli::keys::SingleKeys;
use crate::cli::ui::{self, BOLD, DIM, GREEN, YELLOW};
use crate::cli::{CommandError, human};

const RED: Style = AnsiColor::Red.on_default();
const CYAN: Style = AnsiColor::Cyan.on_default();

/// Columns that are used, and at least assumed.
const MAX_COLUMNS: usize = 80;
const MIN_COLUMNS: usize = 30;
const MARGIN: &str = "  ";
const SCENES: usize = 5;
const FOOTER: &str = "Enter goes on, q ends";
const QUESTION: &str = "Set up Recoup for the agents on this machine now? [y/N]";

/// Stands in for an agent: slow, and about a file.
const REVIEW: &str = r#"sleep 1
found=$(grep -n '" + name' src/auth.rs | cut -d: -f1)
if [ "$found" ]; then verdict="line $found makes SQL of what a user typed"; else verdict="nothing found"; fi
echo "$(wc -l < src/auth.rs) lines reviewed: $verdict"
"#;
const EXEC: [&str; 6] = ["exec", "--source", SOURCE, "--", "sh", "review.sh"];
/// The reviewed file: what is edited, before and after.
const LINE_BEFORE: &str = "    find_user(name)";
const LINE_AFTER: &str = "    query(\"SELECT id FROM users WHERE name = '\" + name + \"'\")";

const PROMPT: &str = "no, never use npm here, use pnpm";
const TOOL_COMMAND: &str = "npm install zod";

/// Plays all scenes; true if the user wants to set up Recoup.
pub(super) fn play(home: &TourHome) -> Result<bool, CommandError> {
    let columns = ui::columns().clamp(MIN_COLUMNS, MAX_COLUMNS);
    TourDemo { home, keys: SingleKeys::begin(), columns }.play()
}

struct TourDemo<'a> {
    home: &'a TourHome,
    keys: SingleKeys,
    columns: usize,
}

/// Output of a command, and how long it took.
struct StepOutput {
    text: String,
    millis: u64,
}

impl TourDemo<'_> {
    fn play(&self) -> Result<bool, CommandError> {
        self.home.write("review.sh", REVIEW)?;
        self.edit(LINE_BEFORE)?;
        self.print(BOLD, "Recoup in a minute. Every command is real, in a temporary home.")?;

        self.begin_scene(1, "Work is done once")?;
        self.print(Style::new(), "A script stands in for an agent that reviews a file:")?;
        let first = self.show_command(&EXEC)?;
        self.print(DIM, &format!("it ran: {}", human::duration(first.millis)))?;
        print_gap()?;
        self.print(Style::new(), "The same again. Nothing has changed, so nothing runs:")?;
        let again = self.show_command(&EXEC)?;
        self.print(GREEN, &format!("replayed in {}", human::duration(again.millis)))?;
        if !self.goes_on()? {
            return Ok(false);
        }

        self.begin_scene(2, "Until a file changes")?;
        self.print(Style::new(), &format!("Somebody edits {SOURCE}:"))?;
        print_gap()?;
        self.edit(LINE_AFTER)?;
        self.print(RED, &format!("- {}", LINE_BEFORE.trim()))?;
        self.print(GREEN, &format!("+ {}", LINE_AFTER.trim()))?;
        print_gap()?;
        self.print(Style::new(), "The old output does not count any more. Recoup says why:")?;
        self.show_command(&[&["explain"], &EXEC[..]].concat())?;
        let changed = self.show_command(&EXEC)?;
        self.print(DIM, &format!("it ran: {}", human::duration(changed.millis)))?;
        if !self.goes_on()? {
            return Ok(false);
        }

        self.begin_scene(3, "What you say once holds")?;
        self.print(Style::new(), "Monday. You correct your agent, and Recoup's hook listens:")?;
        print_gap()?;
        let notice = self.call_hook(
            &json!({"hook_event_name": "UserPromptSubmit", "session_id": "monday", "prompt": PROMPT}),
        )?;
        self.print_spoken(CYAN, "you", PROMPT)?;
        let notice = notice["systemMessage"].as_str().unwrap_or_default();
        self.print_spoken(GREEN, "recoup", notice.trim_start_matches("recoup: "))?;
        print_gap()?;
        self.print(
            Style::new(),
            "Tuesday, a new session. Before your first word, its agent is told:",
        )?;
        print_gap()?;
        let start: Value = serde_json::from_str(NEXT_SESSION).unwrap_or_default();
        let told = self.call_hook(&start)?;
        self.print_context(&told)?;
        if !self.goes_on()? {
            return Ok(false);
        }

        self.begin_scene(4, "And is not forgotten halfway")?;
        self.print(
            Style::new(),
            "Later its agent is about to break the rule. A hook sees the call first:",
        )?;
        print_gap()?;
        let call = json!({
            "hook_event_name": "PreToolUse",
            "session_id": "tuesday",
            "tool_name": "Bash",
            "tool_input": {"command": TOOL_COMMAND},
        });
        let told = self.call_hook(&call)?;
        self.print_spoken(YELLOW, "agent", TOOL_COMMAND)?;
        print_gap()?;
        self.print_context(&told)?;
        print_gap()?;
        self.print(Style::new(), "You can see and change all that is remembered:")?;
        self.show_command(&["memory", "list"])?;
        if !self.goes_on()? {
            return Ok(false);
        }

        self.begin_scene(SCENES, "What it was worth")?;
        self.show_savings(&first, &again, &changed)?;
        self.offer_setup()
    }

    fn edit(&self, line: &str) -> Result<(), CommandError> {
        Ok(self.home.write(SOURCE, &format!("fn login(name: &str) {{\n{line}\n}}\n"))?)
    }

    /// Counts from what the commands took, and from what `recoup stats` counted.
    fn show_savings(
        &self,
        first: &StepOutput,
        again: &StepOutput,
        changed: &StepOutput,
    ) -> Result<(), CommandError> {
        let stats = self.run(&["stats", "--json"])?;
        let stats: Value = serde_json::from_str(&stats.text).unwrap_or_default();
        let count = |name: &str| stats[name].as_u64().unwrap_or_default();
        let [hits, misses] = ["hits", "misses"].map(count);
        let spent = first.millis + again.millis + changed.millis;
        let saved = first.millis.saturating_sub(again.millis);
        self.print(
            Style::new(),
            &format!(
                "You asked {} times, the agent worked {misses} times: {} instead of {}.",
                hits + misses,
                human::duration(spent),
                human::duration(spent + saved),
            ),
        )?;
        print_gap()?;
        self.print(GREEN.bold(), &format!("{} saved by {hits} hit", human::duration(saved)))?;
        print_gap()?;
        self.print(
            Style::new(),
            "A real agent takes minutes, and money. `recoup stats` counts both for you.",
        )
    }

    fn offer_setup(&self) -> Result<bool, CommandError> {
        print_gap()?;
        let question = self.wrapped(QUESTION).join("\n");
        // Before the question: an answer that is typed at once counts.
        self.keys.forget_typed();
        ui::print_styled(&format!("{BOLD}{question}{BOLD:#} "))?;
        let key = self.keys.wait(|| self.home.is_interrupted());
        let yes = matches!(key, Some('y' | 'Y'));
        ui::print_styled(if yes { "y\n\n" } else { "n\n" })?;
        self.home.check_interrupt()?;
        if !yes {
            print_gap()?;
            self.print(Style::new(), "Later: `recoup init`. It says what it finds, and asks.")?;
            self.print(
                Style::new(),
                "Without it: `recoup exec --source FILES -- COMMAND` for anything slow.",
            )?;
        }
        Ok(yes)
    }

    fn begin_scene(&self, number: usize, title: &str) -> Result<(), CommandError> {
        let used = format!("{MARGIN}{number}/{SCENES}  {title}  ").width();
        let rule = "─".repeat(self.columns.saturating_sub(used + MARGIN.len()));
        ui::print_styled(&format!(
            "\n{MARGIN}{DIM}{number}/{SCENES}{DIM:#}  {BOLD}{title}{BOLD:#}  {DIM}{rule}{DIM:#}\n\n"
        ))
    }

    /// Waits for a key; false if the user wants to leave.
    fn goes_on(&self) -> Result<bool, CommandError> {
        self.keys.forget_typed();
        ui::print_styled(&format!("\n{MARGIN}{DIM}{FOOTER}{DIM:#}"))?;
        let key = self.keys.wait(|| self.home.is_interrupted());
        let blank = " ".repeat(MARGIN.len() + FOOTER.len());
        ui::print_styled(&format!("\r{blank}\r"))?;
        self.home.check_interrupt()?;
        Ok(!matches!(key, None | Some('q' | 'Q' | '\u{4}')))
    }

    fn print(&self, style: Style, text: &str) -> Result<(), CommandError> {
        let line = |line: &String| format!("{style}{line}{style:#}\n");
        ui::print_styled(&self.wrapped(text).iter().map(line).collect::<String>())
    }

    /// Prints who says what.
    fn print_spoken(&self, style: Style, who: &str, what: &str) -> Result<(), CommandError> {
        let margin = format!("{MARGIN}{:8}", "");
        let lines = wrap(what, self.columns, &margin).join("\n");
        let text = lines.get(margin.len()..).unwrap_or_default();
        ui::print_styled(&format!("{MARGIN}{style}{who:<6}{style:#}  {text}\n"))
    }

    /// Prints what a hook tells an agent, without the tags around it.
    fn print_context(&self, told: &Value) -> Result<(), CommandError> {
        let context = &told["hookSpecificOutput"]["additionalContext"];
        let lines = context.as_str().unwrap_or_default().lines();
        let margin = format!("{MARGIN}│ ");
        let mut is_said = false;
        for line in lines.filter(|line| !line.starts_with('<')) {
            is_said |= line == "The user said:";
            let style = if is_said { BOLD } else { DIM };
            for line in wrap(&ui::printable(line), self.columns, &margin) {
                let text = line.strip_prefix(&margin).unwrap_or(&line);
                ui::print_styled(&format!("{DIM}{margin}{DIM:#}{style}{text}{style:#}\n"))?;
            }
        }
        Ok(())
    }

    /// Shows a command, runs it and shows what it printed.
    fn show_command(&self, args: &[&str]) -> Result<StepOutput, CommandError> {
        let margin = format!("{MARGIN}  ");
        let command = format!("$ {}", typed_command(args));
        // Room for the backslash.
        let lines = wrap(&command, self.columns - 2, &margin).join(" \\\n");
        let typed = lines.trim_start().trim_start_matches("$ ");
        ui::print_styled(&format!("\n{MARGIN}{CYAN}${CYAN:#} {BOLD}{typed}{BOLD:#}\n"))?;
        let output = self.run(args)?;
        for line in output.text.lines() {
            let indent = &line[..line.len() - line.trim_start().len()];
            let lines = wrap(line.trim_start(), self.columns, &format!("{MARGIN}{indent}"));
            ui::print_styled(&(lines.join("\n") + "\n"))?;
        }
        Ok(output)
    }

    fn call_hook(&self, event: &Value) -> Result<Value, CommandError> {
        let output = self.run(&["hook", &event.to_string()])?;
        serde_json::from_str(&output.text).map_err(|error| {
            Error::new(ErrorKind::Invalid, "the hook gave no answer").with_source(error).into()
        })
    }

    fn run(&self, args: &[&str]) -> Result<StepOutput, CommandError> {
        let started = SystemClock.now();
        let output = self.home.command(args)?.stdin(std::process::Stdio::null()).output();
        let output = output.with_context(|| "starting recoup".to_owned())?;
        let millis = SystemClock.now().millis_since(started);
        self.home.check_interrupt()?;
        let failed = !output.stderr.is_empty() || output.status.code().is_none();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        if failed {
            let errors = String::from_utf8_lossy(&output.stderr);
            let message = format!("`{}` failed: {}", typed_command(args), errors.trim());
            return Err(Error::new(ErrorKind::Io, message).into());
        }
        Ok(StepOutput { text, millis })
    }

    fn wrapped(&self, text: &str) -> Vec<String> {
        wrap(text, self.columns, MARGIN)
    }
}

fn print_gap() -> Result<(), CommandError> {
    ui::print_styled("\n")
}

/// Breaks a text into lines of at most `columns`, each behind `margin`. A longer word stays whole.
fn wrap(text: &str, columns: usize, margin: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split(' ') {
        if !line.is_empty() && margin.width() + line.width() + 1 + word.width() > columns {
            lines.push(format!("{margin}{}", line.trim_end()));
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(format!("{margin}{line}"));
    lines
}
