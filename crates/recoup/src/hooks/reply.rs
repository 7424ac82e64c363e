//! The reply to an event: context for the agent, a notice for the person.

use recoup_core::base::text::shorten_text;

/// Length limit of a notice, in characters.
const MAX_NOTICE_CHARS: usize = 200;

/// Reply to an event; usually empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct HookReply {
    /// For the agent.
    pub(crate) context: Option<String>,
    /// For the person: one line.
    pub(crate) notice: Option<String>,
}

impl HookReply {
    /// Appends text for the agent.
    pub(crate) fn add_context(&mut self, text: &str) {
        self.context.get_or_insert_default().push_str(text);
    }

    /// Appends a notice for the person, forced into one line.
    pub(crate) fn add_notice(&mut self, text: &str) {
        let line = recoup_core::memory::inject::one_line(text).replace("&lt;", "<");
        let line = shorten_text(&line, MAX_NOTICE_CHARS);
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
pub(super) fn utf16_len(text: &str) -> usize {
    text.encode_utf16().count()
}
