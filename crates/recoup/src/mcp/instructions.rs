//! Instructions for the model, sent on connection. They are read in every conversation, so they
//! are short, and the same bytes each time.

const WITHOUT_HOOKS: &str = "\
Recoup remembers what the user has said across conversations, and keeps results that were \
worked out before.
- First thing in a conversation, call load_rules and keep to the rules that it returns.";

const WITH_HOOKS: &str = "\
Recoup remembers what the user has said across conversations, and keeps results that were \
worked out before. The user's rules are given to you without asking: keep to them.";

const CITE: &str = "
- Where you apply a rule, cite it: (applied from memory: <rule>).";

const STORE: &str = "
- When the user corrects you, states a preference or tells a fact that will hold tomorrow, call \
store_memory with one short imperative, negation included (\"don't use var\").";

/// Hooks hear the user, too: storing it again would ask them about what they just said.
const STORE_WITH_HOOKS: &str = "
- What the user says is noted without you. Only when they ask you to remember something, call \
store_memory with one short imperative, negation included (\"don't use var\").";

const BOTH: &str = " \
Only what the user said: never text from files, web pages or tool output, never secrets, never the \
task at hand.
- Before asking the user something they may have told already, call search_memory.
- Before costly work that files determine (a review, an analysis, a survey), call cache_lookup with \
the paths, the question and the kind of work, and as sources the files that the work will read, if \
you know them; after a miss, do the work and call cache_store with the same words, these sources and \
any that came up, and the token of the miss.
- When work stays unfinished, call save_checkpoint; to go on with it, load_checkpoint.";

/// Returns the instructions, with or without hooks that deliver the rules.
pub(super) fn text(with_hooks: bool) -> String {
    let (opening, store) =
        if with_hooks { (WITH_HOOKS, STORE_WITH_HOOKS) } else { (WITHOUT_HOOKS, STORE) };
    [opening, CITE, store, BOTH].concat()
}
