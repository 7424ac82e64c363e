//! What we have to say: to the agent, and to the person.

use recoup_core::base::text::shortened;

/// As much of a notice as a person reads in passing.
const NOTICE: usize = 200;

/// What we have to say; mostly nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Reply {
    /// For the agent.
    pub(crate) context: Option<String>,
    /// For the person, one line.
    pub(crate) notice: Option<String>,
}

impl Reply {
    /// Adds something for the agent.
    pub(crate) fn tell(&mut self, text: &str) {
        self.context.get_or_insert_default().push_str(text);
    }

    /// Adds something for the person: one line, whatever is in it.
    pub(crate) fn notice(&mut self, text: &str) {
        let line = recoup_core::memory::inject::one_line(text).replace("&lt;", "<");
        let line = shortened(&line, NOTICE);
        match &mut self.notice {
            None => self.notice = Some(format!("recoup: {line}")),
            Some(notice) => {
                notice.push_str("; ");
                notice.push_str(&line);
            }
        }
    }

    /// Whether there is nothing to say.
    pub(crate) fn is_empty(&self) -> bool {
        self.context.is_none() && self.notice.is_none()
    }
}

/// How long a text is as clients count it.
pub(super) fn units(text: &str) -> usize {
    text.encode_utf16().count()
}
