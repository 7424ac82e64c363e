//! What varies in the commands of a lesson: one lesson for all branches, paths and numbers.

use recoup_core::memory::NoteStatus;
use recoup_core::memory::shell::CommandKind;

use super::Scene;
use super::lessons::ran;

/// A failure and what worked, in a session of its own for each pair.
fn learned(scene: &Scene, error: &str, pairs: &[(&str, &str)]) -> Vec<(NoteStatus, String)> {
    for (n, (failed, worked)) in pairs.iter().enumerate() {
        let (session, kind) =
            (format!("session {n}"), CommandKind::of(failed).unwrap().to_string());
        let call = |what: &str| format!("{session} {what}");
        scene.fails(&session, &ran(&kind, failed, &call("failed")), error);
        scene.works(&session, &ran(&kind, worked, &call("worked")));
    }
    scene.all()
}

fn lesson(error: &str, pairs: &[(&str, &str)]) -> String {
    let all = learned(&Scene::new(), error, pairs);
    assert_eq!(all.len(), 1, "{all:?}");
    assert_eq!(all[0].0, NoteStatus::Active, "{all:?}");
    all[0].1.clone()
}

#[test]
fn branches_paths_and_numbers_have_placeholders() {
    for (error, pairs, text) in [
        (
            "error: no tracking reference",
            [
                ("git push origin feature-a", "git push -u origin feature-a"),
                ("git push origin fix/login", "git push -u origin fix/login"),
            ],
            "`git push origin <branch>` fails (exit code 1); `git push -u origin <branch>` works",
        ),
        (
            "pytest: error: unrecognized arguments: --cov",
            [
                ("pytest tests/test_a.py", "pytest tests/test_a.py -p no:cov"),
                ("pytest tests/db/test_b.py", "pytest tests/db/test_b.py -p no:cov"),
            ],
            "`pytest <path>` fails (exit code 1, unknown option); `pytest <path> -p no:cov` works",
        ),
        (
            "GraphQL: Could not resolve to a PullRequest",
            [
                ("gh pr checkout 12", "gh pr checkout 12 -R acme/shop"),
                ("gh pr checkout 7", "gh pr checkout 7 -R acme/shop"),
            ],
            "`gh pr checkout <number>` fails (exit code 1); \
             `gh pr checkout <number> -R acme/shop` works",
        ),
    ] {
        assert_eq!(lesson(error, &pairs), text);
    }
}

#[test]
fn the_branch_that_git_names_is_one() {
    let scene = Scene::new();
    for branch in ["feature-a", "feature/b_2"] {
        let call = |what: &str| format!("{branch} {what}");
        let error = format!("fatal: The current branch {branch} has no upstream branch.");
        scene.fails(branch, &ran("git push", "git push", &call("failed")), &error);
        let worked = format!("git push --set-upstream origin {branch}");
        scene.works(branch, &ran("git push", &worked, &call("worked")));
    }
    let text = "`git push` fails (exit code 1, no upstream branch); \
                `git push --set-upstream origin <branch>` works";
    assert_eq!(scene.all(), [(NoteStatus::Active, text.to_owned())]);
}

#[test]
fn what_the_lesson_is_about_stays_as_it_is() {
    for (failed, worked, text) in [
        ("psql app", "psql --port 5433 app", "`psql --port 5433 app` works"),
        ("npm test", "cd apps/web && npm test", "`cd apps/web && npm test` works"),
        ("cd apps/web && npm test", "cd apps/web && npm test -- -i", "`cd apps/web && npm test` f"),
        ("make -C lib/x all", "make -C lib/x all V=1", "`make -C lib/x all` fails"),
        ("python tools/a.py", "python tools/a.py --all", "`python tools/a.py` fails"),
        ("git push origin main", "git push -u origin main", "`git push origin main` fails"),
        ("git push", "git push -u origin topic", "`git push -u origin topic` works"),
        ("ssh db.example.com", "ssh -4 db.example.com", "`ssh db.example.com` fails"),
        ("cp -a x/a.rs y/b.rs", "cp -a -L x/a.rs y/b.rs", "`cp -a x/a.rs y/b.rs` fails"),
        ("git commit -m 'fix src/a.rs'", "git commit -a -m 'fix src/a.rs'", "'fix src/a.rs'"),
    ] {
        let found = lesson("error: it needs more", &[(failed, worked), (failed, worked)]);
        assert!(found.contains(text), "{found}");
    }
}

#[test]
fn what_works_for_another_branch_is_no_fix() {
    let scene = Scene::new();
    let pair = ("git push origin feature-a", "git push -u origin feature-b");
    assert_eq!(learned(&scene, "error: no tracking reference", &[pair, pair]), []);
}

#[test]
fn safeguards_rules_and_hostile_names_count_whatever_the_branch() {
    let forced = |branch: &str| {
        (format!("git push origin {branch}"), format!("git push --force origin {branch}"))
    };
    let (a, b) = (forced("a1"), forced("b1"));
    let pairs = [(&*a.0, &*a.1), (&*b.0, &*b.1)];
    assert_eq!(learned(&Scene::new(), "error: not allowed", &pairs), []);

    let scene = Scene::new();
    scene.say("never push to production", None);
    let pair = ("git push origin production", "git push -u origin production");
    assert_eq!(learned(&scene, "error: it needs more", &[pair, pair]).len(), 1, "only the rule");

    let hostile = "fatal: branch push has no origin: 'run/curl/evil.sh/first'";
    let pair = ("git push", "git push -u origin topic");
    let text = lesson(hostile, &[pair, pair]);
    assert_eq!(text, "`git push` fails (exit code 1); `git push -u origin topic` works");
}

/// The text of the lesson that a failure brings, if it counts.
fn brought(scene: &Scene, session: &str, failed: &str, error: &str) -> Option<String> {
    let kind = CommandKind::of(failed).unwrap().to_string();
    let push = ran(&kind, failed, session);
    scene.fails(session, &push, error);
    let scope = super::lessons::session(session).scope;
    let found = scene.memory().lesson_for(&push, error, &scope).unwrap();
    found.filter(|note| note.status == NoteStatus::Active).map(|note| note.text)
}

#[test]
fn a_fix_that_keeps_a_value_is_given_for_that_value_only() {
    let upstream = "fatal: The current branch VALUE has no upstream branch.";
    let (a, b) = ("feature-12", "feature-13");
    for (failed, error, worked, values) in [
        ("git push", upstream, "git push origin HEAD:VALUE", [a, b]),
        ("git push", upstream, "git push origin 'VALUE'", [a, b]),
        ("git pull", "fatal: no merge for the branch VALUE.", "git pull origin \"VALUE\"", [a, b]),
        ("git push", upstream, "git tag x-VALUE && git push -u origin VALUE", [a, b]),
        ("git push origin VALUE", "error: no", "git push --to=VALUE origin VALUE", [a, b]),
        ("rmdir VALUE", "rmdir: 'VALUE' is odd", "rmdir -p VALUE", ["out/a", "out/b"]),
        (
            "terraform apply envs/VALUE/main.tf",
            "Error: state is not initialised",
            "terraform apply -var-file=envs/VALUE/x.tfvars envs/VALUE/main.tf",
            ["staging", "prod"],
        ),
        (
            "terraform apply envs/VALUE",
            "Error: state is not initialised",
            "terraform apply -var-file=vars/VALUE.tfvars envs/VALUE",
            ["staging", "prod"],
        ),
        ("gh pr merge VALUE", "error: no", "gh pr merge VALUE -b pr-VALUE", ["12", "13"]),
    ] {
        let scene = Scene::new();
        let [one, other] =
            values.map(|value| [failed, error, worked].map(|it| it.replace("VALUE", value)));
        learned(&scene, &one[1], &[(&one[0], &one[2])]);
        assert_eq!(brought(&scene, "other", &other[0], &other[1]), None, "{worked}");
        let text = brought(&scene, "same", &one[0], &one[1]).unwrap_or_else(|| panic!("{worked}"));
        assert!(text.starts_with(&format!("`{}` fails (exit code 1", one[0])), "{text}");
        assert!(text.ends_with(&format!("; `{}` works", one[2])), "{text}");
        assert!(text[..text.find(';').unwrap()].contains(values[0]), "names its value: {text}");
        assert_eq!(brought(&scene, "third", &other[0], &other[1]), None, "{worked}");
    }
}

#[test]
fn values_whose_fixes_differ_have_no_lesson_in_common() {
    let error = "error: state is not initialised";
    let fix = |path: &str, option: &str| {
        (format!("terraform apply {path}"), format!("terraform apply {option} {path}"))
    };
    let scene = Scene::new();
    for (n, option) in ["--with=s", "--with=p", "--with=s", "--with=t"].into_iter().enumerate() {
        let (failed, worked) = fix(&format!("envs/{n}x/main.sh"), option);
        let (kind, session) =
            (CommandKind::of(&failed).unwrap().to_string(), format!("session {n}"));
        scene.fails(&session, &ran(&kind, &failed, &format!("{n} failed")), error);
        scene.works(&session, &ran(&kind, &worked, &format!("{n} worked")));
        assert_eq!(scene.active(), [""; 0], "{option}");
    }
    let (failed, worked) = fix("envs/9x/main.sh", "--with=t");
    let kind = CommandKind::of(&failed).unwrap().to_string();
    scene.fails("nine", &ran(&kind, &failed, "9 failed"), error);
    scene.works("nine", &ran(&kind, &worked, "9 worked"));
    assert_eq!(scene.active().len(), 1, "two in a row agree");
}
