//! Help, as a person reads it, and the other things that are said without any
//! work being done.

use crate::support::{Home, finish};

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
      init         Set up recoup for the agents on this machine
      learn        Find what you told agents before, and keep it as rules
      import       Import what other programs keep: memories, results and rule files
      doctor       Check the installation, and report problems and their remedies
      uninstall    Remove recoup from the agents on this machine
      tour         Show how recoup works, step by step, in a temporary home

    Never pay twice:
      exec         Run a command once, and replay it afterwards
      run          Run an agent file, with cached answers
      agents       List, check and show agent files
      gateway      Serve model APIs with cached answers
      cassette     Show, check and prune recorded exchanges
      cache        Cache Manager: store results, and get them back while valid
      suggest      Show what is paid for again and again, and how to save it
      replay       Print the kept output of an agent's command
      explain      Explain why something is a hit or a miss
      stats        Show what the cache saved: time, tokens, dollars
      waste        Show what was paid for twice, by the transcripts of clients
      watch        Show hits and misses as they happen, in all processes
      condense     Condense: shorten a result or a report
      early-exit   Early Exit: the first agent to answer tells the others to stop

    Never say it twice:
      memory       Show and change what is remembered
      pause        Pause memory: remember nothing new
      resume       Resume memory after a pause
      judge        Show and test the optional model that helps to recognize rules
      trust        Trust this repository's configuration, agent files and team rules

    For clients and agents:
      mcp          Serve memory and cache to agents, over MCP
      hook         Process an event of a client; called by clients
      key          Print a cache key, without touching any cache

    Reference:
      config       Show and check the configuration
      completions  Print completions for a shell
      man          Show a manual page, or write all of them

    Options:
      -h, --help     Print help
      -V, --version  Print version

    Exit codes: 0 success or a hit; 1 a miss, a refusal or a failure; 2 wrong usage or configuration.
    exec, explain and early-exit have additional codes (see their help); hook always exits with 0.

    `recoup help COMMAND` explains a command; `recoup config env` lists environment variables.
    ");
}

#[test]
fn the_cache() {
    let text = help(&["cache", "--help"]);
    assert!(text.contains("Cache Manager"));
    insta::assert_snapshot!(text, @"
    Cache Manager: store results, and get them back while valid

    Usage: recoup cache [OPTIONS] <COMMAND>

    Commands:
      generate-key  Print the key for paths, query and operation
      get           Print a result that is still valid; exit 1 on a miss
      set           Store a result
      delete        Delete one result
      invalidate    Delete results by source file, tag or operation
      cleanup       Delete expired entries, then the least recently used until under the limit
      ls            List entries
      show          Show everything about an entry except its body
      stats         Show the size and the hit rate of this scope
      verify        Check all entries in this scope for damage
      clear         Delete all entries in this scope
      help          Print this message or the help of the given subcommand(s)

    Options:
          --store <URL>    The store of the entries [default: sqlite:~/.recoup/cache.db]
          --scope <SCOPE>  The scope of the entries: project, global, tenant:NAME or session:NAME
                           [default: project]
      -h, --help           Print help
    ");
}

#[test]
fn keeping_a_result() {
    insta::assert_snapshot!(help(&["cache", "set", "--help"]), @"
    Store a result

    Usage: recoup cache set [OPTIONS] <--condensed <JSON|-|@FILE>|--condense <STRATEGY>>

    Options:
          --key <KEY>                 The entry's key
          --paths <CSV>               Instead of --key, all three together: the paths that were looked
                                      at, separated by commas
          --query <TEXT>              Instead of --key, all three together: the question
          --operation <NAME>          Instead of --key, all three together: the skill or operation
          --condensed <JSON|-|@FILE>  The result, which must be JSON: given here, from stdin (-) or from
                                      a file (@FILE)
          --condense <STRATEGY>       Instead of --condensed: condense the full result, with this
                                      strategy of `recoup condense`
          --sources <CSV>             The files, directories and globs that the result depends on,
                                      separated by commas: when one changes, `get` is a miss
          --full <FILE>               A file with the full result, of which --condensed is the short
                                      form; `show --full` prints it
          --ttl <DURATION>            How long the result stays valid: 30m, 12h, 7d, forever, off
                                      [default: 30d, or cache.ttl of the configuration]
          --since <TOKEN>             The token from the `get` that missed: nothing is stored if the
                                      sources have changed since
          --synthesize <MSG>          Also append this message, with the date, to the notes file
                                      (cache.notes of the configuration)
          --tag <TAG>                 A tag to find the entry by; may be given several times
          --took <DURATION>           How long the work took, such as 850ms, 90s or 2m: the time that
                                      each later hit saves
          --input-tokens <N>          Number of input tokens
          --output-tokens <N>         Number of output tokens
          --model <MODEL>             The model, to compute the cost from the tokens
          --dollars <X>               The cost in dollars
          --store <URL>               The store of the entries [default: sqlite:~/.recoup/cache.db]
          --scope <SCOPE>             The scope of the entries: project, global, tenant:NAME or
                                      session:NAME [default: project]
      -h, --help                      Print help
    ");
}

#[test]
fn an_entry_that_exists_may_be_abbreviated() {
    let abbreviated = "--key <KEY> The entry's key, or at least the first 8 characters";
    for command in [&["cache", "get"][..], &["cache", "delete"], &["explain"]] {
        let text = help(&[command, &["--help"]].concat());
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(abbreviated), "{text}");
    }
}

#[test]
fn memory_says_where_nothing_is_asked() {
    for command in ["forget", "export"] {
        let text = help(&["memory", command, "--help"]);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("confirmation; without a terminal nothing is asked"), "{text}");
    }
}

/// On a terminal of 80 columns, paragraphs are wrapped once and commands have a line each.
#[test]
fn help_fits_a_narrow_terminal() {
    let home = Home::new();
    for args in [&["--help"][..], &["exec", "--help"], &["explain", "-h"], &["init", "--help"]] {
        let output = finish(home.command(args).env("COLUMNS", "80")).expect(0);
        let text = output.text();
        let (_, after) = text.rsplit_once("\n\n").unwrap();
        let lines: Vec<&str> = after.lines().collect();
        let (_, wrapped) = lines.split_last().unwrap();
        assert!(wrapped.iter().all(|line| (60..=80).contains(&line.len())), "{after}");
        let examples = |line: &&str| line.starts_with("  recoup ") || line.starts_with("  git ");
        let mut others = text.lines().filter(|line| !examples(line));
        assert!(others.all(|line| line.chars().count() <= 80), "{text}");
    }
}

#[test]
fn running_a_command() {
    insta::assert_snapshot!(help(&["exec", "--help"]), @"
    Run a command once, and replay it afterwards

    The first time, the command runs, and its output passes through as it comes. Afterwards the same
    bytes are replayed on stdout and stderr, with the same exit code, until the TTL expires or a source
    changes.

    The same command means: the same program, found at the same path, with the same interpreter or
    wrapped program and the same arguments, in the same directory of the project, with the same --env,
    --stdin, --source and --key-extra; and, for a client that has recoup's hooks, with the same rules in
    memory. It is replayed only while these programs and its sources are unchanged.

    Usage: recoup exec [OPTIONS] <COMMAND>...

    Arguments:
      <COMMAND>...
              The command and its arguments

    Options:
          --ttl <DURATION>
              How long the output may be replayed: 30m, 12h, 7d, forever, off [default: 1d]

          --source <GLOB>
              A file, directory or glob that the command reads: when it changes, the command runs again;
              may be given several times

          --no-auto-source
              Don't watch files among the command's arguments; without this, they are sources
              automatically

          --env <VAR>
              An environment variable that affects the output; may be given several times. Its value
              becomes part of the key and is not stored

          --stdin
              Read all of stdin first, make it part of the key, and pass it to the command. Without
              this, the command gets stdin only if it is a terminal

          --key-extra <TEXT>
              Additional text for the key, such as a version

          --tty
              Run the command in a terminal; its stdout and stderr become one stream, on stdout

          --refresh
              Always run the command, and store the result

          --no-cache
              Always run the command, and store nothing

          --only-if-cached
              Never run the command: exit 124 if there is nothing to replay

          --max-age <DURATION>
              Accept no output that is older than this, whatever its TTL

          --stale-while-revalidate <DURATION>
              How long after the TTL the output may still be replayed while the command is run again in
              the background

          --cache-failures <DURATION>
              Also store runs with exit codes other than 0, for this long

          --wait <DURATION>
              How long to wait for another process that is running the same command [default: 5m]

          --tag <TAG>
              A tag to find the entry by; may be given several times

      -v, --verbose
              Report on stderr whether it was a hit

          --explain
              Explain on stderr why it is a hit or a miss

          --store <URL>
              The store of the entries [default: sqlite:~/.recoup/cache.db]

          --scope <SCOPE>
              The scope of the entries: project, global, tenant:NAME or session:NAME [default: project]

      -h, --help
              Print help (see a summary with '-h')

    Examples:
      recoup exec --source 'src/**/*.rs' -- claude -p 'review src'
      git diff | recoup exec --stdin --ttl 7d --env MODEL -- my-agent review

    Files among the arguments, scripts and programs are watched automatically. Name everything else that
    the command reads with --source. With --source, worktrees and clones of a repository share entries
    for the same directory if the contents agree; without, each checkout has its own.
    Do not use it for commands that ask questions: typed input is not part of the key.
    If stdout and stderr go to one place (a terminal, 2>&1), their order is exact. If not, output that
    is written to both at the same moment may change places when it is replayed into one. Output
    recorded as one stream is not replayed to separate streams: the command runs again.
    For claude, codex and pi with recoup's hooks (also behind env, timeout, npx, sh -c and the like),
    the remembered rules are part of the key: when a rule changes, the command runs again.

    Exit codes: the command's own, or its signal; 124 with --only-if-cached if there is no entry, 125 if
    recoup itself fails (wrong usage included), 126 if the command cannot be run, 127 if it is not
    found. Exit codes other than 0, interrupted runs and output with secrets are not stored.
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
    Check the installation, and report problems and their remedies

    Checks this program, its databases, the configuration, permissions, the worker, and the hooks and
    MCP servers in the settings of clients: each hook is run with an event as its client would, in a
    temporary home, and each server is started. Nothing is changed without --fix. Exits with 0 if
    nothing is broken, and with 1 if something is.

    Usage: recoup doctor [OPTIONS]

    Options:
          --fix
              Repair what can be repaired: permissions, your own hooks whose program is missing,
              unfinished work. Deletes no files, and changes none in a project

          --json
              As a JSON object

          --bundle <FILE>
              Write a file for a bug report: versions, states, sizes and counts, but no text, commands
              or names of yours

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
      check         Check whether to go on: exit 0 go on, 1 an agent has won
      signal        Try to win the session: exit 0 won, 1 lost
      register      Register an agent in a session
      write-result  Store an agent's result, from a file or stdin
      read-winner   Print the winner's result; exit 1 while there is none
      poll          Wait for the winner's result, and print it
      status        Show the agents, the winner and the results of a session; or list all sessions
      cleanup       Delete a session
      race          Run several commands, print the output of the first that succeeds, stop the others
      help          Print this message or the help of the given subcommand(s)

    Options:
          --store <URL>  `redis://HOST` for agents on several machines; any other store is local to this
                         machine [default: sqlite:~/.recoup/cache.db]
      -h, --help         Print help

    Names of sessions and agents have 1 to 128 characters of A-Z a-z 0-9 . _ - (not . or ..). All users
    of a store share its sessions. A session is deleted after 24 hours without activity.

    Exit codes: 0 yes, 1 no (for check: 0 go on, 1 stop), 2 wrong usage.
    ");
    insta::assert_snapshot!(help(&["early-exit", "race", "--help"]), @"
    Run several commands, print the output of the first that succeeds, stop the others

    Each command runs in its own process group, with empty stdin. The first to exit with 0 wins: its
    output is printed on stdout and stderr, and its stdout is stored as the session's result. The others
    get SIGTERM, and SIGKILL after a grace period. If another process wins the session, on this machine
    or another, its result is printed instead. A session is good for one race: if it is already won,
    nothing is run, and the winner's result is printed again. To race again, use another name, or
    `cleanup` the session first.

    Usage: recoup early-exit race [OPTIONS] <SESSION> -- <COMMAND>...

    Arguments:
      <SESSION>
              The session

      <COMMAND>...
              The commands, separated by ---

    Options:
          --timeout <DURATION>
              Give up after this time: 90s, 10m [default: never]

          --grace <DURATION>
              How long the losers may take to exit before they are killed; forever: never kill [default:
              5s]

          --store <URL>
              `redis://HOST` for agents on several machines; any other store is local to this machine
              [default: sqlite:~/.recoup/cache.db]

      -h, --help
              Print help (see a summary with '-h')

    Example:
      recoup early-exit race review -- claude -p 'review src' --- codex exec 'review src'

    Exit codes: 0 with the winner's output; 1 when all commands failed, with a line for each; 124 on
    timeout; 125 when recoup itself fails; 2 wrong usage.
    ");
}

#[test]
fn hooking_in() {
    insta::assert_snapshot!(help(&["init", "--help"]), @"
    Set up recoup for the agents on this machine

    Finds Claude Code, Codex, Pi, Qwen Code, Copilot CLI, Factory Droid, Kimi Code, Gemini CLI, Cursor,
    Windsurf, VS Code, Zed and opencode, and sets up hooks (where there are any) and the MCP server for
    each. Says what it found, asks for confirmation (`d` shows every change), keeps a copy of every
    file, and leaves everything else in it as it is. Running it again changes nothing; entries of an
    older version are updated. `recoup uninstall` removes everything again.

    Usage: recoup init [OPTIONS]

    Options:
          --client <NAME>
              Only this client, whether or not it was found; may be given several times. `mcp` prints
              the configuration for any other MCP client

          --user
              In all projects (the default)

          --project
              Only in this project

      -y, --yes
              Do not ask for confirmation

      -n, --dry-run
              Only show what would change

          --json
              As JSON

          --diff
              Show every change in full, as --dry-run does

          --program <PATH>
              The recoup executable that clients start [default: the one on the PATH]

          --replace-peers
              Remove claude-recall and claude-mem, which would remember everything a second time

          --judge <yes|no>
              Let a model read statements of yours that may be worth remembering, without secrets

          --sync-rules <yes|no>
              Write the top rules into Claude Code's own memory, too

          --skills <off|user|project>
              Turn three or more memories on one topic into a skill, in your own folder or the project's

          --record-rules <yes|no>
              Let agents record rules on your behalf, in clients without hooks (cursor, windsurf,
              vscode, zed, opencode)

      -h, --help
              Print help (see a summary with '-h')

    Clients: claude-code, codex, pi, qwen, copilot, droid, kimi, gemini, cursor, windsurf, vscode, zed,
    opencode, mcp.

    With --project, changes go into personal files if the client has them (Claude Code:
    .claude/settings.local.json, which is kept out of git). If not, the file is shared by everybody who
    works in the project, and names `recoup` without a path.
    ");
    insta::assert_snapshot!(help(&["uninstall", "--help"]), @"
    Remove recoup from the agents on this machine

    Removes exactly what `recoup init` added: a file that has not changed since is restored byte for
    byte; from any other, only recoup's entries are removed. Memories and cached results stay in
    ~/.recoup, unless you use --purge.

    Usage: recoup uninstall [OPTIONS]

    Options:
          --client <NAME>
              Only from this client; may be given several times

          --user
              Only the set-up for all projects

          --project
              Only the set-up for this project

          --purge
              Also delete all memories and cached results, permanently

      -y, --yes
              Do not ask for confirmation

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
