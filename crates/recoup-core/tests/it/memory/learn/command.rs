//! Which commands are of a kind.

use proptest::prelude::*;
use recoup_core::memory::shell::CommandKind;

fn kind(line: &str) -> String {
    CommandKind::of(line).map_or("none".to_owned(), |kind| kind.to_string())
}

#[test]
fn a_kind_is_the_program_and_its_sub_command() {
    let cases = [
        ("npm test", "npm test"),
        ("npm install", "npm install"),
        ("npm i left-pad", "npm install"),
        ("npm ci", "npm ci"),
        ("npm run test", "npm test"),
        ("npm run build -- --prod", "npm run build"),
        ("npm --prefix web run lint", "npm run lint"),
        ("pnpm run build", "pnpm build"),
        ("pnpm --filter api test", "pnpm test"),
        ("yarn", "yarn install"),
        ("yarn test --watch", "yarn test"),
        ("cargo test -p x", "cargo test"),
        ("cargo t", "cargo test"),
        ("cargo +nightly test --workspace", "cargo test"),
        ("cargo nextest run", "cargo nextest run"),
        ("cargo xtask bench", "cargo xtask bench"),
        ("go test ./...", "go test"),
        ("go mod tidy", "go mod tidy"),
        ("git -C /tmp/x push origin main", "git push"),
        ("git -c user.name=x commit -m 'a; b && c'", "git commit"),
        ("git stash pop", "git stash pop"),
        ("docker compose up -d", "docker compose up"),
        ("docker-compose up", "docker compose up"),
        ("docker build -t x .", "docker build"),
        ("kubectl -n prod rollout status deploy/x", "kubectl rollout status"),
        ("gh pr create --fill", "gh pr create"),
        ("aws --profile dev s3 cp a b", "aws s3 cp"),
        ("make", "make"),
        ("make -j 8 test", "make test"),
        ("make -C sub clean all V=1", "make clean all"),
        ("just lint", "just lint"),
        ("./gradlew :app:test --info", "gradle :app:test"),
        ("mvn -q clean verify", "mvn clean verify"),
        ("pytest tests/test_a.py -k foo", "pytest"),
        ("tsc --noEmit", "tsc"),
        ("eslint src --fix", "eslint"),
        ("terraform -chdir=infra plan", "terraform plan"),
        ("uv pip install -r requirements.txt", "uv pip install"),
        ("pip3 install x", "pip install"),
    ];
    for (line, expected) in cases {
        assert_eq!(kind(line), expected, "{line}");
    }
}

#[test]
fn what_is_wrapped_around_a_command_does_not_matter() {
    let cases = [
        ("cd crates/x && cargo test", "cargo test"),
        ("(cd web; npm test)", "npm test"),
        ("RUST_LOG=debug cargo test", "cargo test"),
        ("export A=1; npm test", "npm test"),
        ("sudo -u postgres psql -c 'select 1'", "psql"),
        ("env -i PATH=/bin make test", "make test"),
        ("time npm test", "npm test"),
        ("timeout 60 npm test", "npm test"),
        ("timeout -k 5 60s cargo test", "cargo test"),
        ("nohup nice -n 10 npm start", "npm start"),
        ("npx jest src", "jest"),
        ("npx -y -p typescript tsc", "tsc"),
        ("pnpm exec jest", "jest"),
        ("pnpm --filter web exec vitest run", "vitest"),
        ("node_modules/.bin/jest", "jest"),
        ("uv run pytest -q", "pytest"),
        ("uv run --with x -m pytest", "pytest"),
        ("poetry run pytest", "pytest"),
        ("python -m pytest tests", "pytest"),
        ("python3.12 -m pytest", "pytest"),
        (".venv/bin/python -m pytest", "pytest"),
        ("python -m pip install x", "pip install"),
        ("bundle exec rspec", "rspec"),
        ("bash -c 'cd x && npm test'", "npm test"),
        ("bash -lc \"npm run test 2>&1 | tail -5\"", "npm test"),
        ("sh -c \"bash -c 'make lint'\"", "make lint"),
        ("if npm test; then echo ok; fi", "npm test"),
        ("for i in 1 2 3; do npm test; done", "npm test"),
        ("! cargo build", "cargo build"),
        ("/usr/local/bin/node scripts/build.js", "node scripts/build.js"),
        ("FOO=bar BAZ='a b' ./run.sh --fast", "run.sh"),
        ("find . -name x | xargs -n 1 eslint", "eslint"),
    ];
    for (line, expected) in cases {
        assert_eq!(kind(line), expected, "{line}");
    }
}

#[test]
fn of_several_commands_the_one_that_decides_counts() {
    let cases = [
        ("cargo test 2>&1 | tail -20", "cargo test"),
        ("npm test | tee out.log | grep -i fail", "npm test"),
        ("npm test || true", "npm test"),
        ("npm test || echo failed", "npm test"),
        ("npm test; echo $?", "npm test"),
        ("npm test > out.log 2>&1; cat out.log", "npm test"),
        ("npm install && npm test", "npm test"),
        ("git add . && git commit -m \"fix\"", "git commit"),
        ("cat data.json | python scripts/load.py", "python scripts/load.py"),
        ("echo y | npm init", "npm init"),
        ("mkdir -p out && gcc -o out/a a.c", "gcc"),
        ("cat <<'EOF' > x.py\nnpm install\nEOF\npython x.py", "python x.py"),
        ("# npm install\nnpm test", "npm test"),
        ("cat log.txt | grep error", "cat"),
        ("grep -rn TODO src", "grep"),
        ("ls -la", "ls"),
        ("cd /tmp", "cd"),
        ("sleep 5 & npm start", "npm start"),
        ("diff <(npm ls) <(cat x)", "diff"),
    ];
    for (line, expected) in cases {
        assert_eq!(kind(line), expected, "{line}");
    }
}

#[test]
fn scripts_are_known_by_their_path() {
    let cases = [
        ("./scripts/deploy.sh prod", "scripts/deploy.sh"),
        ("bash scripts/deploy.sh", "scripts/deploy.sh"),
        ("sh ./scripts/deploy.sh", "scripts/deploy.sh"),
        ("python manage.py migrate", "python manage.py migrate"),
        ("python manage.py test app", "python manage.py test"),
        ("python3 -u tools/x.py a", "python tools/x.py"),
        ("python -c 'print(1)'", "python -c"),
        ("node -e 'x()'", "node -e"),
        ("java -jar build/app.jar", "java build/app.jar"),
    ];
    for (line, expected) in cases {
        assert_eq!(kind(line), expected, "{line}");
    }
}

#[test]
fn an_installation_is_not_of_the_kind_of_a_test() {
    assert_ne!(CommandKind::of("npm install"), CommandKind::of("npm test"));
    assert_eq!(
        CommandKind::of("cargo test -p x"),
        CommandKind::of("cd y && cargo test 2>&1 | tail")
    );
    assert_ne!(CommandKind::of("npm test"), CommandKind::of("pnpm test"));
    assert_ne!(CommandKind::of("make test"), CommandKind::of("make build"));
}

#[test]
fn nothing_is_run_by_nothing() {
    for line in
        ["", "   ", "\n\n", "# only a note", "FOO=bar", "&& ||", "| |", "'", "\"", "<<", ">"]
    {
        assert_eq!(kind(line), "none", "{line:?}");
    }
}

#[test]
fn a_secret_in_a_line_is_not_in_its_kind() {
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let shown = kind(&format!("./deploy-{token}.sh"));
    assert!(!shown.contains(&token), "{shown}");
}

proptest! {
    #[test]
    fn any_line_has_a_kind_or_none_and_it_is_short(line in "\\PC{0,200}") {
        if let Some(kind) = CommandKind::of(&line) {
            prop_assert!(kind.to_string().chars().count() <= 170);
        }
    }

    #[test]
    fn any_shell_syntax_is_survived(line in "[a-z '\"|&;<>()$`\\\\\n#=-]{0,80}") {
        let _ = CommandKind::of(&line);
    }

    #[test]
    fn arguments_do_not_change_a_kind(arguments in "( --?[a-z]{1,8}| [a-z]{1,8}/[a-z]{1,8}){0,5}") {
        let line = format!("cargo test{arguments}");
        prop_assert_eq!(kind(&line), "cargo test");
    }
}
