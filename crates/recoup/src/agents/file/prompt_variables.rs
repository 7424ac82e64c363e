//! Variables in prompts: `${name}` in our own files, `{{name}}` in `.agent.md` and
//! `.lifecycle.yaml`.

use std::collections::BTreeMap;
use std::fmt;

use crate::agents::agent_file::VariableSyntax;

/// A variable that has no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnknownVariable(pub(crate) String);

impl fmt::Display for UnknownVariable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the variable {0} has no value: give it by --var {0}=VALUE", self.0)
    }
}

/// Replaces variables by their values. Braces around anything that is not a name stay, and so does
/// `${name}` where it is written `$${name}`. `{{parameters.name}}` is `{{name}}`.
pub(crate) fn expand_variables(
    text: &str,
    syntax: VariableSyntax,
    values: &BTreeMap<String, String>,
) -> Result<String, UnknownVariable> {
    let mut expanded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(variable) = next_variable(rest, syntax) {
        let VariablePlace { start, end, name, is_escaped } = variable;
        let before = &rest[..start];
        if is_escaped {
            expanded.push_str(&before[..before.len() - 1]);
            expanded.push_str(&rest[start..end]);
        } else {
            expanded.push_str(before);
            let bare = name.strip_prefix("parameters.").unwrap_or(name);
            let value = values.get(name).or_else(|| values.get(bare));
            expanded.push_str(value.ok_or_else(|| UnknownVariable(name.to_owned()))?);
        }
        rest = &rest[end..];
    }
    expanded.push_str(rest);
    Ok(expanded)
}

/// Names of the variables in a text, in order.
pub(crate) fn variable_names(text: &str, syntax: VariableSyntax) -> Vec<&str> {
    let mut names = Vec::new();
    let mut rest = text;
    while let Some(VariablePlace { end, name, is_escaped, .. }) = next_variable(rest, syntax) {
        if !is_escaped {
            names.push(name);
        }
        rest = &rest[end..];
    }
    names
}

/// A variable in a text, with its braces from `start` to `end`.
struct VariablePlace<'a> {
    start: usize,
    end: usize,
    name: &'a str,
    is_escaped: bool,
}

fn next_variable(text: &str, syntax: VariableSyntax) -> Option<VariablePlace<'_>> {
    let (open, close) = match syntax {
        VariableSyntax::None => return None,
        VariableSyntax::Dollar => ("${", "}"),
        VariableSyntax::Braces => ("{{", "}}"),
    };
    let mut from = 0;
    loop {
        let start = from + text[from..].find(open)?;
        let inner = start + open.len();
        // No farther than a name goes: what is never closed would be searched again and again.
        let name = text[inner..].trim_start();
        let is_part = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
        let (name, rest) = name.split_at(name.find(|c| !is_part(c)).unwrap_or(name.len()));
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if is_name && let Some(rest) = rest.trim_start().strip_prefix(close) {
            let is_escaped = syntax == VariableSyntax::Dollar && text[..start].ends_with('$');
            return Some(VariablePlace { start, end: text.len() - rest.len(), name, is_escaped });
        }
        from = inner;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_that_are_never_closed_take_no_time() {
        let text = "${#".repeat(300_000) + "}";
        assert!(variable_names(&text, VariableSyntax::Dollar).is_empty());
        let text = "{{ a ".repeat(200_000) + "{{ b }}";
        assert_eq!(variable_names(&text, VariableSyntax::Braces), ["b"]);
    }

    #[test]
    fn variables_are_expanded_by_the_syntax_of_the_dialect() {
        let values = BTreeMap::from([
            ("name".to_owned(), "Ada".to_owned()),
            ("report_date".to_owned(), "2026-01-02".to_owned()),
        ]);
        let expand = |text: &str, syntax| {
            expand_variables(text, syntax, &values).map_err(|error| error.to_string())
        };
        for (text, syntax, expected) in [
            ("Hi ${name}, ${ name }!", VariableSyntax::Dollar, "Hi Ada, Ada!"),
            (
                "$${name} ${#x} ${} $name {{name}}",
                VariableSyntax::Dollar,
                "${name} ${#x} ${} $name {{name}}",
            ),
            ("{{name}} {{ parameters.report_date }}", VariableSyntax::Braces, "Ada 2026-01-02"),
            ("{{}} {{ 1 }} ${name}", VariableSyntax::Braces, "{{}} {{ 1 }} ${name}"),
            ("${name} {{name}}", VariableSyntax::None, "${name} {{name}}"),
            ("${unclosed", VariableSyntax::Dollar, "${unclosed"),
        ] {
            assert_eq!(expand(text, syntax).as_deref(), Ok(expected), "{text}");
        }
        let error = expand("${other}", VariableSyntax::Dollar).unwrap_err();
        assert_eq!(error, "the variable other has no value: give it by --var other=VALUE");
        assert_eq!(variable_names("${a} $${b} ${c}", VariableSyntax::Dollar), ["a", "c"]);
    }
}
