//! One-off requests: a command line, "deploy to production", "add an eslint rule: …". Recognized by
//! their form, and by the lack of anything that says that they last.

use crate::memory::capture::tokens;
use crate::memory::capture::tokens::SentenceToken;
use crate::memory::lang::phrase::starts_with_phrase;
use crate::memory::lang::plain_clauses;
use crate::memory::lang::word_lists::is_one_of;

/// Programs that people start by name.
const PROGRAMS: &str = " git gh glab svn hg npm npx pnpm pnpx yarn bun bunx deno node nvm tsc tsx vite jest vitest \
eslint prettier cargo rustc rustup python python3 pip pip3 pipx uv uvx poetry pytest ruff mypy black tox conda \
ruby bundle rake rails gem php composer java javac mvn gradle sbt dotnet msbuild \
docker docker-compose podman kubectl helm kustomize terraform tofu terragrunt ansible ansible-playbook vagrant \
aws gcloud az heroku flyctl vercel netlify wrangler psql mysql sqlite3 redis-cli mongosh pg_dump \
curl wget ssh scp rsync sudo apt apt-get brew dnf yum apk pacman systemctl journalctl crontab \
cd ls rm cp mv mkdir rmdir chmod chown grep rg sed awk xargs tar unzip zip cmake ninja bazel \
gofmt golangci-lint xcodebuild flutter dart iex cabal ghc claude codex \
bash sh zsh pwsh powershell pkill killall ps df du nohup tmux vim nano ln ";

/// Programs whose names are ordinary words, with which a sentence may begin.
const VERBS: &str = " make just task go open find touch watch time cat kill head tail less code service screen \
source export echo patch diff which env top mix swift stack fly ";

/// Programs with which one more word is a command: `make build`.
const RUNNERS: &str = " make just task go mix ";

/// Subcommands of programs.
const TOLD: &str = " run test build install add remove commit push pull fetch checkout switch merge rebase reset \
clone status stash log diff init compose up down exec logs ps apply plan destroy get delete describe rollout \
publish clippy fmt check clean bench doc update upgrade start dev serve lint format migrate deploy ci audit ";

/// Words of sentences that no command line has as an argument.
const WORDS_OF_RULES: &str = " the a an is are was be must should shall will may can to for with without and or \
not no never always only before after when whenever if unless until every each all any instead over than than \
from by in on at of as we our i you it they this that these those use uses using used prefer avoid please \
der die das ein eine ist sind muss soll nicht nie immer nur vor nach wenn bei fur mit und oder statt wir bitte auf im in \
le la les un une est sont doit pas jamais toujours avant apres pour avec et ou au nous sur dans \
el los las una es son debe nunca siempre solo antes despues para con y o en \
os um uma sao deve sempre antes depois com e ou em nao il lo gli uno sono mai prima dopo per con ";

/// Words that may stand before a request.
const LEADS: &str = " ok okay now please pls then and so just go ahead yes yeah yep sure great nice cool thanks \
perfect also first next finally alright great good ";

/// Requests that are one-off unless something else is said.
const ORDERS: &[&str] = &[
    "deploy|push|merge|ship|release|publish|restart|redeploy|promote it|this|that|everything|them? to|into|onto",
    "commit|push|merge and|then push|merge|commit|deploy",
    "commit|push|merge|deploy|release it|this|that|everything|them|now",
];

/// Requests followed by a commit message, which is nothing to remember.
const MESSAGES: &[&str] = &[
    "commit with|using the|a|this|following? commit? message|msg",
    "commit this|it|that|everything|them? as",
];

/// Concepts of something that lasts.
const LASTING: &[&str] = &[
    "ALWAYS",
    "NEVER",
    "DONT",
    "STOP",
    "AVOID",
    "NOWON",
    "LATER",
    "REMEMBER",
    "ASARULE",
    "PREFER",
    "WE",
    "OUR",
    "WEUSE",
    "MUST",
    "SHOULD",
    "ONLY",
    "INSTEAD",
    "ALLOF",
    "INREPO",
    "UNIVERSAL",
    "WANT",
    "BECAUSE",
];
const LASTING_WORDS: &str = " with using via before after when whenever per through by once unless until without by from for every each ";

/// True if a sentence asks for something to be done once.
pub(super) fn is_one_off_request(sentence: &str, own: &[SentenceToken]) -> bool {
    if is_command_line(sentence) || is_for_one_thing(own) {
        return true;
    }
    // "Deploy to production", "commit with message: …".
    let all: Vec<String> = plain_clauses::plain_words(sentence);
    let words: Vec<&str> = all.iter().map(String::as_str).collect();
    let leads = words.iter().take_while(|word| is_one_of(word, LEADS)).count();
    let words = &words[leads..];
    // The message itself is not looked at.
    if MESSAGES.iter().any(|it| starts_with_phrase(it, words)) {
        return true;
    }
    let with_flag = matches!(words, ["commit" | "push" | "deploy" | "merge" | "run", "with", ..])
        && own.iter().any(|token| token.class == "@FLAG")
        && words.len() <= 5;
    (with_flag || ORDERS.iter().any(|it| starts_with_phrase(it, words)))
        && !lasts(own)
        && (with_flag || !words.iter().any(|word| is_one_of(word, LASTING_WORDS)))
}

/// True for `git push origin main --force`, `./deploy.sh prod`, `cd web && npm run build`.
fn is_command_line(sentence: &str) -> bool {
    let bare = without_quotes(sentence);
    let text = bare.trim().trim_end_matches(['.', '!']);
    let text = text.strip_prefix(['$', '!', '%']).unwrap_or(text).trim_start();
    // `NODE_ENV=test npm run build`
    let is_assignment = |word: &&str| {
        word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty()
                && name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
        })
    };
    let mut words = text.split_whitespace().skip_while(is_assignment);
    let Some(first) = words.next() else { return false };
    let rest: Vec<&str> = words.collect();
    let is_path = first.starts_with("./") || first.starts_with("../") || first.starts_with("~/");
    let is_script = first.contains('/')
        && [".sh", ".py", ".rb", ".js", ".bash"].iter().any(|it| first.ends_with(it));
    let is_program = is_one_of(first, PROGRAMS);
    // No command line has these.
    let is_prose = |word: &&str| {
        let word = word.trim_end_matches([',', ':', ';']).to_lowercase();
        let plain = plain_clauses::plain_words(&word).concat();
        (!word.starts_with('-') && is_one_of(&plain, WORDS_OF_RULES))
            || word.chars().any(crate::memory::capture::concepts::is_cjk)
            || tokens::tokenize(&word).iter().any(|token| LASTING.iter().any(|it| token.is(it)))
    };
    if !(is_path || is_script || is_program || is_one_of(first, VERBS)) || rest.iter().any(is_prose)
    {
        return false;
    }
    let is_told = || rest.len() <= 1 || (rest.len() <= 3 && is_one_of(rest[0], TOLD));
    is_path
        || is_script
        || rest.iter().any(|word| is_argument(word))
        || (is_program && is_told())
        || (is_one_of(first, RUNNERS) && rest.len() == 1)
}

/// True for arguments of a program: `-f`, `web/`, `KEY=1`, `&&`, `manage.py`.
fn is_argument(word: &str) -> bool {
    let word = word.trim_end_matches([',', ':', ';']);
    word.starts_with('-')
        || word.contains(['/', '=', '|', '>', '<', '&', ';', '*', '$', ':', '@', '~', '_'])
        || matches!(word, "." | "..")
        || word
            .rsplit_once('.')
            .is_some_and(|(name, ending)| !name.is_empty() && (1..=5).contains(&ending.len()))
        || word.bytes().all(|b| b.is_ascii_digit())
}

fn without_quotes(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut quote: Option<char> = None;
    for c in text.chars() {
        match quote {
            Some(open) if c == open => {
                quote = None;
                kept.push('"');
            }
            Some(_) => {}
            None if matches!(c, '"' | '\'') && kept.ends_with([' ', '=']) => quote = Some(c),
            None => kept.push(c),
        }
    }
    // A quote that is never closed is an apostrophe.
    if quote.is_some() { text.to_owned() } else { kept }
}

fn lasts(own: &[SentenceToken]) -> bool {
    own.iter().any(|token| LASTING.iter().any(|it| token.is(it)))
}

/// True for "add an eslint rule: no default exports", "make sure `parse()` never throws"; not for a
/// rule or a note that is to be added as such.
fn is_for_one_thing(own: &[SentenceToken]) -> bool {
    let skipped = own.iter().take_while(|it| is_one_of(&it.word, LEADS) || it.class == ",").count();
    let own = &own[skipped..];
    let Some(colon) = own.iter().position(|token| token.class == ":") else {
        // "Make sure `parse()` never throws" is about one function.
        let [ensure, rest @ ..] = own else { return false };
        let mut names = rest.iter();
        let mut next = names.next();
        if next.is_some_and(|it| it.is("THIS") || it.word == "that") {
            next = names.next();
        }
        let is_one = |it: &SentenceToken| {
            matches!(it.class.as_str(), "@IDENT" | "@CODE" | "@PATH" | "@FILE")
        };
        return matches!(ensure.word.as_str(), "make sure" | "ensure") && next.is_some_and(is_one);
    };
    let (head, behind) = own.split_at(colon);
    let [verb, article, what @ ..] = head else { return false };
    let makes = is_one_of(
        &verb.word,
        " add create write make generate implement draft build put set define configure fix change update extend ",
    );
    let one = is_one_of(&article.word, " a an the this another one new ") || article.is("THIS");
    let announces = matches!(what, [only] if is_one_of(&only.word, " rule rules note notes reminder memory convention preference "));
    // "Add a test for every fix: …"
    let names_more =
        head.iter().any(|token| ["ALLOF", "ALWAYS", "NOWON"].iter().any(|it| token.is(it)));
    makes && one && !announces && behind.len() > 1 && !names_more
}
