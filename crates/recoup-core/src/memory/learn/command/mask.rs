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

/// Flags of programs whose value is a password, and no pattern would know it.
const FLAGS: [(&str, &[&str]); 9] = [
    ("mysql", &["-p"]),
    ("mysqldump", &["-p"]),
    ("mysqladmin", &["-p"]),
    ("sshpass", &["-p"]),
    ("docker", &["-p"]),
    ("podman", &["-p"]),
    ("redis-cli", &["-a"]),
    ("openssl", &["-k", "-pass", "-passin", "-passout"]),
    ("curl", &["-u"]),
];

/// Parts of names whose value comes next.
const NAMES: [&str; 7] =
    ["password", "passwd", "secret", "token", "api_key", "apikey", "access_key"];

const HIDDEN: &str = "[hidden]";

/// A line without what stands in a password's place.
pub fn without_passwords(line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let flags: Vec<&str> = words
        .iter()
        .filter_map(|word| {
            let program = word.rsplit('/').next().unwrap_or(word);
            FLAGS.iter().find(|(name, _)| *name == program)
        })
        .flat_map(|(_, flags)| flags.iter().copied())
        .collect();
    let mut hide_next = false;
    let shown = words.into_iter().map(|word| {
        if std::mem::take(&mut hide_next) && !word.is_empty() {
            return HIDDEN.to_owned();
        }
        if let Some(flag) = flags.iter().find(|flag| word.starts_with(**flag)) {
            // Joined with its value, or before it. `-p 8080:80` of docker is hidden as well.
            if word.len() > flag.len() && flag.len() == 2 {
                return format!("{flag}{HIDDEN}");
            }
            hide_next = word == *flag;
        }
        let lower = word.to_lowercase();
        let named = NAMES.iter().any(|name| lower.contains(name)) && !word.contains('=');
        // A path or a sentence is no name.
        hide_next |=
            named && (word.starts_with('-') || lower.ends_with("token") || lower.contains('_'));
        word.to_owned()
    });
    shown.collect::<Vec<_>>().join(" ")
}
