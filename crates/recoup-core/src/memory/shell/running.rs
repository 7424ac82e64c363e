//! Commands that a line runs, each without what starts it: those behind `sudo` and `env`, in
//! `sh -c '…'`, `$(…)` and here-documents for a shell, behind `xargs`, `npx` and `find -exec`.
//!
//! ```text
//! cd web && sudo npm i "$(cat x)"    cd web | cat x | sudo npm i … | npm i …
//! ```

use std::path::{Component, Path, PathBuf};

use crate::memory::lang::is_one_of;
use crate::memory::shell::program::{inline_script, plain_program_name};
use crate::memory::shell::programs::{find_program, is_program_in};
use crate::memory::shell::splitter::{ShellCommand, split_commands};
use crate::memory::shell::wrappers::{
    is_assignment, skip_options, skip_own_options, skip_wrapper_options, strip_keywords,
    strip_wrapper,
};

/// Maximum nesting of what starts commands.
const DEEPEST: u8 = 8;
/// Maximum number of commands of a line, and of words of a command.
const MOST_COMMANDS: usize = 256;
const MOST_WORDS: usize = 1_000;
/// Maximum bytes of a line that are read, and of all lines that are nested in it.
const MOST_OF_LINE: usize = 64 << 10;
const MOST_OF_NESTED: usize = 4 * MOST_OF_LINE;
/// Options that name the folder in which a program works.
const FOLDER_OPTIONS: &str = "-C --prefix --dir --cwd --directory --work-tree --chdir -chdir";

/// A command that a line runs.
#[derive(Debug, Clone, Default)]
pub(crate) struct RunCommand {
    /// Program and arguments, without assignments in front of them.
    pub(crate) words: Vec<String>,
    /// Folder in which it works. One that begins with `~` is not expanded.
    pub(crate) folder: PathBuf,
    /// Files that it reads (`<`) and writes (`>`). Only a command that nothing else starts has them.
    pub(crate) inputs: Vec<String>,
    pub(crate) outputs: Vec<String>,
    /// Texts for its standard input.
    pub(crate) texts: Vec<String>,
    /// Commands that start it: `uv run`, `sudo`.
    pub(crate) starters: Vec<String>,
}

/// Returns all commands that a line runs in a folder, in their order. A command that starts another
/// one comes before it. Of a line that is too long, the beginning counts.
pub(crate) fn run_commands(line: &str, folder: &Path) -> Vec<RunCommand> {
    let mut collector = CommandCollector { found: Vec::new(), budget: MOST_OF_NESTED };
    let line = &line[..line.floor_char_boundary(MOST_OF_LINE)];
    collector.read_line(line, DEEPEST, &mut ShellFolder::new(folder));
    collector.found
}

/// Joins paths as a shell does: `~` begins anew.
pub(crate) fn join_path(folder: &Path, path: &str) -> PathBuf {
    if path == "~" || path.starts_with("~/") { PathBuf::from(path) } else { folder.join(path) }
}

/// Removes `.` and `..` without asking the disk.
pub(crate) fn normalize_path(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

/// Folder in which a shell works, and those to which it can go back.
#[derive(Debug, Clone)]
struct ShellFolder {
    now: PathBuf,
    before: PathBuf,
    pushed: Vec<PathBuf>,
}

impl ShellFolder {
    fn new(folder: &Path) -> Self {
        Self { now: folder.to_owned(), before: folder.to_owned(), pushed: Vec::new() }
    }

    /// Follows `cd`, `pushd` and `popd`.
    fn follow(&mut self, command: &RunCommand) {
        let program = command.program();
        if !is_one_of(program, "cd pushd popd") {
            return;
        }
        let mut words = command.words.iter().skip(1).map(String::as_str);
        let target = words.find(|it| *it == "-" || !it.starts_with('-'));
        let next = match (program, target) {
            ("popd", _) => self.pushed.pop(),
            ("cd" | "pushd", Some("-")) => Some(self.before.clone()),
            ("cd", target) => Some(join_path(&self.now, target.unwrap_or("~"))),
            ("pushd", Some(target)) => Some(join_path(&self.now, target)),
            _ => None,
        };
        let Some(next) = next else { return };
        self.before = std::mem::replace(&mut self.now, normalize_path(&next));
        if program == "pushd" {
            self.pushed.push(self.before.clone());
        }
    }
}

/// Collects the commands of a line and of the lines in it.
struct CommandCollector {
    found: Vec<RunCommand>,
    /// Bytes of lines that may still be read.
    budget: usize,
}

impl CommandCollector {
    fn read_line(&mut self, line: &str, depth: u8, shell: &mut ShellFolder) {
        let Some(budget) = self.budget.checked_sub(line.len()) else { return };
        self.budget = budget;
        // Subshells that are open: what they change is gone with them.
        let mut subshells: Vec<(usize, ShellFolder)> = Vec::new();
        for mut command in split_commands(line) {
            if self.found.len() >= MOST_COMMANDS || depth == 0 {
                return;
            }
            let inside = std::mem::take(&mut command.subshells);
            let same = subshells.iter().zip(&inside).take_while(|(open, id)| open.0 == **id);
            let same = same.count();
            subshells.truncate(same);
            for id in &inside[same..] {
                let outer = subshells.last().map_or(&*shell, |it| &it.1).clone();
                subshells.push((*id, outer));
            }
            let shell = subshells.last_mut().map_or(&mut *shell, |it| &mut it.1);
            for nested in &command.nested {
                self.read_line(nested, depth - 1, &mut shell.clone());
            }
            self.read_command(command, depth, Vec::new(), shell);
        }
    }

    fn read_command(
        &mut self,
        command: ShellCommand,
        depth: u8,
        starters: Vec<String>,
        shell: &mut ShellFolder,
    ) {
        let ShellCommand { mut words, inputs, outputs, texts, .. } = command;
        words.truncate(MOST_WORDS);
        let plain = strip_keywords(&words).to_vec();
        let script = inline_script(&plain);
        let program = plain_program_name(plain.first().map_or("", String::as_str));
        let reads_script = script.is_none()
            && is_program_in("shells", &program)
            && plain[1..].iter().all(|word| word.starts_with('-'));
        let inner = started_command(&plain).filter(|_| depth > 0);
        let folder = shell.now.clone();
        let mut command =
            RunCommand { words: plain, folder, inputs, outputs, texts: texts.clone(), starters };
        if let Some(named) = command.named_folder() {
            command.folder = join_path(&command.folder, named);
        }
        shell.follow(&command);
        let inner = inner
            .map(|words| (words, [command.starters.clone(), command.starter_names()].concat()));
        let mut inner_shell = ShellFolder::new(&command.folder);
        self.found.push(command);
        let scripts = script.into_iter().chain(texts.iter().filter(|_| reads_script).cloned());
        for script in scripts.filter(|_| depth > 0) {
            let is_same = program == "eval";
            let shell = if is_same { &mut *shell } else { &mut inner_shell };
            self.read_line(&script, depth - 1, shell);
        }
        if let Some((words, starters)) = inner {
            let command = ShellCommand { words, texts, ..ShellCommand::default() };
            self.read_command(command, depth - 1, starters, &mut inner_shell);
        }
    }
}

/// Returns the command that another one starts.
fn started_command(words: &[String]) -> Option<Vec<String>> {
    if let Some(inner) = strip_wrapper(words) {
        return Some(inner.to_vec());
    }
    let (first, rest) = words.split_first()?;
    let name = plain_program_name(first);
    if name == "find" {
        let at = rest.iter().position(|it| is_one_of(it, "-exec -execdir -ok"))?;
        let end = rest[at..].iter().position(|it| it == ";" || it == "+" || it == "\\;");
        return Some(rest[at + 1..end.map_or(rest.len(), |end| at + end)].to_vec());
    }
    if let Some(row) = find_program("interpreters", &name) {
        let behind = skip_options_to_module(rest, row.valued);
        return behind.filter(|_| is_one_of("-m", row.more));
    }
    let rest = skip_own_options(&name, rest);
    let in_container = (1..=2).find_map(|count| {
        let key = format!("{name}/{}", rest.get(..count)?.join("/"));
        let row = find_program("containers", &key)?;
        let behind = skip_wrapper_options(&rest[count..], row);
        // `kubectl exec pod -- command`
        let behind = behind.strip_prefix(&["--".to_owned()]).unwrap_or(behind);
        (!behind.is_empty()).then(|| behind.to_vec())
    });
    in_container.or_else(|| {
        let own = find_program("script-runners", &name)?.more;
        if own == "*" {
            return None;
        }
        let script = rest.first().filter(|it| !is_one_of(it, own) && !it.starts_with('-'))?;
        (!script.contains(['/', '.'])).then(|| rest.to_vec())
    })
}

/// Returns the module of `python -X dev -m module …`, with its arguments.
fn skip_options_to_module(words: &[String], valued: &str) -> Option<Vec<String>> {
    let at = words.iter().position(|it| it == "-m")?;
    let is_first = skip_options(&words[..at], valued).is_empty();
    (is_first && at + 1 < words.len()).then(|| words[at + 1..].to_vec())
}

impl RunCommand {
    /// Returns the name of the program as it was called, without its folder.
    pub(crate) fn program(&self) -> &str {
        let word = self.words.first().map_or("", String::as_str);
        let word = word.strip_prefix("./").unwrap_or(word);
        // A script of the project that has the name of a program is another one.
        if plain_program_name(word).contains('/') {
            return word;
        }
        let name = word.rsplit('/').next().unwrap_or(word);
        name.strip_suffix(".exe").or_else(|| name.strip_suffix(".cmd")).unwrap_or(name)
    }

    /// Returns the names of the program: as it was called, and without its version.
    pub(crate) fn names(&self) -> Vec<String> {
        let (called, plain) = (self.program(), plain_program_name(self.program()));
        let is_version = called != plain && called.starts_with(&plain);
        let mut names = vec![called.to_owned()];
        names.extend(is_version.then_some(plain));
        names
    }

    /// Returns the names by which it is known as what starts another command.
    fn starter_names(&self) -> Vec<String> {
        let (name, arguments) = (self.known_name(), self.arguments());
        let with_sub = arguments.first().map(|it| format!("{name} {it}"));
        [name].into_iter().chain(with_sub).collect()
    }

    /// Returns the name of what starts another command, if these are words that do: `uv run`.
    pub(crate) fn starter(&self) -> Option<String> {
        let words = [self.words.as_slice(), &["x".to_owned()]].concat();
        let sub = self.arguments().first().is_some_and(|sub| {
            find_program("runners", &format!("{}/{sub}", self.known_name())).is_some()
        });
        strip_wrapper(&words)?;
        self.starter_names().into_iter().nth(usize::from(sub))
    }

    fn known_name(&self) -> String {
        plain_program_name(self.program())
    }

    /// Returns the words behind the program's own options that are no options and not their values:
    /// sub-command, targets, files. Short names of sub-commands are long, and `npm run test` is
    /// `npm test`.
    pub(crate) fn arguments(&self) -> Vec<&str> {
        let name = self.known_name();
        let rest = skip_own_options(&name, self.words.get(1..).unwrap_or_default());
        let valued = valued_options(&name, rest);
        let mut arguments: Vec<&str> = Vec::with_capacity(rest.len());
        let mut words = rest.iter();
        while let Some(word) = words.next() {
            if !word.starts_with('-') || word.len() == 1 {
                arguments.push(word);
            } else if CommandOption::read(word, &valued).is_valued {
                words.next();
            }
        }
        let runs = is_program_in("script-runners", &name);
        if runs && matches!(arguments[..], ["run" | "run-script", _, ..]) {
            arguments.remove(0);
        }
        if let Some(first) = arguments.first_mut() {
            *first = full_subcommand(&name, first);
        }
        arguments
    }

    /// Returns its options, as they are written.
    fn options(&self) -> Vec<CommandOption<'_>> {
        let words = self.words.get(1..).unwrap_or_default();
        let name = self.known_name();
        let valued = valued_options(&name, skip_own_options(&name, words));
        let mut options = Vec::new();
        let mut words = words.iter().take_while(|word| *word != "--").peekable();
        while let Some(word) = words.next() {
            // No option has a blank in its name, but a value may begin with a dash.
            let name = word.split('=').next().unwrap_or_default();
            if !name.starts_with('-') || word.len() == 1 || name.contains(char::is_whitespace) {
                continue;
            }
            let mut option = CommandOption::read(word, &valued);
            if option.is_valued {
                option.value = words.next().map(String::as_str);
            } else if option.value.is_none() {
                option.value = words.peek().filter(|it| !it.starts_with('-')).map(|it| it.as_str());
            }
            options.push(option);
        }
        options
    }

    /// Returns its options: as they are written, one by one, with and without their values, and by
    /// their other names.
    pub(crate) fn flags(&self) -> Vec<String> {
        let mut flags = Vec::new();
        for option in self.options() {
            flags.push(option.name.to_owned());
            flags.extend(option.value.map(|value| format!("{}={value}", option.name)));
            flags.extend(option.letters.chars().map(|c| format!("-{c}")));
        }
        let arguments = self.arguments();
        let (name, sub) = (self.known_name(), arguments.first().copied().unwrap_or_default());
        if name == "git" && sub == "push" {
            // `+main` overwrites the branch, `:main` deletes it.
            let has = |sign: char| arguments.iter().any(|it| it.starts_with(sign) && it.len() > 1);
            flags.extend(has('+').then(|| "--force".to_owned()));
            flags.extend(has(':').then(|| "--delete".to_owned()));
        }
        let others: Vec<String> = flags.iter().filter_map(|it| same_flag(&name, sub, it)).collect();
        flags.extend(others);
        flags
    }

    /// Returns the values of options with these names.
    pub(crate) fn values_of(&self, names: &str) -> Vec<&str> {
        let is_named = |it: &CommandOption<'_>| {
            is_one_of(it.name, names)
                || it.letters.chars().last().is_some_and(|c| is_one_of(&format!("-{c}"), names))
        };
        let options = self.options().into_iter().filter(is_named);
        options.filter_map(|it| it.value).collect()
    }

    /// Returns the folder that its options name. A short one may mean something else behind the
    /// sub-command.
    fn named_folder(&self) -> Option<&str> {
        let name = self.known_name();
        let behind = skip_own_options(&name, self.words.get(1..).unwrap_or_default());
        let own = self.words.len() - behind.len();
        let sections = ["sub-commands", "targets", "wrappers"].into_iter();
        let rows: Vec<_> = sections.filter_map(|it| find_program(it, &name)).collect();
        let is_own = |word: &str| rows.iter().any(|row| is_one_of(word, row.valued));
        self.words.iter().enumerate().skip(1).find_map(|(at, word)| match word.split_once('=') {
            Some((name, folder)) if is_one_of(name, FOLDER_OPTIONS) => Some(folder),
            _ if !is_one_of(word, FOLDER_OPTIONS) => None,
            _ if word.starts_with("--") || (at < own && is_own(word)) => {
                self.words.get(at + 1).map(String::as_str)
            }
            _ => None,
        })
    }

    /// Returns the packages that it adds to the project, without their versions.
    pub(crate) fn installed_packages(&self) -> Vec<&str> {
        let (name, arguments) = (self.known_name(), self.arguments());
        let found = (1..=2).rev().find_map(|count| {
            let sub = arguments.get(..count)?.join("/");
            Some((arguments[count - 1], find_program("installs", &format!("{name}/{sub}"))?))
        });
        let Some((_, row)) = found else { return Vec::new() };
        let valued = |at: usize| at > 0 && is_one_of(&self.words[at - 1], row.valued);
        let behind = skip_own_options(&name, &self.words[1..]);
        let from = self.words.len() - behind.len()
            + if name == "uv" && arguments[0] == "pip" { 2 } else { 1 };
        let packages = self.words.iter().enumerate().skip(from).filter(|(at, word)| {
            let is_path = word.starts_with(['.', '/', '-', '$']) || is_assignment(word);
            !is_path && !valued(*at)
        });
        packages.map(|(_, word)| package_name(word)).collect()
    }
}

/// An option of a command.
#[derive(Debug, Clone, Copy)]
struct CommandOption<'a> {
    /// As it is written, without a value behind `=`.
    name: &'a str,
    /// Letters of short options in one word: `-nm` is `-n` and `-m`.
    letters: &'a str,
    /// Its value, or a word behind it that may be one.
    value: Option<&'a str>,
    /// True if the next word is its value for certain.
    is_valued: bool,
}

impl<'a> CommandOption<'a> {
    /// Reads a word that begins with a dash, if these options take values.
    fn read(word: &'a str, valued: &[&str]) -> Self {
        let takes_value = |name: &str| valued.iter().any(|it| is_one_of(name, it));
        let (name, value) = word.split_once('=').map_or((word, None), |it| (it.0, Some(it.1)));
        let letters =
            word[1..].split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
        // What follows a letter that takes a value is the value: `-mtext`.
        let last = letters.char_indices().find(|(_, c)| takes_value(&format!("-{c}")));
        if let Some((at, _)) = last {
            let (letters, behind) = (&letters[..=at], &word[at + 2..]);
            let behind = behind.strip_prefix('=').unwrap_or(behind);
            let value = Some(behind).filter(|it| !it.is_empty());
            return Self { name: &word[..at + 2], letters, value, is_valued: value.is_none() };
        }
        // More letters are the name of one option: `-delete`.
        let letters = if letters.len() <= 3 { letters } else { "" };
        Self { name, letters, value, is_valued: value.is_none() && takes_value(name) }
    }
}

/// Returns the options of a program and of its sub-command that take a value; `rest` begins with that.
fn valued_options(program: &str, rest: &[String]) -> [&'static str; 2] {
    let valued = |name: &str| find_program("flags", name).unwrap_or_default().valued;
    let sub = rest.first().map_or("", |it| full_subcommand(program, it));
    [valued(program), valued(&format!("{program}/{sub}"))]
}

/// Returns the full name of a sub-command.
fn full_subcommand<'a>(program: &str, sub: &'a str) -> &'a str {
    let aliases = find_program("aliases", program).unwrap_or_default().more;
    let mut aliases = aliases.split(' ').filter_map(|it| it.split_once('='));
    aliases.find(|(short, _)| *short == sub).map_or(sub, |(_, long)| long)
}

/// Returns the name of a package without its version: `axios@1.6`, `@scope/x@2`, `httpx>=0.27`.
fn package_name(word: &str) -> &str {
    let end = word.char_indices().skip(1).find(|(_, c)| "@=<>~![".contains(*c));
    &word[..end.map_or(word.len(), |(at, _)| at)]
}

/// Returns the other name of an option that the table has.
pub(crate) fn same_flag(program: &str, sub: &str, flag: &str) -> Option<String> {
    let rows = [program.to_owned(), format!("{program}/{sub}")];
    let rows = rows.iter().filter_map(|name| find_program("flags", name));
    let mut names = rows.flat_map(|row| row.more.split(' ')).filter_map(|it| it.split_once('='));
    names.find(|(other, _)| *other == flag).map(|(_, one)| one.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str) -> String {
        let commands = run_commands(line, Path::new(""));
        commands.iter().map(|it| it.words.join(" ")).collect::<Vec<_>>().join(" | ")
    }

    #[test]
    fn commands_are_found_behind_what_starts_them() {
        for (line, expected) in [
            ("cd web && npm i", "cd web | npm i"),
            ("sudo -E npm i", "sudo -E npm i | npm i"),
            ("CI=1 env A=b npm ci", "env A=b npm ci | npm ci"),
            ("npx pnpm i", "npx pnpm i | pnpm i"),
            ("bash -lc 'npm test; ls'", "bash -lc npm test; ls | npm test | ls"),
            ("x=$(npm root) && echo `npm bin`", "npm root |  | npm bin | echo `npm bin`"),
            ("echo \"$(npm -v)\" '$(yarn)'", "npm -v | echo $(npm -v) $(yarn)"),
            ("find . -exec rm -rf {} +", "find . -exec rm -rf {} + | rm -rf {}"),
            ("ls | xargs -0 grep -l x", "ls | xargs -0 grep -l x | grep -l x"),
            ("python3 -m pip install x", "python3 -m pip install x | pip install x"),
            ("docker compose exec -T api npm i", "docker compose exec -T api npm i | npm i"),
            ("pnpm vitest run", "pnpm vitest run | vitest run"),
            ("pnpm add vitest", "pnpm add vitest"),
            ("for p in a b; do sudo apt i; done", "for p in a b | sudo apt i | apt i | done"),
            ("bash <<'EOF'\nnpm i\nEOF\nls", "bash | npm i | ls"),
            ("cat <<'EOF'\nnpm i\nEOF", "cat"),
            ("git commit -m \"use npm\" # npm i", "git commit -m use npm"),
        ] {
            assert_eq!(shown(line), expected, "{line}");
        }
    }

    #[test]
    fn a_message_in_a_nested_heredoc_ends_where_it_ends() {
        let line = "git commit -m \"$(cat <<'EOF'\nfix: don't (yet\nEOF\n)\" && npm i";
        let commands = run_commands(line, Path::new(""));
        assert_eq!(commands.last().unwrap().words, ["npm", "i"]);
        assert_eq!(commands[0].texts, ["fix: don't (yet\n"]);
    }

    #[test]
    fn options_are_known_by_all_their_names() {
        let has = |line: &str, flag: &str| {
            run_commands(line, Path::new(""))
                .iter()
                .any(|it| it.flags().iter().any(|it| it == flag))
        };
        for (line, flag) in [
            ("rm -fR x", "-r"),
            ("git commit -nm x", "--no-verify"),
            ("git push origin +main", "--force"),
            ("kubectl apply --dry-run=client", "--dry-run"),
            ("golangci-lint run --timeout 5m", "--timeout=5m"),
            ("sed -i.bak s/a/b/ x", "-i"),
            ("kill -KILL 1", "-9"),
        ] {
            assert!(has(line, flag), "{line}: {flag}");
        }
        assert!(!has("git log -n 5", "--no-verify"));
        assert!(!has("rm x -- -rf", "-r"));
    }

    #[test]
    fn installed_packages_have_no_versions() {
        for (line, expected) in [
            ("npm i -D axios@1.6 @a/b@2", "axios @a/b"),
            ("pnpm add zod@3 --filter api", "zod"),
            ("uv pip install 'httpx>=0.27' -r x.txt", "httpx"),
            ("pip install -e . -r requirements.txt", ""),
            ("npm ci", ""),
            ("go get -u ./...", ""),
        ] {
            let found = run_commands(line, Path::new(""));
            assert_eq!(found[0].installed_packages().join(" "), expected, "{line}");
        }
    }
}
