//! Lines whose success says nothing, and words of a line that nobody may see.

/// Whether a line may end well although what it runs did not: behind a pipe, `||`, another
/// command or `&` the exit code is somebody else's.
pub fn hides_its_end(line: &str) -> bool {
    let mut quote = None;
    let mut chars = line.trim_end().chars().peekable();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (_, '\\') if quote != Some('\'') => {
                chars.next();
            }
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, '|' | ';') => return true,
            (None, '&') => match chars.peek() {
                Some('&') => {
                    chars.next();
                }
                // `2>&1` and `&>file` are no background.
                Some('>' | '0'..='9') => {}
                _ => return true,
            },
            _ => {}
        }
    }
    false
}

/// A flag of a program whose value is a password, which no pattern would know.
#[derive(Debug, Clone, Copy)]
enum Flag {
    /// The value may be joined with it: `-phunter2`.
    Short(&'static str),
    /// The value comes next. It is not the beginning of another flag.
    Long(&'static str),
}

use Flag::{Long, Short};

/// `-p 8080:80` of docker is hidden as well.
const FLAGS: [(&str, &[Flag]); 9] = [
    ("mysql", &[Short("-p")]),
    ("mysqldump", &[Short("-p")]),
    ("mysqladmin", &[Short("-p")]),
    ("sshpass", &[Short("-p")]),
    ("docker", &[Short("-p")]),
    ("podman", &[Short("-p")]),
    ("redis-cli", &[Short("-a")]),
    ("openssl", &[Long("-k"), Long("-pass"), Long("-passin"), Long("-passout")]),
    ("curl", &[Short("-u")]),
];

/// Parts of names whose value comes next.
const NAMES: [&str; 7] =
    ["password", "passwd", "secret", "token", "api_key", "apikey", "access_key"];

const HIDDEN: &str = "[hidden]";

/// What becomes of the next word.
#[derive(Debug, Clone, Copy)]
enum Next {
    Shown,
    /// It is a password.
    Hidden,
    /// It belongs to a password in these quotes, which has begun.
    Within(char),
}

/// A line without what stands in a password's place. White space stays as it is.
pub fn without_passwords(line: &str) -> String {
    let flags = line.split_whitespace().flat_map(flags_of).copied().collect();
    let mut masked = Masked { flags, shown: String::with_capacity(line.len()), next: Next::Shown };
    for piece in line.split_inclusive(char::is_whitespace) {
        let word = piece.trim_end();
        masked.take(word, &piece[word.len()..]);
    }
    masked.shown
}

/// A line, as far as it was looked at.
struct Masked {
    flags: Vec<Flag>,
    shown: String,
    next: Next,
}

impl Masked {
    /// Goes on with a word, which may be empty, and the white space behind it.
    fn take(&mut self, word: &str, blank: &str) {
        match self.next {
            Next::Within(quote) if word.contains(quote) => {
                self.next = Next::Shown;
                self.shown.push_str(blank);
            }
            Next::Within(_) => {}
            // A line that goes on below has a backslash at its end.
            Next::Hidden if matches!(word, "" | "\\") => self.push(word, blank),
            Next::Hidden => self.hide(word, blank),
            Next::Shown => self.show(word, blank),
        }
    }

    fn show(&mut self, word: &str, blank: &str) {
        if let Some((flag, password)) = self.flags.iter().find_map(|flag| flag.joined_in(word)) {
            self.shown.push_str(flag);
            return self.hide(password, blank);
        }
        self.push(word, blank);
        if announces(word, &self.flags) {
            self.next = Next::Hidden;
        }
    }

    fn hide(&mut self, password: &str, blank: &str) {
        if let Some(quote) = open_quote(password) {
            self.next = Next::Within(quote);
            return self.shown.push_str(HIDDEN);
        }
        self.next = Next::Shown;
        self.push(HIDDEN, blank);
    }

    fn push(&mut self, word: &str, blank: &str) {
        self.shown.push_str(word);
        self.shown.push_str(blank);
    }
}

/// The flags of a program; a word that is none has none.
fn flags_of(word: &str) -> &'static [Flag] {
    let name = word.rsplit('/').next().unwrap_or(word);
    // It may begin a quoted line, or one in brackets.
    let name = name.trim_matches(|c: char| !c.is_alphanumeric());
    FLAGS.iter().find(|(program, _)| *program == name).map_or(&[], |(_, flags)| flags)
}

impl Flag {
    /// The flag and the password, where a word is both.
    fn joined_in(self, word: &str) -> Option<(&'static str, &str)> {
        let Self::Short(flag) = self else { return None };
        word.strip_prefix(flag).filter(|password| !password.is_empty()).map(|it| (flag, it))
    }

    fn is(self, word: &str) -> bool {
        let (Self::Short(flag) | Self::Long(flag)) = self;
        word == flag
    }
}

/// Whether the word behind this one is a password.
fn announces(word: &str, flags: &[Flag]) -> bool {
    let lower = word.to_lowercase();
    let named = NAMES.iter().any(|name| lower.contains(name)) && !word.contains('=');
    // A path or a sentence is no name.
    let is_name = word.starts_with('-') || lower.ends_with("token") || lower.contains('_');
    flags.iter().any(|flag| flag.is(word)) || (named && is_name)
}

/// The quote that a password begins with, and that is not closed in the same word.
fn open_quote(password: &str) -> Option<char> {
    let quote = password.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    (password.matches(quote).count() % 2 == 1).then_some(quote)
}
