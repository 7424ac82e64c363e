//! `recoup condense`, and `recoup cache set --condense`, as scripts use them.

mod output;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use crate::support::{Home, Output};

const RESULT: &str = r#"{"verdict": "FAIL", "findings": [{"id": "F1", "severity": "high", "file": "src/a.rs", "line": 3, "message": "not checked before use, which is long enough to be worth a note"}], "score": 0.5, "notes": "and much more that nobody has to read, because whoever asked wants to know how it went, and where to look; the rest is in the full result"}"#;

fn condense(home: &Home, args: &[&str]) -> Output {
    home.run(&[&["condense"], args].concat())
}

#[test]
fn help_names_it_as_people_know_it() {
    let output = condense(&Home::new(), &["--help"]).expect(0);
    insta::assert_snapshot!(output.text(), @"
    Condense: shorten a result or a report

    Usage: recoup condense [OPTIONS] --input <FILE|->
           recoup condense <COMMAND>

    Commands:
      strategies  List the strategies
      estimate    Show how many tokens each strategy would save
      help        Print this message or the help of the given subcommand(s)

    Options:
          --input <FILE|->    The result, which must be JSON: a file, or - for stdin
          --strategy <NAME>   The strategy: `structured_verdict`, `identifiers_only` or `summary`
                              [default: structured_verdict]
          --output <FILE|->   Write to this file instead of stdout
          --externalize       Also write the full result to a file, and put its path into the condensed
                              result
          --output-dir <DIR>  The directory for the full result [default: ~/.recoup/full, or `full` in a
                              dir: store]
          --preserve <CSV>    Fields to keep unchanged, separated by commas; use dots for fields of
                              nested objects and lists
          --top <N>           How many findings `structured_verdict` keeps [default: 5]
          --max-tokens <N>    Maximum number of tokens with `identifiers_only`; the output says how many
                              identifiers were left out
      -h, --help              Print help
    ");
}

#[test]
fn a_file_or_stdin_is_read_and_json_is_printed() {
    let home = Home::new();
    home.write("result.json", RESULT);
    let output = condense(&home, &["--input", "result.json"]).expect(0);
    assert_eq!(output.stderr, "");
    let short = r#"{"verdict":"FAIL","severity_counts":{"critical":0,"high":1,"medium":0,"low":0},"top_findings":[{"id":"F1","severity":"high","file":"src/a.rs","line":3,"message":"not checked before use, which is long enough to be worth a note"}]}"#;
    assert_eq!(output.text(), format!("{short}\n"));
    let args = ["condense", "--input", "-", "--strategy", "structured_verdict"];
    assert_eq!(home.run_with_stdin(&args, RESULT.as_bytes()).expect(0).text(), output.text());
    let args = ["condense", "condense", "--input", "result.json"];
    assert_eq!(home.run(&args).expect(0).text(), output.text(), "the word that scripts have");
}

#[test]
fn the_word_that_scripts_have_may_stand_before_any_command() {
    let home = Home::new();
    home.write("result.json", RESULT);
    for args in [
        ["strategies", "--json"].as_slice(),
        &["strategies"],
        &["estimate", "--input", "result.json"],
        &["--input", "result.json", "--top", "1"],
    ] {
        let plain = condense(&home, args).expect(0).text();
        let led = condense(&home, &[&["condense"], args].concat()).expect(0).text();
        assert_eq!(led, plain, "{args:?}");
    }
    condense(&home, &["condense"]).expect_usage("--input <FILE|->");
}

#[test]
fn a_directory_for_what_is_not_asked_for_is_no_error() {
    let home = Home::new();
    home.write("result.json", RESULT);
    let output = condense(&home, &["--input", "result.json", "--output-dir", "d"]).expect(0);
    assert_eq!(output.stderr, "note: --output-dir has no effect without --externalize\n");
    assert!(!home.project().join("d").exists());
}

#[test]
fn strategies_as_a_table_and_as_json() {
    let home = Home::new();
    insta::assert_snapshot!(condense(&home, &["strategies"]).expect(0).text(), @"
    STRATEGY            TOKENS  WHAT IT DOES                                          BEST FOR
    structured_verdict  ~174    Extract verdict, severity counts, and top N findings  security audits, code reviews, test results
    identifiers_only    ~28     Extract only file:line identifiers                    search results, file listings, grep output
    summary             ~24     Extract verdict, description, and item count          documentation, explanations, reports

    TOKENS is the median for reports of cargo, ESLint, JUnit, pytest, ripgrep and SARIF.
    recoup condense estimate --input FILE measures yours.

    Default strategy: structured_verdict
    ");
    let json = condense(&home, &["strategies", "--json"]).expect(0).json();
    assert_eq!(json["default"], "structured_verdict");
    let names: Vec<_> =
        json["strategies"].as_array().unwrap().iter().map(|it| it["name"].clone()).collect();
    assert_eq!(names, ["structured_verdict", "identifiers_only", "summary"]);
    let first = &json["strategies"][0];
    assert_eq!(first["target_tokens"], 174);
    assert_eq!(first["best_for"], json!(["security audits", "code reviews", "test results"]));
    assert_eq!(json["strategies"][1]["target_tokens"], 28);
    assert_eq!(json["strategies"][2]["target_tokens"], 24);
}

#[test]
fn an_estimate_for_people_and_as_json() {
    let home = Home::new();
    home.write("result.json", RESULT);
    let args = ["estimate", "--input", "result.json"];
    insta::assert_snapshot!(condense(&home, &args).expect(0).text(), @"
    original            102 tokens
    structured_verdict  66 tokens (35 % saved)
    identifiers_only    16 tokens (84 % saved)
    summary             15 tokens (85 % saved)
    ");
    let args = ["estimate", "--input", "result.json", "--json"];
    insta::assert_snapshot!(condense(&home, &args).expect(0).text(), @r#"
    {
      "original_tokens": 102,
      "condensed": {
        "structured_verdict": 66,
        "identifiers_only": 16,
        "summary": 15
      },
      "savings": {
        "structured_verdict_pct": 35,
        "identifiers_only_pct": 84,
        "summary_pct": 85
      }
    }
    "#);
}

#[test]
fn errors_are_in_the_words_that_scripts_look_for() {
    let home = Home::new();
    home.write("broken.json", "{\"verdict\":");
    home.write("list.json", "[1, 2]");
    condense(&home, &["--input", "gone.json"])
        .expect_failure("error: Input file not found: gone.json\n");
    condense(&home, &["estimate", "--input", "gone.json"])
        .expect_failure("error: Input file not found: gone.json\n");
    condense(&home, &["--input", "broken.json"]).expect_failure("error: Invalid JSON input: EOF");
    condense(&home, &["estimate", "--input", "broken.json"])
        .expect_failure("error: Invalid JSON input: EOF");
    condense(&home, &["--input", "list.json"])
        .expect_failure("neither an object nor a known report");
    condense(&home, &["--input", "."]).expect_failure("Is a directory");
    let unknown =
        "Unknown strategy: brief (available: structured_verdict, identifiers_only, summary)";
    condense(&home, &["--input", "gone.json", "--strategy", "brief"]).expect_usage(unknown);
    condense(&home, &[]).expect_usage("--input <FILE|->");
    condense(&home, &["--input", "list.json", "--top", "-1"]).expect_usage("--top");
    condense(&home, &["--input", "list.json", "--max-tokens", "9"])
        .expect_usage("--max-tokens works only with identifiers_only");
}

#[test]
fn flags_shape_the_result() {
    let home = Home::new();
    home.write("result.json", RESULT);
    let args = ["--input", "result.json", "--top", "0", "--preserve", "score, notes.x,none"];
    let output = condense(&home, &args).expect(0);
    assert_eq!(output.json()["top_findings"], json!([]));
    assert_eq!(output.json()["score"], 0.5);
    assert!(output.stderr.contains("warning: --preserve: the input has no field notes.x\n"));
    assert!(output.stderr.contains("warning: --preserve: the input has no field none\n"));
    home.write(
        "files.json",
        r#"{"files": ["a:10", "a:9", "b"], "filler": "enough to be larger than its result"}"#,
    );
    let args = ["--input", "files.json", "--strategy", "identifiers_only", "--max-tokens", "13"];
    let cut = condense(&home, &args).expect(0).json();
    let kept = cut["identifiers"].as_array().unwrap().len();
    assert_eq!((kept < 3, &cut["truncated"]), (true, &json!(3 - kept)), "{cut}");
}

#[test]
fn a_small_result_comes_back_as_it_is() {
    let home = Home::new();
    let condense = |args: &[&str], input: &str| {
        let args = [&["condense", "--input", "-"], args].concat();
        home.run_with_stdin(&args, input.as_bytes()).expect(0)
    };
    let small = r#"{ "verdict": "PASS", "findings": [ {"message": "ok"} ] }"#;
    for strategy in ["structured_verdict", "summary"] {
        let output = condense(&["--strategy", strategy], small);
        assert_eq!(output.text(), "{\"verdict\":\"PASS\",\"findings\":[{\"message\":\"ok\"}]}\n");
        assert_eq!(output.stderr, "");
    }
    let output = condense(&["--externalize", "--output-dir", "full"], small);
    assert!(output.json()["full_result_path"].is_string(), "a path needs a result that has it");
    assert_eq!(output.json()["top_findings"], json!([{"message": "ok"}]));
    home.write("small.json", small);
    home.cache(&["set", "--key", "s", "--condense", "summary", "--full", "small.json"]).expect(0);
    assert_eq!(home.get("s").expect(0).text(), condense(&[], small).text());
}

#[test]
fn a_report_that_is_smaller_than_its_result_comes_with_a_note() {
    let home = Home::new();
    let report = br#"{"reason":"build-finished","success":true}"#;
    let output = home.run_with_stdin(&["condense", "--input", "-"], report).expect(0);
    assert_eq!(
        output.stderr,
        "note: the condensed result (97 bytes) is larger than the input (42 bytes)\n"
    );
    assert_eq!(output.json()["verdict"], "PASS");
}

#[test]
fn on_a_terminal_a_person_reads_it() {
    let home = Home::new();
    home.write("result.json", RESULT);
    let condense = [crate::support::RECOUP, "condense", "--input", "result.json"];
    let args = [&["exec", "--tty", "--"], &condense[..], &["--strategy", "summary"]].concat();
    let output = home.run(&args).expect(0);
    let text = output.text().replace('\r', "");
    assert!(text.contains("{\n  \"type\": \"summary\",\n  \"verdict\": \"FAIL\","), "{text}");
}

#[test]
fn an_output_file_is_written_whole_and_private() {
    let home = Home::new();
    home.write("result.json", RESULT);
    let printed = condense(&home, &["--input", "result.json"]).expect(0).text();
    let output = condense(&home, &["--input", "result.json", "--output", "short.json"]).expect(0);
    assert_eq!(output.text(), "");
    assert_eq!(output.stderr, "Condensed result written to: short.json\n");
    let file = home.project().join("short.json");
    assert_eq!(fs::read_to_string(&file).unwrap(), printed);
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    condense(&home, &["--input", "result.json", "--output", "no/such/dir"])
        .expect_failure("no/such/dir");
}

#[test]
fn a_full_result_is_externalized_under_its_hash() {
    let home = Home::new();
    home.write("result.json", RESULT);
    let args = ["--input", "result.json", "--externalize", "--output-dir", "out/full"];
    let output = condense(&home, &args).expect(0);
    let path = output.json()["full_result_path"].as_str().unwrap().to_owned();
    let hash = recoup_core::base::digest::Sha256Digest::of(RESULT.as_bytes());
    assert_eq!(path, format!("out/full/{hash}.json"));
    assert_eq!(
        output.stderr.lines().next(),
        Some(&*format!("Full result externalized to: {path}"))
    );
    let file = home.project().join(&path);
    assert_eq!(fs::read_to_string(&file).unwrap(), RESULT);
    let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(file.as_path()), mode(file.parent().unwrap())), (0o600, 0o700));
}

#[test]
fn without_a_directory_it_goes_to_our_own_or_to_that_of_the_protocol() {
    let home = Home::new();
    home.write("result.json", RESULT);
    let args = ["condense", "--input", "result.json", "--externalize"];
    let path =
        |output: Output| output.expect(0).json()["full_result_path"].as_str().unwrap().to_owned();
    let ours = path(home.run(&args));
    assert!(ours.starts_with(home.recoup().join("full").to_str().unwrap()), "{ours}");
    let mut command = home.command(&args);
    command.env("RECOUP_STORE", "dir:cache");
    let protocols = path(crate::support::finish(&mut command));
    assert!(protocols.ends_with(&ours[ours.len() - 69..]) && protocols.contains("cache/full/"));
    assert_eq!(fs::read_to_string(protocols).unwrap(), RESULT);
}

#[test]
fn a_full_result_with_a_secret_is_not_written() {
    let home = Home::new();
    home.write("result.json", r#"{"verdict": "ok", "log": {"password": "hunter2hunter2"}}"#);
    let args = ["--input", "result.json", "--externalize", "--output-dir", "full"];
    condense(&home, &args)
        .expect_failure("Secret patterns detected in content - refusing to cache");
    assert!(!home.project().join("full").exists());
}

#[test]
fn a_reader_that_leaves_is_no_failure() {
    let home = Home::new();
    let files: Vec<_> =
        (0..100_000).map(|n| json!({"path": format!("src/file_{n}.rs"), "line": n})).collect();
    home.write("files.json", json!({"files": files}).to_string());
    let script = "\"$0\" condense --input files.json --strategy identifiers_only | head -c 8; \
                  echo; echo ${PIPESTATUS[0]}";
    let output =
        crate::support::finish(&mut home.prepared("bash", &["-c", script, crate::support::RECOUP]));
    assert_eq!((output.text().as_str(), output.stderr.as_str()), ("{\"identi\n0\n", ""));
}

#[test]
fn set_condenses_and_keeps_the_full_result_in_one_step() {
    let home = Home::new();
    home.write("result.json", RESULT);
    let condensed = condense(&home, &["--input", "result.json", "--strategy", "summary"]).expect(0);
    let args = ["set", "--key", "k", "--condense", "summary", "--full", "result.json"];
    assert_eq!(home.cache(&args).expect(0).stderr, "Cached result for key: k\n");
    assert_eq!(home.get("k").expect(0).text(), condensed.text());
    let full = home.cache(&["show", "--key", "k", "--full"]).expect(0).text();
    assert_eq!(full, format!("{RESULT}\n"));
}

#[test]
fn set_says_what_is_wrong_with_what_it_should_condense() {
    let home = Home::new();
    home.write("broken.json", "{");
    home.write("secret.json", r#"{"verdict": "ok", "password": "hunter2hunter2"}"#);
    let set = |args: &[&str]| home.cache(&[&["set", "--key", "k"], args].concat());
    set(&["--condense", "summary", "--full", "broken.json"])
        .expect_failure("--full: Invalid JSON input: EOF");
    set(&["--condense", "summary", "--full", "gone.json"]).expect_failure("gone.json");
    set(&["--condense", "summary", "--full", "secret.json"])
        .expect_failure("Secret patterns detected in content - refusing to cache");
    set(&["--condense", "brief", "--full", "broken.json"]).expect_usage("Unknown strategy: brief");
    set(&["--condense", "summary"]).expect_usage("--full <FILE>");
    set(&["--condense", "summary", "--full", "broken.json", "--condensed", "1"])
        .expect_usage("cannot be used with '--condensed");
    set(&[]).expect_usage("--condensed <JSON|-|@FILE>");
    home.get("k").expect_miss();
}

#[test]
fn an_input_beyond_the_limit_is_refused_by_name() {
    let home = Home::new();
    let file = fs::File::create(home.project().join("huge.json")).unwrap();
    file.set_len((256 << 20) + 1).unwrap();
    for args in [&["--input", "huge.json"][..], &["estimate", "--input", "huge.json"]] {
        let output = condense(&home, args).expect(1);
        assert!(output.stderr.contains("huge.json is larger than 256 MiB"), "{}", output.stderr);
    }
    let mut command = home.command(&["condense", "--input", "-"]);
    let output = crate::support::finish(
        command.stdin(fs::File::open(home.project().join("huge.json")).unwrap()),
    );
    let output = output.expect(1);
    assert!(output.stderr.contains("stdin is larger than 256 MiB"), "{}", output.stderr);
}
