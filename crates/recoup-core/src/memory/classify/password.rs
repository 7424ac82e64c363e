//! Passwords that are words: "the admin password is letmein", "log in with admin / sesame".
//! Nothing in such a word tells that it is one; what is said of it does. Where it is found, or
//! how it is treated, is no password: "the password is in the vault", "… is hashed".

use crate::memory::refuse::phrase::is_one_of;
use crate::memory::spoken;

/// What people call a password, in plain words.
const NAMES: &str =
    " password passwd passphrase passcode pwd pw passwort kennwort contrasena senha mdp ";
/// Numbers that open something: these are told as digits.
const CODES: &str = " pin clave ";
const OPENS: &str = " door access entry gate alarm security unlock lock garage safe pin ";

/// What may stand between its name and what it is.
const OF: &str =
    " for of on in at to von fur auf zu im am de du des pour del para do da di per sur the ";
const IS: &str = " is are was be ist lautet war est es era e sono fu ";
const STILL: &str =
    " just simply still now currently always einfach aktuell immer toujours siempre sempre ";

/// What is said of a password without telling it.
const STATES: &str = " yes true false ja nein si oui in from under at on by via inside within wrong invalid incorrect missing empty required \
optional plaintext plain unset undefined null none nil broken fine ok okay good bad weak strong public private random \
here there below above unknown mandatory sensitive hidden unused gone not never always only also too the a an our your my \
his her their its this that these those what which where how whatever case-sensitive same different identical correct \
right valid long short set read kept stored known common default easy hard safe secure insecure no case min max at \
falsch leer gesetzt notig erforderlich pflicht gehasht im in aus unter am nicht das der die ein eine hier dort gleich \
dans faux vide requis obligatoire stocke pas le la un une sous chez en incorrect hache \
incorrecta vacia obligatoria requerida el una del no \
errada incorreta vazia obrigatoria guardada o a um uma no na nao \
sbagliata vuota obbligatoria salvata il una nel nella non ";

/// What makes something else of it: a password hash.
const COMPOUNDS: &str = " hash hashes hashing auth authentication manager managers prompt prompts field fields reset \
resets login protection policy policies grant input inputs less form forms validation rules rule length strength check \
checks page screen file files store storage rotation change changes column ";

/// What stands behind a word that is the whole of it.
const AFTER: &str = " and but for on in at please und aber fur auf et pour y para e per ok okay btw by so then \
remember everywhere here there ";

const WITH: &str = " with use using as mit avec con com utilise usa nimm ";
const LOGIN: &str = " login signin log sign anmelden einloggen anmelde logge connecte connectez connexion inicia sesion \
entre acesse accedi credentials zugangsdaten identifiants ";
/// Who or what one logs in with, and that is not told.
const KINDS: &str = " google github gitlab facebook apple microsoft okta sso oauth saml email password username phone \
passkey user name mail ldap e-mail token ";
const USERS: &str = " admin root test guest user demo postgres ";

const RUN_NAMES: &[&str] = &["密码", "密碼", "口令", "パスワード", "暗証番号"];
const RUN_IS: &[char] = &['是', '为', '為', 'は', ':', '：', '='];
/// Where it is and how it is, in runs.
const RUN_STATES: &[&str] = &[
    "在",
    "从",
    "存",
    "放",
    "必",
    "需",
    "不",
    "加密",
    "哈希",
    "错",
    "正确",
    "过期",
    "空",
    "强",
    "弱",
    "环境",
    "一样",
    "什么",
    "多少",
    "我们",
    "应",
    "明文",
    "に",
    "から",
    "で",
    "を",
    "ハッシュ",
    "暗号",
    "変更",
    "違",
    "忘",
    "何",
    "正しい",
];
const LONGEST_RUN: usize = 16;

/// A word of a line, and what was typed around it.
struct Word<'a> {
    raw: &'a str,
    plain: String,
}

impl Word<'_> {
    /// A sign behind it ends what is said.
    fn ends(&self) -> bool {
        self.raw.ends_with([',', '.', ';', '!', '?', ')'])
    }

    fn is_in(&self, list: &str) -> bool {
        is_one_of(&self.plain, list)
    }

    fn is_quoted(&self) -> bool {
        self.raw.starts_with(['"', '\'', '`', '“', '„', '«'])
    }

    /// Whether a word can be a password, where it stands for one.
    fn may_be_one(&self) -> bool {
        let inside = self.raw.trim_matches(|c: char| !c.is_alphanumeric());
        let is_variable = inside.contains('_') && inside.chars().all(|c| !c.is_lowercase());
        let is_place = self.raw.contains(['/', '{', '<', '$', '*']) || inside.contains('.');
        let is_treated =
            self.plain.len() > 4 && (self.plain.ends_with("ed") || self.plain.ends_with("ing"));
        inside.len() > 1
            && !is_variable
            && !is_place
            && (self.is_quoted() || !(is_treated || self.is_in(STATES)))
    }
}

/// Where none of these stands, there is no password. In small letters.
const SIGNS: &[&str] = &[
    "pass",
    "pwd",
    "pw",
    "kennwort",
    "contrase",
    "senha",
    "mdp",
    "pin",
    "clave",
    " code",
    "log",
    "sign",
    "admin",
    "root",
    "anmeld",
    "connect",
    "sesi",
    "acesse",
    "accedi",
    "credential",
    "zugang",
    "identifiant",
    "test/",
    "guest",
    "user",
    "demo",
    "postgres",
    "密",
    "口令",
    "パスワード",
    "暗証",
];

/// Whether a line, which is `lower` in small letters, tells a password.
pub(super) fn is_told(line: &str, lower: &str) -> bool {
    if !SIGNS.iter().any(|sign| lower.contains(sign)) {
        return false;
    }
    let word = |raw| Word { raw, plain: spoken::words(raw).concat() };
    let words: Vec<Word<'_>> = line
        .split_whitespace()
        .map(word)
        .filter(|it| !it.plain.is_empty() || matches!(it.raw, "/" | "=" | ":"))
        .collect();
    (0..words.len()).any(|at| {
        name(&words, at).is_some_and(|(last, wants_digit)| tells(&words, last, wants_digit))
            || logs_in(&words, at)
    }) || is_told_in_run(line)
}

/// Where the name of a password ends that begins here, and whether it is a number.
fn name(words: &[Word<'_>], at: usize) -> Option<(usize, bool)> {
    let here = &words[at];
    let next = |gap: usize, plain: &str| words.get(at + gap).is_some_and(|it| it.plain == plain);
    if here.is_in(NAMES) {
        Some((at, false))
    } else if here.plain == "mot" && next(1, "de") && next(2, "passe") {
        Some((at + 2, false))
    } else if here.is_in(OPENS) && next(1, "code") {
        Some((at + 1, true))
    } else {
        here.is_in(CODES).then_some((at, true))
    }
}

/// Whether what stands behind a name tells what it is.
fn tells(words: &[Word<'_>], last: usize, wants_digit: bool) -> bool {
    let fits = |at: usize| {
        let Some(value) = words.get(at) else { return false };
        let is_whole = value.is_quoted()
            || value.ends()
            || words.get(at + 1).is_none_or(|next| next.is_in(AFTER) || next.plain.is_empty());
        let has_digit = value.plain.contains(|c: char| c.is_ascii_digit());
        is_whole && value.may_be_one() && (has_digit || !wants_digit)
    };
    let name = &words[last];
    // `password: sesame`
    if name.raw.ends_with([':', '=']) {
        return fits(last + 1);
    }
    if name.ends() {
        return false;
    }
    let Some(next) = words.get(last + 1) else { return false };
    if matches!(next.raw, "=" | ":") {
        return fits(last + 2);
    }
    // "with password sesame"
    let before = &words[last.saturating_sub(2)..last];
    if before.iter().any(|it| it.is_in(WITH))
        && !next.is_in(COMPOUNDS)
        && !next.is_in(OF)
        && fits(last + 1)
    {
        return true;
    }
    if !(next.is_in(OF) || next.is_in(IS)) {
        return false;
    }
    let reach = (last + 8).min(words.len());
    let Some(is) = (last + 1..reach).find(|at| words[*at].is_in(IS)) else { return false };
    if words[last + 1..is].iter().any(Word::ends) {
        return false;
    }
    let value = is + 1 + usize::from(words.get(is + 1).is_some_and(|it| it.is_in(STILL)));
    fits(value)
}

/// "Log in with admin / sesame", "admin/admin".
fn logs_in(words: &[Word<'_>], at: usize) -> bool {
    let halves = |raw: &str| -> Option<(String, String)> {
        let raw = raw.trim_matches(|c: char| "\"'`.,;:()!?".contains(c));
        let (user, word) = raw.split_once(['/', ':'])?;
        (!user.is_empty() && !word.is_empty()).then(|| (user.to_lowercase(), word.to_lowercase()))
    };
    let here = &words[at];
    if halves(here.raw).is_some_and(|(user, word)| user == word && is_one_of(&user, USERS)) {
        return true;
    }
    let logs = words[at.saturating_sub(5)..at].iter().any(|it| it.is_in(LOGIN));
    let with =
        words[at.saturating_sub(2)..at].iter().any(|it| it.is_in(WITH) || it.raw.ends_with(':'));
    if !(logs && with) || here.is_in(KINDS) {
        return false;
    }
    let parted = words.get(at + 1).is_some_and(|it| it.raw == "/")
        && words.get(at + 2).is_some_and(|it| !it.is_in(KINDS));
    let joined = halves(here.raw).is_some_and(|(user, word)| {
        !is_one_of(&user, KINDS) && !is_one_of(&word, KINDS) && !word.contains('/')
    });
    parted || (joined && !here.raw.contains("://"))
}

/// `密码是太阳花`
fn is_told_in_run(line: &str) -> bool {
    RUN_NAMES.iter().any(|name| {
        let Some(at) = line.find(name) else { return false };
        let behind = &line[at + name.len()..];
        let Some((gap, is)) = behind.char_indices().find(|(_, c)| RUN_IS.contains(c)) else {
            return false;
        };
        let value = &behind[gap + is.len_utf8()..];
        let end =
            value.find(['，', '。', '、', '！', '；', ',', ';', '!', '\n']).unwrap_or(value.len());
        let value = value[..end].trim().trim_end_matches("です").trim_end_matches('だ');
        let chars = value.chars().count();
        behind[..gap].chars().count() <= 6
            && (1..=LONGEST_RUN).contains(&chars)
            && !RUN_STATES.iter().any(|it| value.contains(it))
            && !value.contains(['/', '$', '{', '_'])
    })
}
