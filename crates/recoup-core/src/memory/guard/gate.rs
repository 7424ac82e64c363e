//! Gate of memory: the only way from a statement to a row. Whatever must not be kept is taken out or
//! refused here, once.

use std::borrow::Cow;
use std::ops::Deref;

use crate::error::{Error, ErrorKind, Result};
use crate::memory::guard::private_text::without_private;
use crate::memory::guard::refusal::{RefusalReason, statement_refusal};
use crate::memory::model::statement::{Statement, check_path_glob, normalize_for_comparison};
use crate::secrets;

/// Longest topic, in characters.
const MOST_TOPIC: usize = 200;

/// A statement that may be kept: on one line, without private text and secrets, and with a valid
/// glob.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValidStatement(Statement);

impl Deref for ValidStatement {
    type Target = Statement;

    fn deref(&self) -> &Statement {
        &self.0
    }
}

impl Statement {
    /// Takes private text out, and checks the rest; the error tells why it must not be kept.
    pub fn validated(self) -> Result<ValidStatement> {
        let open = without_private(&self.text);
        let is_private = matches!(open, Cow::Owned(_));
        let text = open.split_whitespace().collect::<Vec<_>>().join(" ");
        if normalize_for_comparison(&text).is_empty() {
            return refuse(if is_private {
                "nothing left to remember: all of it is private".to_owned()
            } else {
                RefusalReason::Empty.to_string()
            });
        }
        if let Some(refusal) = statement_refusal(&text) {
            return refuse(refusal.to_string());
        }
        if let Some(Err(why)) = self.paths.as_deref().map(check_path_glob) {
            return Err(Error::usage(why));
        }
        if let Some(topic) = &self.topic {
            check_topic(topic)?;
        }
        let cut = |text: String| without_private(&text).into_owned();
        let (quote, until) = (self.quote.map(cut), self.until.map(cut));
        let more = [&quote, &until, &self.topic, &self.paths].into_iter().flatten();
        if let Some(rule) = more.into_iter().find_map(|it| secrets::detect_secret(it.as_bytes())) {
            return refuse(RefusalReason::Secret(rule).to_string());
        }
        let until = until.filter(|it| statement_refusal(it).is_none());
        Ok(ValidStatement(Self { text, quote, until, ..self }))
    }
}

fn check_topic(topic: &str) -> Result<()> {
    let chars = topic.chars().count();
    if topic.trim().is_empty() {
        return Err(Error::usage("the topic is empty: omit it to derive it from the text"));
    }
    if chars > MOST_TOPIC {
        return Err(Error::usage(format!(
            "the topic has {chars} characters, the limit is {MOST_TOPIC}"
        )));
    }
    match statement_refusal(topic) {
        Some(refusal) => refuse(format!("invalid topic: {refusal}")),
        None => Ok(()),
    }
}

fn refuse<T>(why: String) -> Result<T> {
    Err(Error::new(ErrorKind::Invalid, why))
}
