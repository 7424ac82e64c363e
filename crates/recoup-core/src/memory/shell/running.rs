//! Commands that a line runs, each without what starts it: those behind `sudo` and `env`, in
//! `sh -c '…'`, `$(…)` and here-documents for a shell, behind `xargs`, `npx` and `find -exec`.
//!
//! ```text
//! cd web && sudo npm i "$(cat x)"    cd web | cat x | sudo npm i … | npm i …
//! ```

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
/// Maximum number of commands of a line.
const MOST_COMMANDS: usize = 256;
/// Options that name the folder in which a program works.
const FOLDER_OPTIONS: &str = "-C --prefix --dir --cwd --directory -chdir";

/// A command that a line runs.
#[derive(Debug, Clone, Default)]
pub(crate) struct RunCommand {
    /// Program and arguments, without assignments in front of them.
    pub(crate) words: Vec<String>,
    /// Files that it reads (`<`) and writes (`>`). Only a command that nothing else starts has them.
    pub(crate) inputs: Vec<String>,
    pub(crate) outputs: Vec<String>,
    /// Texts for its standard input.
    pub(crate) texts: Vec<String>,
    /// Commands that start it: `uv run`, `sudo`.
    pub(crate) starters: Vec<String>,
}

/// Returns all commands that a line runs, in their order. A command that starts another one comes
/// before it.
pub(crate) fn run_commands(line: &str) -> Vec<RunCommand> {
    let mut found = Vec::new();
    collect_line(line, DEEPEST, &mut found);
    found
}

fn collect_line(line: &str, depth: u8, found: &mut Vec<RunCommand>) {
    for command in split_commands(line) {
        if found.len() >= MOST_COMMANDS || depth == 0 {
            return;
        }
        for nested in &command.nested {
            collect_line(nested, depth - 1, found);
        }
        collect_command(command, depth, Vec::new(), found);
    }
}

fn collect_command(
    command: ShellCommand,
    depth: u8,
    starters: Vec<String>,
    found: &mut Vec<RunCommand>,
) {
    let ShellCommand { words, inputs, outputs, texts, nested: _ } = command;
    let plain = strip_keywords(&words).to_vec();
    let script = inline_script(&plain);
    let reads_script = script.is_none()
        && is_program_in("shells", &plain_program_name(plain.first().map_or("", String::as_str)))
        && plain[1..].iter().all(|word| word.starts_with('-'));
    let inner = started_command(&plain).filter(|_| depth > 0);
    let command = RunCommand { words: plain, inputs, outputs, texts: texts.clone(), starters };
    let starters = [command.starters.clone(), command.starter_names()].concat();
    found.push(command);
    let scripts = script.into_iter().chain(texts.iter().filter(|_| reads_script).cloned());
    for script in scripts.filter(|_| depth > 0) {
        collect_line(&script, depth - 1, found);
    }
    if let Some(words) = inner {
        let command = ShellCommand { words, texts, ..ShellCommand::default() };
        collect_command(command, depth - 1, starters, found);
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

    /// Returns the words behind the program's own options that are no options: sub-command, targets,
    /// files. Short names of sub-commands are long, and `npm run test` is `npm test`.
    pub(crate) fn arguments(&self) -> Vec<&str> {
        let name = self.known_name();
        let rest = skip_own_options(&name, self.words.get(1..).unwrap_or_default());
        let is_argument = |it: &&String| !it.starts_with('-') || it.len() == 1;
        let mut arguments: Vec<&str> = rest.iter().filter(is_argument).map(|it| &**it).collect();
        let runs = is_program_in("script-runners", &name);
        if runs && matches!(arguments[..], ["run" | "run-script", _, ..]) {
            arguments.remove(0);
        }
        if let Some(first) = arguments.first_mut() {
            let aliases = find_program("aliases", &name).unwrap_or_default().more;
            let mut aliases = aliases.split(' ').filter_map(|it| it.split_once('='));
            *first = aliases.find(|(short, _)| short == first).map_or(*first, |(_, long)| long);
        }
        arguments
    }

    /// Returns its options: as they are written, one by one, without their values, and by their other
    /// names.
    pub(crate) fn flags(&self) -> Vec<String> {
        let mut flags = Vec::new();
        let words = self.words.get(1..).unwrap_or_default();
        for (at, word) in words.iter().enumerate().take_while(|(_, word)| *word != "--") {
            if !word.starts_with('-') || word.len() == 1 {
                continue;
            }
            flags.push(word.clone());
            if let Some((name, _)) = word.split_once('=') {
                flags.push(name.to_owned());
            } else if let Some(value) = words.get(at + 1).filter(|it| !it.starts_with('-')) {
                flags.push(format!("{word}={value}"));
            }
            let letters = word[1..].split(|c: char| !c.is_ascii_alphabetic()).next();
            let letters = letters.filter(|it| (1..=3).contains(&it.len()));
            flags.extend(letters.into_iter().flat_map(str::chars).map(|c| format!("-{c}")));
        }
        let arguments = self.arguments();
        let sub = arguments.first().copied().unwrap_or_default();
        if self.known_name() == "git" && sub == "push" {
            // `+main` overwrites the branch, `:main` deletes it.
            let has = |sign: char| arguments.iter().any(|it| it.starts_with(sign) && it.len() > 1);
            flags.extend(has('+').then(|| "--force".to_owned()));
            flags.extend(has(':').then(|| "--delete".to_owned()));
        }
        let others: Vec<String> =
            flags.iter().filter_map(|it| same_flag(&self.known_name(), sub, it)).collect();
        flags.extend(others);
        flags
    }

    /// Returns the folder that its options name.
    pub(crate) fn folder(&self) -> Option<&str> {
        let words = &self.words;
        words.iter().enumerate().skip(1).find_map(|(at, word)| match word.split_once('=') {
            Some((name, folder)) if is_one_of(name, FOLDER_OPTIONS) => Some(folder),
            _ if is_one_of(word, FOLDER_OPTIONS) => words.get(at + 1).map(String::as_str),
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
        let commands = run_commands(line);
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
        let commands = run_commands(line);
        assert_eq!(commands.last().unwrap().words, ["npm", "i"]);
        assert_eq!(commands[0].texts, ["fix: don't (yet\n"]);
    }

    #[test]
    fn options_are_known_by_all_their_names() {
        let has = |line: &str, flag: &str| {
            run_commands(line).iter().any(|it| it.flags().iter().any(|it| it == flag))
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
            let found = run_commands(line);
            assert_eq!(found[0].installed_packages().join(" "), expected, "{line}");
        }
    }
}
