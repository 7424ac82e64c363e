//! Shell lines that say all there is to know: words and operators. Where the shell would put in
//! something else (variables, globs, substitutions), or goes on by itself (background jobs), a line
//! is not plain.

use crate::memory::lang::is_one_of;

/// A word without its quotes, or an operator such as `&&`, `|` and `2>&1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShellToken {
    /// A word.
    Word(String),
    /// Whatever is between commands, or redirects their streams.
    Operator(String),
}

/// Words with which the shell begins and ends a compound command.
const RESERVED: &str = "if then elif else fi for select while until do done case esac function";

/// Reads a plain line. `with_stars` takes `*` as part of a word, as patterns of lines have it.
pub fn plain_tokens(line: &str, with_stars: bool) -> Option<Vec<ShellToken>> {
    let mut tokens = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = line.trim();
    while let Some(c) = rest.chars().next() {
        let behind = &rest[c.len_utf8()..];
        rest = match c {
            ' ' | '\t' => {
                tokens.extend(word.take().map(ShellToken::Word));
                behind
            }
            '\'' => {
                let (text, behind) = behind.split_once('\'')?;
                word.get_or_insert_default().push_str(text);
                behind
            }
            '"' => push_double_quoted(behind, word.get_or_insert_default())?,
            '\\' => {
                let escaped = behind.chars().next().filter(|it| *it != '\n')?;
                word.get_or_insert_default().push(escaped);
                &behind[escaped.len_utf8()..]
            }
            '|' | ';' | '&' | '<' | '>' => {
                let is_number = |it: &String| it.bytes().all(|byte| byte.is_ascii_digit());
                let number = word.take_if(|it| is_number(it) && matches!(c, '<' | '>'));
                tokens.extend(word.take().map(ShellToken::Word));
                let operator = operator_at(rest)?;
                let number = number.unwrap_or_default();
                tokens.push(ShellToken::Operator(format!("{number}{operator}")));
                &rest[operator.len()..]
            }
            '#' | '~' | '!' if word.is_none() => return None,
            '*' if with_stars => {
                word.get_or_insert_default().push('*');
                behind
            }
            '$' | '`' | '(' | ')' | '{' | '}' | '*' | '?' | '[' | ']' => return None,
            c if c.is_control() => return None,
            c => {
                word.get_or_insert_default().push(c);
                behind
            }
        };
    }
    tokens.extend(word.map(ShellToken::Word));
    let mut commands = tokens.split(|it| matches!(it, ShellToken::Operator(_)));
    let is_compound = commands.any(
        |words| matches!(words.first(), Some(ShellToken::Word(word)) if is_one_of(word, RESERVED)),
    );
    (!is_compound).then_some(tokens)
}

fn push_double_quoted<'a>(text: &'a str, word: &mut String) -> Option<&'a str> {
    let mut chars = text.char_indices();
    loop {
        match chars.next()? {
            (at, '"') => return Some(&text[at + 1..]),
            (_, '$' | '`') => return None,
            (_, '\\') => match chars.next()?.1 {
                c @ ('"' | '\\' | '$' | '`') => word.push(c),
                '\n' => return None,
                c => word.extend(['\\', c]),
            },
            (_, c) => word.push(c),
        }
    }
}

/// The operator that a text begins with. Here-documents, process substitution and background jobs
/// are none.
fn operator_at(text: &str) -> Option<&str> {
    let known = ["&&", "||", "|&", ";", "|", "&>>", "&>", ">>", ">&1", ">&2", ">|", ">", "<"];
    let operator = known.into_iter().find(|it| text.starts_with(it))?;
    let behind = &text[operator.len()..];
    let is_other =
        behind.starts_with(['(', '<', '&']) || operator == ";" && behind.starts_with(';');
    (!is_other).then_some(operator)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str) -> Option<String> {
        let tokens = plain_tokens(line, false)?;
        let shown = tokens.iter().map(|it| match it {
            ShellToken::Word(word) => format!("[{word}]"),
            ShellToken::Operator(operator) => operator.clone(),
        });
        Some(shown.collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn plain_lines_are_words_and_operators() {
        for (line, expected) in [
            ("cargo test -p 'my crate'", "[cargo] [test] [-p] [my crate]"),
            ("  CI=1 npm test  ", "[CI=1] [npm] [test]"),
            ("cd web && npm test", "[cd] [web] && [npm] [test]"),
            ("make test 2>&1 | tail -5", "[make] [test] 2>&1 | [tail] [-5]"),
            ("a \"b \\\"c\\\" \\d\" e\\ f ''", "[a] [b \"c\" \\d] [e f] []"),
            ("pytest -k a#b x2>out", "[pytest] [-k] [a#b] [x2] > [out]"),
        ] {
            assert_eq!(shown(line).as_deref(), Some(expected), "{line}");
        }
    }

    #[test]
    fn what_the_shell_fills_in_is_not_plain() {
        for line in [
            "echo $HOME", "echo \"$HOME\"", "ls *.rs", "ls ~/x", "x=$(date)", "echo `date`",
            "cargo test &", "cargo test & ls", "cat <<EOF\nx\nEOF", "cat <<< x", "diff <(a) b",
            "(cd x; ls)", "a\nb", "a {b,c}", "! a", "a # b", "a 'b", "a \"b", "a \\", "a;;",
            "cargo test >&3", "a [b]", "a?",
        ] {
            assert_eq!(shown(line), None, "{line}");
        }
    }
}
