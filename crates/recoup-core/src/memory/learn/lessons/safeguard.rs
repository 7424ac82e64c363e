//! Commands that succeed by bypassing a safeguard. They are never taught.

use crate::memory::learn::command::split_commands;

/// Prefixes of options that switch a safeguard off.
const BEGINNINGS: [&str; 26] = [
    "--force",
    "--no-verify",
    "--skip",
    "--no-check",
    "--auto-approve",
    "-auto-approve",
    "--insecure",
    "--allow-unauthenticated",
    "--allow-dirty",
    "--allow-root",
    "--allow-downgrades",
    "--unsafe",
    "--danger",
    "--privileged",
    "--no-sandbox",
    "--no-gpg-sign",
    "--no-preserve-root",
    "--break-system-packages",
    "--trusted-host",
    "--accept-data-loss",
    "--bypass",
    "--exit-zero",
    "--hard",
    "--admin",
    "-dskip",
    "-dmaven.test.skip",
];

/// Programs that run another as a different user.
const AS_ROOT: [&str; 5] = ["sudo", "doas", "su", "pkexec", "runas"];

/// Programs whose `-f` forces.
const FORCED_BY_F: [&str; 8] = ["git", "rm", "mv", "cp", "ln", "npm", "pnpm", "yarn"];

/// Settings that switch a safeguard off, in front of a command or as its argument.
const SETTINGS: [&str; 9] = [
    "no_verify",
    "ssl_verify",
    "sslverify=false",
    "tls_reject",
    "insecure",
    "hookspath",
    "gpgsign=false",
    "husky=0",
    "stricthostkeychecking",
];

/// Words of destructive options and sub-commands. If the failed command has the word too, it was
/// intended.
const DESTROYS: &str =
    " bypass delete destroy discard drop force hard mirror overwrite prune purge wipe ";

/// Maximum nesting of `sh -c 'sh -c …'`.
const DEEPEST: u8 = 3;

/// True if a successful command bypasses a safeguard, or does harm that the failed one did not.
pub(super) fn bypasses_safeguard(failed: &str, worked: &str) -> bool {
    let known = split_commands(failed).into_iter().flatten();
    let known: Vec<String> =
        known.flat_map(|it| it.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect();
    bypasses_safeguard_at_depth(worked, &known, DEEPEST)
}

/// True if words that are not `known` destroy something, or are a `-f` that takes no file.
fn adds_harm(known: &[String], words: &[String]) -> bool {
    let is_file = |word: &String| !word.starts_with('-') && !known.contains(word);
    words.iter().enumerate().filter(|(_, word)| !known.contains(word)).any(|(at, word)| {
        let name = word.split('=').next().unwrap_or(word).to_lowercase();
        let is_setting = !word.starts_with('-') && word.contains('=');
        let destroys = |part: &str| DESTROYS.split_ascii_whitespace().any(|it| it == part);
        (!is_setting && name.split(['-', '.', ':', '_']).any(destroys))
            || (has_short_flag(word, 'f') && !words.get(at + 1).is_some_and(is_file))
    })
}

fn bypasses_safeguard_at_depth(line: &str, known: &[String], depth: u8) -> bool {
    let script = |word: &String| {
        depth > 0 && word.contains(' ') && bypasses_safeguard_at_depth(word, known, depth - 1)
    };
    let harms = |words: &Vec<String>| is_unsafe_command(words) || adds_harm(known, words);
    split_commands(line).iter().any(|words| harms(words) || words.iter().any(script))
}

fn is_unsafe_command(words: &[String]) -> bool {
    let program = words.iter().map(|word| base_name(word)).find(|word| !word.contains('='));
    let program = program.unwrap_or_default();
    let has = |wanted: &str| words.iter().any(|word| word == wanted);
    let short = |flag: char| words.iter().any(|word| has_short_flag(word, flag));
    words.iter().any(|word| weakens_safeguard(word))
        // Also behind `env`, `timeout 60` and the like.
        || words.iter().any(|word| AS_ROOT.contains(&base_name(word).as_str()))
        || (FORCED_BY_F.contains(&program.as_str()) && short('f'))
        || (program == "rm" && (short('r') || short('R') || has("--recursive")))
        || (program == "chmod" && words.iter().any(|word| opens_to_all(word)))
        || (program == "git" && ((has("commit") && short('n')) || (has("branch") && short('D'))))
        || (program == "git" && has("push") && words.iter().any(|it| it.starts_with(['+', ':'])))
        || (matches!(program.as_str(), "curl" | "wget") && short('k'))
        || matches!(program.as_str(), "true" | ":")
        || (program == "set" && has("+e"))
}

fn weakens_safeguard(word: &str) -> bool {
    let lower = word.to_lowercase();
    // The head of an assignment, as in `SKIP=lint` and `FORCE=1`.
    let switch = lower.split_once('=').is_some_and(|(name, value)| {
        let of = |part: &str| part == "skip" || part == "force" || part == "bypass";
        name.split('_').any(of) && name != "force_color" && value != "0"
    });
    switch
        || BEGINNINGS.iter().any(|it| lower.starts_with(it))
        || SETTINGS.iter().any(|it| lower.contains(it))
}

/// True for short options that include `flag`, as in `-f` and `-rf`.
fn has_short_flag(word: &str, flag: char) -> bool {
    word.strip_prefix('-').is_some_and(|letters| {
        letters.chars().all(|c| c.is_ascii_alphabetic())
            && letters.len() <= 4
            && letters.contains(flag)
    })
}

/// True for modes that let everybody write: `777`, `a+rwx`, `o+w`.
fn opens_to_all(mode: &str) -> bool {
    let writes = |c: char| matches!(c, '2' | '3' | '6' | '7');
    let number = mode.len() >= 3 && mode.bytes().all(|byte| byte.is_ascii_digit());
    let to_others = mode.starts_with(['a', 'o', 'u', 'g', '+']) && !mode.starts_with("u+");
    let named = to_others
        && mode.split_once('+').is_some_and(|(who, what)| {
            (who.is_empty() || who.contains(['a', 'o'])) && what.contains('w')
        });
    (number && mode.ends_with(writes)) || named
}

fn base_name(word: &str) -> String {
    word.rsplit('/').next().unwrap_or(word).to_owned()
}
