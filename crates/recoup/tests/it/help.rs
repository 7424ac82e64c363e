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

    Set up:
      init         Hook recoup into the agents on this machine
      doctor       Look at everything that must work together, and say what is wrong and what to do
      uninstall    Take recoup out of the agents on this machine
      tour         Show the main job end to end, in a temporary home

    Never pay twice:
      exec         Run a command once, and replay it afterwards
      cache        Cache Manager: keep results, and get them back while they are true
      explain      Say why something is a hit or a miss
      stats        Tell what the cache was worth: hits, misses and why, time, tokens and dollars saved
      watch        Show hits and misses as they happen, in all processes
      condense     Condense: make a result or a report short enough to be read
      early-exit   Early Exit: the first agent to answer tells the others to stop

    Never say it twice:
      memory       See and change what is remembered
      pause        Remember nothing for a while
      resume       Remember again
      judge        See and try the model that helps to remember, if you want one to
      trust        Trust this repository's configuration and team rules

    For clients and agents:
      mcp          Serve memory and cache to agents, over MCP
      hook         Take in what a client tells, and answer it; clients call this
      key          Print a cache key, without touching any cache

    Reference:
      config       Show and check the configuration
      completions  Print a shell's completions
      man          Show a manual page, or write all of them

    Options:
      -h, --help     Print help
      -V, --version  Print version

    Exit codes: 0 success or a hit; 1 a miss, a refusal or a failure; 2 wrong usage or configuration.
    Others: exec, explain and early-exit have some of their own (see their help); hook always exits 0.

    `recoup help COMMAND` tells more about a command, `recoup config env` lists environment variables.
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
          --store <URL>    The store for entries [default: sqlite:~/.recoup/cache.db]
          --scope <SCOPE>  The scope that shares them: project, global, tenant:NAME or session:NAME
                           [default: project]
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
          --took <DURATION>           How long the work took, such as 850ms, 90s or 2m: a later hit has
                                      saved that
          --input-tokens <N>          How many tokens went in
          --output-tokens <N>         How many tokens came out
          --model <MODEL>             Which model it was: what its tokens cost is then looked up
          --dollars <X>               The cost in dollars
          --store <URL>               The store for entries [default: sqlite:~/.recoup/cache.db]
          --scope <SCOPE>             The scope that shares them: project, global, tenant:NAME or
                                      session:NAME [default: project]
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

    The same command is: the same program, found at the same path, with the same interpreter or wrapped
    program behind it and the same arguments, in the same directory of the project, with the same --env,
    --stdin, --source and --key-extra; and, for a client that has our hooks, with the same rules in
    memory. It is replayed only while these programs and its sources are unchanged.

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

          --no-auto-source
              Don't watch the files among the command's arguments; without this, they are sources by
              themselves

          --env <VAR>
              A variable that matters; may be given several times. Its value is only part of the key

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
              Accept nothing that was begun longer ago than this, whatever its own duration

          --stale-while-revalidate <DURATION>
              For how much longer it may be replayed while it is run again in the background

          --cache-failures <DURATION>
              Keep exit codes other than 0 too, for this long

          --wait <DURATION>
              How long to wait for another who runs the same at this moment [default: 5m]

          --tag <TAG>
              A word to find it by; may be given several times

      -v, --verbose
              Say on stderr whether it was a hit

          --explain
              Say on stderr why it is a hit or a miss

          --store <URL>
              The store for entries [default: sqlite:~/.recoup/cache.db]

          --scope <SCOPE>
              The scope that shares them: project, global, tenant:NAME or session:NAME [default:
              project]

      -h, --help
              Print help (see a summary with '-h')

    Examples:
      recoup exec --source 'src/**/*.rs' -- claude -p 'review src'
      git diff | recoup exec --stdin --ttl 7d --env MODEL -- my-agent review

    Files among the arguments, scripts and programs are watched by themselves. What else a command
    reads is yours to name with --source. With --source, worktrees and clones of a repository share
    what was run in the same directory if the contents agree; without, each checkout has its own.
    What is typed is not part of the key: a command that asks questions is not for this.
    If stdout and stderr go to one place (a terminal, 2>&1), their order is exact. If not, what is
    written to both at the same moment may change places when it is replayed into one. What was
    recorded as one stream is run again for a caller whose streams go to two places.
    What is remembered is part of it where the command is claude, codex or pi (by itself, or behind
    env, timeout, npx, sh -c and the like) with our hooks: another rule, and it runs again.

    Exit codes: the command's own, or its signal; 124 with --only-if-cached when there is nothing,
    125 when recoup itself fails (wrong usage included), 126 when the command can't be run, 127 when
    there is none. Exit codes other than 0, interrupted runs and output with secrets are not kept.
    ");
}

#[test]
fn stats_are_of_all_scopes_unless_one_is_named() {
    let text = help(&["stats", "--help"]);
    let options: Vec<&str> = text.split_whitespace().collect();
    let text = options.join(" ");
    assert!(text.contains("--all All scopes of the store: the default, unless --scope"), "{text}");
    assert!(text.contains("tenant:NAME or session:NAME [default: all]"), "{text}");
    assert!(!text.contains("[default: project]"), "{text}");
}

#[test]
fn trust_is_about_team_rules_too() {
    let text = help(&["trust", "-h"]);
    for flag in ["--list ", "--revoke "] {
        let line = text.lines().find(|line| line.contains(flag)).unwrap();
        assert!(line.contains("team"), "{line}");
    }
}

#[test]
fn the_doctor() {
    insta::assert_snapshot!(help(&["doctor", "--help"]), @"
    Look at everything that must work together, and say what is wrong and what to do

    Checks this program, what is kept, the configuration, permissions, the worker, and the hooks and MCP
    servers in the settings of clients: an event is fired through each hook as its client would, in a
    temporary home, and each server is greeted. Nothing is changed without --fix. Exits with 0 when
    nothing is broken, and with 1 when something is.

    Usage: recoup doctor [OPTIONS]

    Options:
          --fix
              Mend what can be mended: permissions, your own hooks whose program is gone, work that was
              left behind. No file is deleted, and none in a project is touched

          --json
              As a JSON object

          --bundle <FILE>
              Write a file for a bug report: versions, states, sizes and counts, and nothing that
              anybody said, typed or named

      -h, --help
              Print help (see a summary with '-h')
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
fn an_unknown_command_suggests_one() {
    let output = Home::new().run(&["cach"]).expect(2);
    assert_eq!(output.text(), "");
    assert!(!output.stderr.contains('\u{1b}'));
    insta::assert_snapshot!(output.stderr, @"
    error: unrecognized subcommand 'cach'

      tip: some similar subcommands exist: 'watch', 'cache'

    Usage: recoup <COMMAND>

    For more information, try '--help'.
    ");
}

#[test]
fn early_exit() {
    let text = help(&["early-exit", "--help"]);
    assert!(text.contains("Early Exit"));
    insta::assert_snapshot!(text, @"
    Early Exit: the first agent to answer tells the others to stop

    Usage: recoup early-exit [OPTIONS] <COMMAND>

    Commands:
      check         Ask whether to go on: exit 0 go on, 1 somebody has won
      signal        Win, unless somebody has: exit 0 won, 1 lost
      register      Note that an agent takes part
      write-result  Keep an agent's result, from a file or stdin
      read-winner   Print the winner's result; exit 1 while there is none
      poll          Wait for the winner's result, and print it
      status        Tell who takes part, who has won and who has a result; or list the sessions
      cleanup       Forget a session
      race          Run several commands, print what the first to succeed printed, end the others
      help          Print this message or the help of the given subcommand(s)

    Options:
          --store <URL>  `redis://HOST` for agents on several machines; any other store means this one
                         [default: sqlite:~/.recoup/cache.db]
      -h, --help         Print help

    Sessions and agents have names of 1 to 128 characters of A-Z a-z 0-9 . _ - (not . or ..). All who
    use the same store share the sessions; one in which nothing happens for 24 hours is forgotten.

    Exit codes: 0 yes, 1 no (for check: 0 go on, 1 stop), 2 wrong usage.
    ");
    insta::assert_snapshot!(help(&["early-exit", "race", "--help"]), @"
    Run several commands, print what the first to succeed printed, end the others

    Each command has a process group of its own and reads nothing. The first to exit with 0 wins: what
    it wrote is given out on stdout and stderr, and its stdout is kept as the session's result. The
    others get TERM, and KILL after a grace. When somebody else wins the session, on this machine or
    another, that result is printed instead. So a session is good for one race: in one that is won
    nothing is run, and the winner's answer is printed again. To race anew take another name, or
    `cleanup` the session first.

    Usage: recoup early-exit race [OPTIONS] <SESSION> -- <COMMAND>...

    Arguments:
      <SESSION>
              The session

      <COMMAND>...
              The commands, with --- between them

    Options:
          --timeout <DURATION>
              Give up after this time: 90s, 10m [default: never]

          --grace <DURATION>
              How long those who lose may take to end; forever: none is killed [default: 5s]

          --store <URL>
              `redis://HOST` for agents on several machines; any other store means this one [default:
              sqlite:~/.recoup/cache.db]

      -h, --help
              Print help (see a summary with '-h')

    Example:
      recoup early-exit race review -- claude -p 'review src' --- codex exec 'review src'

    Exit codes: 0 with the winner's output; 1 when all commands failed, with a line on each; 124 when
    the time was up; 125 when recoup itself fails; 2 wrong usage.
    ");
}

#[test]
fn hooking_in() {
    insta::assert_snapshot!(help(&["init", "--help"]), @"
    Hook recoup into the agents on this machine

    Finds Claude Code, Codex, Pi, Cursor, Windsurf, VS Code, Zed, Gemini CLI and opencode, and sets up
    hooks (where there are any) and the MCP server for each. Shows what would change, asks, keeps a copy
    of every file, and leaves everything else in it as it is. A second time nothing changes; an older
    version's entries are brought up to date. `recoup uninstall` takes it all out again.

    Usage: recoup init [OPTIONS]

    Options:
          --client <NAME>
              Only this client, be it found or not; may be given several times. `mcp` prints the
              configuration for any other

          --user
              For everything that you do (the default)

          --project
              For this project alone

      -y, --yes
              Do not ask

      -n, --dry-run
              Only show what would change

          --json
              As JSON

          --program <PATH>
              The program that clients start [default: where this one is found on the PATH]

          --replace-peers
              Take out claude-recall and claude-mem, which would remember everything a second time

          --judge <yes|no>
              May a model read what you said that may be worth remembering, without secrets

          --sync-rules <yes|no>
              Write the top rules into Claude Code's own memory, too

          --skills <off|user|project>
              Make skills of three or more memories on one topic, in your own folder or the project's

          --record-rules <yes|no>
              May agents record rules on your behalf, in clients without hooks (cursor, windsurf,
              vscode, zed, gemini, opencode)

      -h, --help
              Print help (see a summary with '-h')

    Clients: claude-code, codex, pi, cursor, windsurf, vscode, zed, gemini, opencode, mcp.

    What is for one project goes into files of yours alone where the client has such (Claude Code:
    .claude/settings.local.json, which is kept out of git). Where it has none, the file is for everybody
    who works there, and says `recoup` without a path.
    ");
    insta::assert_snapshot!(help(&["uninstall", "--help"]), @"
    Take recoup out of the agents on this machine

    Takes out exactly what `recoup init` put in: a file that nobody else has changed since is as it was
    before, to the byte; in any other only our entries go. What is remembered and kept stays in
    ~/.recoup, unless you say --purge.

    Usage: recoup uninstall [OPTIONS]

    Options:
          --client <NAME>
              Only out of this client; may be given several times

          --user
              Only what is for everything that you do

          --project
              Only what is for this project

          --purge
              Delete what is remembered and kept as well, for good

      -y, --yes
              Do not ask

      -n, --dry-run
              Only show what would change

          --json
              As JSON

      -h, --help
              Print help (see a summary with '-h')
    ");
}

#[test]
fn trust_explains_what_is_asked() {
    let text = help(&["trust", "--help"]);
    for words in ["recoup-rules.md", "claims to be a clone of a project"] {
        assert!(text.contains(words), "{words}: {text}");
    }
}
