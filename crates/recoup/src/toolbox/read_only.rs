//! Safeguards of `readOnlyTools`: read-only does not mean that a result stays true. Tools that tell
//! the time or something random are left out, and tools that read files or version control need
//! sources.

/// A word by which a tool is recognized, with a proof.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReadOnlySafeguard {
    pub(crate) word: &'static str,
    pub(crate) concern: ReadOnlyConcern,
    /// A tool's name, or the name of its property, that must match: a proof, for the test.
    #[cfg_attr(not(test), expect(dead_code, reason = "the test reads it"))]
    pub(crate) caught: &'static str,
    /// A similar one that must not.
    #[cfg_attr(not(test), expect(dead_code, reason = "the test reads it"))]
    pub(crate) spared: &'static str,
}

/// Why a read-only tool is not cached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadOnlyConcern {
    /// By a word in its name: a clock or randomness.
    ClockOrChance,
    /// By a word in its name: files or version control.
    FilesByName,
    /// By the last word of a property: files or version control.
    FilesByProperty,
}

const fn clock(
    word: &'static str,
    caught: &'static str,
    spared: &'static str,
) -> ReadOnlySafeguard {
    ReadOnlySafeguard { word, concern: ReadOnlyConcern::ClockOrChance, caught, spared }
}

const fn files(
    word: &'static str,
    caught: &'static str,
    spared: &'static str,
) -> ReadOnlySafeguard {
    ReadOnlySafeguard { word, concern: ReadOnlyConcern::FilesByName, caught, spared }
}

const fn property(
    word: &'static str,
    caught: &'static str,
    spared: &'static str,
) -> ReadOnlySafeguard {
    ReadOnlySafeguard { word, concern: ReadOnlyConcern::FilesByProperty, caught, spared }
}

/// The shipped list. `neverCache` extends it.
pub(crate) static READ_ONLY_SAFEGUARDS: [ReadOnlySafeguard; 75] = [
    clock("time", "get_current_time", "list_timers"),
    clock("clock", "world-clock", "clockwise"),
    clock("date", "getDate", "find_updates"),
    clock("datetime", "current_datetime", "dated"),
    clock("timestamp", "unix_timestamp", "stamps"),
    clock("timezone", "get_timezone", "zones"),
    clock("now", "now", "get_known_issues"),
    clock("today", "today", "todo_list"),
    clock("day", "day_of_week", "birthdays"),
    clock("uptime", "server.uptime", "upstream"),
    clock("elapsed", "elapsed", "lapse"),
    clock("countdown", "countdown", "count_downloads"),
    clock("random", "random_number", "randomized_trials"),
    clock("rand", "rand", "brand_info"),
    clock("uuid", "generateUuid", "uuids_of_user"),
    clock("guid", "new-guid", "guide"),
    clock("ulid", "make_ulid", "bulid"),
    clock("nonce", "nonce", "announce"),
    clock("token", "new_token", "tokenize"),
    clock("otp", "get_otp", "options"),
    clock("totp", "totp", "total"),
    clock("dice", "roll_dice", "indices"),
    clock("coin", "flip_coin", "coincidence"),
    clock("shuffle", "shuffle", "shuffled_decks"),
    clock("weather", "get_weather", "weathering"),
    clock("price", "stock_price", "pricelist"),
    clock("ping", "ping", "shipping"),
    clock("health", "health", "healthcare"),
    clock("env", "get-env", "envelope"),
    clock("sampling", "trigger-sampling-request", "resampled"),
    clock("llm", "sample-llm", "llms_txt"),
    clock("wait", "browser_wait_for", "waiters"),
    clock("sleep", "sleep", "asleep"),
    clock("snapshot", "browser_snapshot", "snapshots_of_market"),
    clock("process", "get_process", "processor_info"),
    clock("processes", "listProcesses", "processed_orders"),
    files("file", "read_text_file", "profile"),
    files("files", "searchFiles", "profiles"),
    files("directory", "list_directory", "directors"),
    files("directories", "list_allowed_directories", "directors_of"),
    files("dir", "list_dir", "direct_search"),
    files("folder", "open-folder", "holder"),
    files("workspace", "workspace_symbols", "spaces"),
    files("tree", "tree", "street_view"),
    files("glob", "glob", "global_search"),
    files("grep", "grep", "regression"),
    files("git", "git_status", "digital_search"),
    files("diff", "diff_unstaged", "difficulty"),
    files("commit", "show_commit", "committee"),
    files("commits", "list_commits", "committees"),
    files("branch", "current_branch", "branching_factor"),
    files("branches", "list_branches", "brunches"),
    files("blame", "blame", "blameless"),
    files("stash", "stash_list", "mustache"),
    files("repo", "repo_log", "report"),
    files("log", "show_log", "catalog"),
    files("logs", "get-logs", "blogs"),
    files("status", "getStatus", "statuses"),
    files("diagnostics", "get_diagnostics", "diagnosis"),
    files("ls", "ls", "also"),
    files("cat", "cat", "categories"),
    files("find", "find", "findings"),
    files("pwd", "pwd", "pwds"),
    files("svn", "svn_info", "svnx"),
    files("hg", "hg_summary", "high"),
    property("path", "repo_path", "pathology"),
    property("paths", "sourcePaths", "path_count"),
    property("file", "file", "profile"),
    property("files", "files", "files_limit"),
    property("filename", "filename", "rename"),
    property("filepath", "filepath", "filepath_style"),
    property("dir", "dir", "direction"),
    property("directory", "directory", "directory_depth"),
    property("folder", "folder", "folder_color"),
    property("cwd", "cwd", "cwd_mode"),
];

/// True if the name of a tool says that it tells the time, something random or a passing state.
pub(super) fn tells_clock_or_chance(tool: &str) -> bool {
    has_concern(ReadOnlyConcern::ClockOrChance, &words(tool))
}

/// True if a tool reads files or version control, by its name or its properties.
pub(super) fn reads_files(tool: &str, properties: &[String]) -> bool {
    let last = |property: &String| words(property).pop().into_iter().collect::<Vec<_>>();
    has_concern(ReadOnlyConcern::FilesByName, &words(tool))
        || properties.iter().any(|it| has_concern(ReadOnlyConcern::FilesByProperty, &last(it)))
}

/// The properties that hold paths, as far as a template can name them.
pub(super) fn file_properties(properties: &[String]) -> Vec<String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let named = properties.iter().filter(|name| name.chars().all(is_name));
    named.filter(|name| reads_files("", std::slice::from_ref(name))).cloned().collect()
}

/// States that a tool reads by its name, beside the files among its arguments: of a repository, or of
/// a directory that it lists.
pub(super) fn named_states(tool: &str) -> &'static [&'static str] {
    const GIT: [&str; 8] =
        ["git", "diff", "commit", "commits", "branch", "branches", "blame", "stash"];
    const TREE: [&str; 4] = ["tree", "find", "glob", "search"];
    const LIST: [&str; 5] = ["directory", "directories", "dir", "folder", "ls"];
    let words = words(tool);
    let has = |any: &[&str]| words.iter().any(|word| any.contains(&word.as_str()));
    if has(&GIT) {
        &["git:HEAD", "git:index"]
    } else if has(&TREE) {
        &["dir:tree"]
    } else if has(&LIST) {
        &["dir:list"]
    } else {
        &[]
    }
}

fn has_concern(concern: ReadOnlyConcern, words: &[String]) -> bool {
    let mut rows = READ_ONLY_SAFEGUARDS.iter().filter(|row| row.concern == concern);
    rows.any(|row| words.iter().any(|word| word == row.word))
}

/// The words of `snake_case`, `kebab-case`, `camelCase` and `UPPERCase`, in lower case. A single small
/// letter behind capitals belongs to what follows: `UUIDv4`.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let chars: Vec<char> = name.chars().collect();
    for (at, c) in chars.iter().enumerate() {
        let is = |at: Option<usize>, kind: fn(char) -> bool| {
            at.and_then(|at| chars.get(at)).is_some_and(|c| kind(*c))
        };
        let (before, next, later) = (at.checked_sub(1), Some(at + 1), Some(at + 2));
        let after_capital = is(before, char::is_uppercase);
        let begins = if c.is_uppercase() {
            let after_small = is(before, |c| c.is_lowercase() || c.is_numeric());
            after_small
                || after_capital && is(next, char::is_lowercase) && is(later, char::is_lowercase)
        } else {
            let after_capitals = after_capital && is(at.checked_sub(2), char::is_uppercase);
            c.is_lowercase() && after_capitals && !is(next, char::is_lowercase)
        };
        if begins || !c.is_alphanumeric() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_into_words() {
        for (name, expected) in [
            ("getUTCTime", "get utc time"),
            ("UUIDv4", "uuid v4"),
            ("getURLs", "get url s"),
            ("HTTPServer2Log", "http server2 log"),
            ("getATime", "get a time"),
            ("read_textFile", "read text file"),
            ("NOW", "now"),
        ] {
            assert_eq!(words(name).join(" "), expected, "{name}");
        }
        assert!(tells_clock_or_chance("getUTCTime") && tells_clock_or_chance("UUIDv4"));
    }

    #[test]
    fn each_safeguard_catches_its_example_and_spares_the_other() {
        for ReadOnlySafeguard { word, concern, caught, spared } in READ_ONLY_SAFEGUARDS {
            let is_caught = |name: &str| match concern {
                ReadOnlyConcern::ClockOrChance => tells_clock_or_chance(name),
                ReadOnlyConcern::FilesByName => reads_files(name, &[]),
                ReadOnlyConcern::FilesByProperty => reads_files("search", &[name.to_owned()]),
            };
            assert!(is_caught(caught), "{word}: {caught}");
            assert!(words(caught).iter().any(|it| it == word), "{word}: {caught}");
            assert!(!is_caught(spared), "{word}: {spared}");
        }
    }
}
