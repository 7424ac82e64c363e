//! The reply to an event: context for the agent, a notice for the person.

use recoup_core::base::text::shortened;

/// Length limit of a notice, in characters.
const NOTICE: usize = 200;

/// Reply to an event; usually empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Reply {
    /// For the agent.
    pub(crate) context: Option<String>,
    /// For the person: one line.
    pub(crate) notice: Option<String>,
}

impl Reply {
    /// Appends text for the agent.
    pub(crate) fn tell(&mut self, text: &str) {
        self.context.get_or_insert_default().push_str(text);
    }

    /// Appends a notice for the person, forced into one line.
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

    /// True if there is nothing to say.
    pub(crate) fn is_empty(&self) -> bool {
        self.context.is_none() && self.notice.is_none()
    }
}

/// Length of a text in UTF-16 units, as clients count it.
pub(super) fn units(text: &str) -> usize {
    text.encode_utf16().count()
}
