//! Programs with sub-commands, and how deep these go; and the prefixes of a command: variables, `sudo`,
//! `timeout 60`, `npx`, `uv run`.

use super::wrappers::{is_assignment, skip_options};
use crate::memory::lang::word_lists::is_one_of;

/// Programs with sub-commands; their options that take a value and may stand in front;
/// and the sub-commands that have more below them (`*`: all of them).
const SUBS: &[(&str, &str, &str)] = &[
    ("git", "-C -c --git-dir --work-tree", "stash remote worktree submodule bisect lfs config"),
    ("gh", "-R --repo", "*"),
    ("glab", "-R --repo", "*"),
    ("cargo", "--manifest-path --config -C --color -Z", "xtask nextest llvm-cov"),
    ("rustup", "", "target component toolchain"),
    ("npm", "--prefix -w --workspace -C", "run run-script config pkg"),
    ("pnpm", "--filter -F -C --dir -w", "run config"),
    ("yarn", "--cwd", "run workspace config"),
    ("bun", "--cwd --filter", "run"),
    ("deno", "", "task run"),
    ("go", "-C", "mod tool work"),
    (
        "docker",
        "-H --host -c --context --config",
        "compose container image volume network system buildx builder context",
    ),
    ("kubectl", "-n --namespace --context --kubeconfig", "rollout config create delete get set"),
    ("helm", "-n --namespace --kube-context", "repo"),
    ("terraform", "-chdir", "state workspace"),
    ("tofu", "-chdir", "state workspace"),
    ("pulumi", "-s --stack -C", "stack config"),
    ("aws", "--profile --region --output --endpoint-url", "*"),
    ("gcloud", "--project --region --zone", "*"),
    ("az", "", "*"),
    ("uv", "--directory --project", "pip tool python"),
    ("poetry", "-C --directory", "self env"),
    ("pdm", "-p", ""),
    ("hatch", "-e", "run env"),
    ("conda", "", "env"),
    ("tox", "-c", ""),
    ("alembic", "-c", ""),
    ("dotnet", "", "tool ef"),
    ("composer", "-d", "run"),
    ("flutter", "", "pub"),
    ("dart", "", "pub"),
    ("swift", "", "package"),
    ("brew", "", "services"),
    ("apt", "-o -t", ""),
    ("apt-get", "-o -t", ""),
    ("systemctl", "-H -M", ""),
    ("nx", "", "run"),
    ("turbo", "", "run"),
    ("lerna", "", "run"),
    ("prisma", "", "migrate db"),
    ("supabase", "", "db migration"),
    ("heroku", "-a", ""),
    ("fly", "-a", ""),
    ("nix", "", "flake"),
    ("jj", "-R", "git"),
    ("hg", "-R", ""),
    ("redis-cli", "-h -p -n -a -u", ""),
    ("recoup", "", "cache memory"),
];

/// Programs with sub-commands, and nothing special about them.
const PLAIN_SUBS: &str = "pip pipenv bazel bundle gem rails mix dnf yum apk pacman snap ng next vite playwright \
cypress wrangler vercel firebase svn openssl";

/// Programs whose plain arguments are targets, with their options that take a value.
const TARGETS: &[(&str, &str)] = &[
    ("make", "-C -f -I -o -W"),
    ("just", "-f -d --justfile --working-directory"),
    ("task", "-d -t"),
    ("rake", "-f"),
    ("ninja", "-C -f"),
    ("gradle", "-p -b -x --tests -P"),
    ("mvn", "-f -pl -P -s"),
    ("ant", "-f"),
    ("invoke", "-c"),
    ("fab", "-H"),
    ("nox", "-s -f"),
];

/// Short names of sub-commands.
const ALIASES: &[(&str, &str)] = &[
    ("cargo", "t=test b=build c=check r=run d=doc"),
    ("npm", "i=install add=install t=test tst=test run-script=run clean-install=ci"),
    ("pnpm", "i=install t=test"),
    ("bun", "i=install"),
    ("kubectl", "del=delete"),
    ("git", "co=checkout ci=commit st=status"),
];

/// Maximum number of targets in a kind.
const MOST_TARGETS: usize = 3;

/// Returns the arguments behind a program's own options.
pub(super) fn skip_own_options<'a>(program: &str, rest: &'a [String]) -> &'a [String] {
    let valued =
        SUBS.iter().find(|(name, ..)| *name == program).map_or("", |(_, valued, _)| valued);
    skip_options(rest, valued, 0)
}

/// Returns the sub-command, script or targets among a program's arguments.
pub(super) fn find_subcommand(program: &str, rest: &[String]) -> Option<String> {
    if let Some((_, valued)) = TARGETS.iter().find(|(name, _)| *name == program) {
        // All plain arguments among options and variables.
        let (mut found, mut at) = (Vec::new(), 0);
        while let Some(word) = rest.get(at) {
            // `-j 8`: a number is no target.
            let number = word.bytes().all(|byte| byte.is_ascii_digit());
            if !word.starts_with('-') && !is_assignment(word) && !number {
                found.push(word.as_str());
            }
            at += if is_one_of(word, valued) { 2 } else { 1 };
        }
        found.truncate(MOST_TARGETS);
        return (!found.is_empty()).then(|| found.join(" "));
    }
    let deeper = match SUBS.iter().find(|(name, ..)| *name == program) {
        Some((_, _, deeper)) => deeper,
        None if is_one_of(program, PLAIN_SUBS) => "",
        None => return None,
    };
    // `cargo +nightly test`
    let rest = match rest {
        [first, rest @ ..] if first.starts_with('+') => rest,
        rest => rest,
    };
    let words = skip_own_options(program, rest);
    let Some((first, rest)) = words.split_first() else {
        return (program == "yarn").then(|| "install".to_owned());
    };
    let aliases = ALIASES.iter().filter(|(of, _)| *of == program);
    let mut aliases =
        aliases.flat_map(|(_, all)| all.split(' ')).filter_map(|it| it.split_once('='));
    let first = aliases.find(|(short, _)| short == first).map_or(first.as_str(), |(_, long)| long);
    if deeper != "*" && !is_one_of(first, deeper) {
        return Some(first.to_owned());
    }
    let Some(second) = rest.iter().find(|word| !word.starts_with('-')) else {
        return Some(first.to_owned());
    };
    // `npm run test` is `npm test`; pnpm and yarn allow that for every script.
    let known = matches!(second.as_str(), "test" | "start" | "stop" | "restart");
    let short = first == "run" && (matches!(program, "pnpm" | "yarn") || program == "npm" && known);
    Some(if short { second.clone() } else { format!("{first} {second}") })
}
