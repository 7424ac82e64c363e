//! Help, as a person reads it, and the other things that are said without any
//! work being done.

use crate::support::Home;

fn help(args: &[&str]) -> String {
    let home = Home::new();
    let output = home.run(args).expect(0);
    assert_eq!(output.stderr, "");
    assert!(!output.text().contains('\u{1b}'), "no colours in a pipe");
    assert!(!home.recoup().exists());
    output.text()
}

#[test]
fn the_program() {
    insta::assert_snapshot!(help(&["--help"]), @"
    Never pay twice, never say it twice: a durable cache and memory for AI agents

    Usage: recoup <COMMAND>

    Commands:
      exec         Run a command once, and replay it afterwards
      cache        Cache Manager: keep results, and get them back while they are true
      condense     Condense: make a result or a report short enough to be read
      config       Show and check the configuration
      key          Print a cache key, without touching any cache
      trust        Let this repository's files say where entries are kept
      completions  Print a shell's completions
      man          Print a manual page, or write all of them
      tour         Show the main job end to end, in a temporary home
      help         Print this message or the help of the given subcommand(s)

    Options:
      -h, --help     Print help
      -V, --version  Print version

    Environment:
      RECOUP_HOME              where recoup keeps its files (default: ~/.recoup)
      RECOUP_STORE             where entries are kept (default: sqlite:~/.recoup/cache.db)
      RECOUP_SCOPE             who shares them (default: project)
      RECOUP_CACHE_ENABLED     false: nothing is kept, and nothing given out
      RECOUP_CACHE_MAX_SIZE_MB how much is kept, in MB (default: 100)
      RECOUP_CACHE_MAX_ENTRIES how many entries are kept (default: no limit)
      RECOUP_CACHE_TTL         how long results are kept (default: 30d)
      RECOUP_CACHE_FRESHNESS   what counts as a change: mtime or content (default: mtime)
      RECOUP_CACHE_NOTES       the file that `cache set --synthesize` appends to
      RECOUP_NEAR_STORE        a store of this machine's own in front of a shared one
      RECOUP_NEAR_TTL          for how long that one answers alone (default: 30s)
      LOA_CACHE_ENABLED        as RECOUP_CACHE_ENABLED, which wins
      LOA_CACHE_MAX_SIZE_MB    as RECOUP_CACHE_MAX_SIZE_MB, which wins
      LOA_CACHE_TTL_DAYS       as RECOUP_CACHE_TTL, which wins, in days
      HOME                     the user's home directory
      NO_COLOR                 when set, output has no colours
    ");
}

#[test]
fn the_cache() {
    let text = help(&["cache", "--help"]);
    assert!(text.contains("Cache Manager"));
    insta::assert_snapshot!(text, @"
    Cache Manager: keep results, and get them back while they are true

    Usage: recoup cache [OPTIONS] <COMMAND>

    Commands:
      generate-key  Print the key for paths, query and operation
      get           Print a result that is still true; exit 1 on a miss
      set           Keep a result
      delete        Forget one result
      invalidate    Forget the results of certain files, tags or operations
      cleanup       Delete what has expired, then the least recently used until under the limit
      ls            List what is kept
      show          Tell everything about one entry but its body
      stats         Tell what this scope holds, and how often it was of use
      verify        Read everything in this scope and check it
      clear         Forget everything in this scope
      help          Print this message or the help of the given subcommand(s)

    Options:
          --store <URL>    Where entries are kept [default: sqlite:~/.recoup/cache.db]
          --scope <SCOPE>  Who shares them: project, global, tenant:NAME or session:NAME [default:
                           project]
      -h, --help           Print help
    ");
}

#[test]
fn keeping_a_result() {
    insta::assert_snapshot!(help(&["cache", "set", "--help"]), @"
    Keep a result

    Usage: recoup cache set [OPTIONS] <--condensed <JSON|-|@FILE>|--condense <STRATEGY>>

    Options:
          --key <KEY>                 The entry's key
          --paths <CSV>               In place of the key: what was looked at, separated by commas
          --query <TEXT>              In place of the key: what was asked
          --operation <NAME>          In place of the key: the skill or operation
          --condensed <JSON|-|@FILE>  The result, which must be JSON: as it is, from stdin, or from a
                                      file
          --condense <STRATEGY>       In place of --condensed: make it from the full result, with this
                                      strategy of `recoup condense`
          --sources <CSV>             The files, directories and globs it was made from, separated by
                                      commas: when one changes, the result is no longer given out
          --full <FILE>               A file with the full result, of which --condensed is the short
                                      form; `show --full` prints it
          --ttl <DURATION>            How long it is good for: 30m, 12h, 7d, forever, off [default: 30d,
                                      or cache.ttl of the configuration]
          --since <TOKEN>             The token of the `get` that missed: nothing is kept if the sources
                                      have changed since
          --synthesize <MSG>          Also write this down, as a dated row in the notes file
                                      (cache.notes of the configuration)
          --tag <TAG>                 A word to find it by; may be given several times
          --store <URL>               Where entries are kept [default: sqlite:~/.recoup/cache.db]
          --scope <SCOPE>             Who shares them: project, global, tenant:NAME or session:NAME
                                      [default: project]
      -h, --help                      Print help
    ");
}

#[test]
fn running_a_command() {
    insta::assert_snapshot!(help(&["exec", "--help"]), @"
    Run a command once, and replay it afterwards

    The first time the command runs, and what it writes passes through as it comes. Afterwards the same
    bytes are given out again on stdout and stderr, with the same exit code, until the time is up or a
    source changes.

    The same command is: the same executable (path, size, time of change) with the same arguments in the
    same directory of the project, with the same --env, --stdin, --source and --key-extra.

    Usage: recoup exec [OPTIONS] <COMMAND>...

    Arguments:
      <COMMAND>...
              The command and its arguments

    Options:
          --ttl <DURATION>
              How long it is good for: 30m, 12h, 7d, forever, off [default: 1d]

          --source <GLOB>
              A file, directory or glob that the command reads: when one changes, it runs again; may be
              given several times

          --env <VAR>
              A variable that matters; may be given several times. Its value is never stored

          --stdin
              Read stdin to its end first: it matters, and the command gets it. Without this, only a
              terminal is passed on

          --key-extra <TEXT>
              Anything else that matters, such as a version

          --tty
              Give the command a terminal; what it writes is then one stream, on stdout

          --refresh
              Run it in any case, and keep the result

          --no-cache
              Run it in any case, and keep nothing

          --only-if-cached
              Never run it: exit 124 when there is nothing to replay

          --max-age <DURATION>
              Accept nothing older than this, whatever its own duration

          --stale-while-revalidate <DURATION>
              For how much longer it may be replayed while it is run again in the background

          --cache-failures <DURATION>
              Keep exit codes other than 0 too, for this long

          --tag <TAG>
              A word to find it by; may be given several times

      -v, --verbose
              Say on stderr whether it was a hit

          --store <URL>
              Where entries are kept [default: sqlite:~/.recoup/cache.db]

          --scope <SCOPE>
              Who shares them: project, global, tenant:NAME or session:NAME [default: project]

      -h, --help
              Print help (see a summary with '-h')

    Examples:
      recoup exec --source 'src/**/*.rs' -- claude -p 'review src'
      git diff | recoup exec --stdin --ttl 7d --env MODEL -- my-agent review

    Exit codes: the command's own, or its signal; 124 with --only-if-cached when there is nothing,
    125 when recoup itself fails (wrong usage included), 126 when the command can't be run, 127 when
    there is none. Exit codes other than 0, interrupted runs and output with secrets are not kept.
    ");
}

#[test]
fn every_command_has_help() {
    for command in ["generate-key", "get", "set", "delete", "ls", "show", "clear"] {
        assert!(help(&["cache", command, "--help"]).contains("Usage: recoup cache"));
    }
    for command in ["result", "agent-run", "canonical"] {
        assert!(help(&["key", command, "--help"]).contains("Usage: recoup key"));
    }
}

#[test]
fn the_version() {
    assert_eq!(help(&["--version"]), format!("recoup {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn without_a_command_help_is_wrong_usage() {
    let output = Home::new().run::<&str>(&[]).expect(2);
    assert_eq!(output.text(), "");
    assert!(output.stderr.contains("Usage: recoup <COMMAND>"), "{}", output.stderr);
}

#[test]
fn an_unknown_command_suggests_one() {
    let output = Home::new().run(&["cach"]).expect(2);
    assert_eq!(output.text(), "");
    assert!(!output.stderr.contains('\u{1b}'));
    insta::assert_snapshot!(output.stderr, @"
    error: unrecognized subcommand 'cach'

      tip: a similar subcommand exists: 'cache'

    Usage: recoup <COMMAND>

    For more information, try '--help'.
    ");
}
