//! Phrase patterns, written as people would say them, and those that ask an agent to take another
//! role, to reveal its instructions, or to hide its actions:
//!
//! ```text
//! a|b     one of these words      a*   a word that begins so      a?   it may be missing
//! ~       a few small words       !a|b  not one of these next     $    the clause ends
//! ^       the statement begins
//! ```

use crate::memory::lang::word_lists::{FirstLetters, is_one_of};

/// A phrase pattern.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PhrasePattern {
    text: &'static str,
    /// Letters that its first word may begin with.
    begins: FirstLetters,
}

impl PhrasePattern {
    pub(crate) const fn new(text: &'static str) -> Self {
        let bytes = text.as_bytes();
        let (mut begins, mut part, mut at) = (FirstLetters::NONE, 0, 0);
        while at < bytes.len() {
            match bytes[at] {
                b' ' if bytes[at - 1] == b'^' => part = at + 1,
                b' ' => {
                    begins = begins.union(choice_letters(text, part, at));
                    if bytes[at - 1] != b'?' {
                        return Self { text, begins };
                    }
                    part = at + 1;
                }
                _ => {}
            }
            at += 1;
        }
        // If every word may be missing, the first letter is unknown.
        if at > 0 && bytes[at - 1] == b'?' {
            return Self { text, begins: FirstLetters::ALL };
        }
        Self { text, begins: begins.union(choice_letters(text, part, at)) }
    }
}

/// Words that `~` matches.
const SMALL: &str = " the a an all any every of this that these those your my our its me us to out \
back full entire complete exact verbatim hidden initial original current secret internal content \
contents text whole and or previous prior above earlier system developer existing other user ";

/// Maximum number of words that one `~` matches.
const MOST_SMALL: usize = 5;

/// Words that negate a phrase.
const NEGATIONS: &str = " never not dont cannot cant wont shouldnt mustnt nicht niemals nie nunca jamais \
nao no non mai ne ";

/// True if `phrase` occurs in a clause without a negation before it.
pub(crate) fn occurs_in(phrase: &PhrasePattern, words: &[&str], first_clause: bool) -> bool {
    let mut begins = (0..words.len()).filter(|at| phrase.begins.may_begin(words[*at])).peekable();
    if begins.peek().is_none() {
        return false;
    }
    let parts: Vec<&str> = phrase.text.split(' ').collect();
    if let ["^", parts @ ..] = &parts[..] {
        return first_clause && matches_parts(parts, words);
    }
    begins.any(|at| {
        matches_parts(&parts, &words[at..]) && !(at > 0 && is_one_of(words[at - 1], NEGATIONS))
    })
}

/// True if these words begin with `phrase`.
pub(crate) fn starts_with_phrase(phrase: &str, words: &[&str]) -> bool {
    let parts: Vec<&str> = phrase.split(' ').collect();
    matches_parts(&parts, words)
}

const fn choice_letters(phrase: &str, start: usize, end: usize) -> FirstLetters {
    let (_, behind) = phrase.split_at(start);
    let (part, _) = behind.split_at(end - start);
    match part.as_bytes() {
        [b'!' | b'~' | b'$', ..] => FirstLetters::ALL,
        _ => FirstLetters::of(part, b'|'),
    }
}

fn matches_parts(parts: &[&str], words: &[&str]) -> bool {
    let Some((part, later)) = parts.split_first() else { return true };
    match *part {
        "$" => words.is_empty(),
        "~" => (0..=words.len().min(MOST_SMALL))
            .take_while(|count| words[..*count].iter().all(|word| is_one_of(word, SMALL)))
            .any(|count| matches_parts(later, &words[count..])),
        part => {
            if let Some(unwanted) = part.strip_prefix('!') {
                return words.first().is_none_or(|word| !matches_choice(unwanted, word))
                    && matches_parts(later, words);
            }
            let (part, optional) = part.strip_suffix('?').map_or((part, false), |it| (it, true));
            let taken = words.split_first().is_some_and(|(word, behind)| {
                matches_choice(part, word) && matches_parts(later, behind)
            });
            taken || (optional && matches_parts(later, words))
        }
    }
}

/// True if `word` is one of `a|b|c*`.
pub(crate) fn matches_choice(choices: &str, word: &str) -> bool {
    let first = word.as_bytes().first();
    choices.split('|').any(|choice| {
        choice.as_bytes().first() == first
            && match choice.strip_suffix('*') {
                Some(beginning) => word.starts_with(beginning),
                None => word == choice,
            }
    })
}

pub(crate) fn is_negation(word: &str) -> bool {
    is_one_of(word, NEGATIONS)
}

/// Markers of prompts and other frames, in plain letters.
pub(crate) const MARKS: &[&str] = &[
    "<system>",
    "</system>",
    "<system-reminder",
    "</system-reminder",
    "<|im_start|>",
    "<|im_end|>",
    "<|system|>",
    "<|endoftext|>",
    "[inst]",
    "[/inst]",
    "<<sys>>",
    "<recoup-memory",
    "</recoup-memory",
    "[system message]",
    "[system prompt]",
    "\nhuman:",
    "\nassistant:",
    "\nsystem:",
    "### system",
    "### instruction",
    "begin system prompt",
    "end of system prompt",
    "system override:",
];

/// Common phrases without their spaces.
pub(crate) const SQUEEZED: &[&str] = &[
    "ignoreallpreviousinstructions",
    "ignorepreviousinstructions",
    "ignoreallinstructions",
    "ignoreyourinstructions",
    "ignoreallpriorinstructions",
    "ignorepriorinstructions",
    "ignoretheaboveinstructions",
    "disregardallpreviousinstructions",
    "disregardpreviousinstructions",
    "forgetallpreviousinstructions",
    "forgetpreviousinstructions",
    "revealyoursystemprompt",
    "revealthesystemprompt",
];

/// All phrase patterns, ready to be matched.
pub(crate) static ALL: [PhrasePattern; WRITTEN.len()] = {
    let mut all = [PhrasePattern::new(""); WRITTEN.len()];
    let mut at = 0;
    while at < all.len() {
        all[at] = PhrasePattern::new(WRITTEN[at]);
        at += 1;
    }
    all
};

/// Phrase patterns, in the syntax of `phrase`.
const WRITTEN: &[&str] = &[
    // Take another role.
    "you are|re now !on|in|at|using|running|working|connected|logged|able|ready|done|back",
    "youre now !on|in|at|using|running|working|connected|logged|able|ready|done|back",
    "you are no longer a|an|bound|claude|codex|chatgpt|restricted|limited|subject|required|obliged",
    "you will|must|shall|should now act|behave|pretend|be|become",
    "from now on you are|re !on|in|at|using|working",
    "from now on youre !on|in|at|using|working",
    "from now on you will|must|shall|should be|act|behave|pretend|become|obey",
    "from now on act|behave|pretend as|like|to|you",
    "from this point|moment on|onward|onwards|forward you are|re !on|in|at|using|working",
    "act|behave|answer|respond as though|if you had|have|were|are",
    "pretend to be",
    "pretend that? you|youre",
    "roleplay as",
    "role play as",
    "act as if you|youre",
    "act as an? dan|root|unrestricted|jailbroken|evil|uncensored|unfiltered",
    "you are a|an? dan|jailbroken|unrestricted|unfiltered|uncensored|evil|amoral",
    "you are free from|to ignore|of",
    "do anything now",
    "enter|activate|switch|enable to? into? dan|jailbreak|unrestricted|god|sudo mode",
    "enter developer mode",
    "you are|re in|entering developer|dan|god|jailbreak|admin|unrestricted mode",
    "you have no restrictions|limits|limitations|rules|guidelines|filters|guardrails",
    "your new|real|true|actual|only|sole instruction*|purpose|task|goal|mission|role|identity|name|directive* is|are",
    "here are your new instructions|rules|orders",
    "^ new|updated system|developer? instructions|prompt|directives $",
    "disable|remove|lift|drop|deactivate|bypass|turn off? ~ your ~ safety|guardrails|filter*|restrictions|limitations|safeguards",
    "take|takes precedence|priority over ~ instructions|prompt|guidelines|directives",
    "obey me",
    "obey my commands|orders|every|instructions",
    "obey every|all|any|only command*|order*|instruction*|me|my|these",
    "do whatever ~ page|website|site|file|output|email|document|comment|issue says|tells|asks",
    // Override earlier instructions.
    "ignore|disregard|forget all|everything|anything? of? the? above|foregoing|preceding $",
    "ignore|disregard|forget all|everything|anything? of? the? above|foregoing|preceding and|instead|then",
    "ignore|disregard|forget everything|all|anything before|prior|previously to? this? $",
    "ignore|disregard|forget everything|all|anything|whatever|what that? you|youve have|were|was|had? been? told|instructed|taught|trained|programmed",
    "ignore|disregard|forget everything|all that? you know $",
    "ignore|disregard|forget who|what you are",
    "stop following|obeying ~ instructions|prompt|guidelines|directives",
    "ignore|disregard|forget everything|anything|all that? was|has|is been? said|written|told|stated|given previously|before|above|earlier|so",
    "previous|prior|earlier|above|your|system|preceding instructions|prompt|guidelines|directives|rules are|is? hereby? no? longer? void|cancelled|canceled|invalid|revoked|overridden|null|apply|valid|obsolete",
    "previous|prior|earlier|above|your|system|preceding instructions|prompt|guidelines|directives|rules do|does not|dont apply",
    "ai|assistant|model|agent without|with any|no? limits|restrictions|filters|rules|guidelines|guardrails",
    // Reveal instructions.
    "repeat|print|output|show|display ~ everything|words|text|all above this? line|message|prompt|conversation",
    "repeat|print|output|show|display ~ everything|words|text|all above $",
    "share|show|print|tell|give|output ~ hidden|secret prompt*|instructions",
    "ignore|disregard|forget whatever? ~ developer|system message says|and",
    "tell|show me what your ~ prompt|instructions|guidelines are|is|say|says",
    "what were|was you told|instructed before|initially|at|to",
    "what were|are|was your instructions $",
    "reveal|leak|disclose|expose|repeat|recite|dump ~ system|initial|hidden|secret|original|developer prompt*|instructions|message*",
    "reveal|leak|disclose|expose|repeat|recite|dump|show|print|output|display|tell|give|share|write|echo|send|return|summarize|summarise|translate|paraphrase ~ your ~ prompt*|instructions|programming|guidelines|directives",
    "what is|are|were|was|s your ~ system|initial|original|hidden|exact|secret prompt|instructions|message",
    "whats your ~ system|initial|original|hidden|exact|secret prompt|instructions|message",
    // Hide actions from the user.
    "without telling|informing|notifying|alerting the? user|users|human $",
    "do? not|never|dont tell|inform|alert|notify the user|human $|about this|that|these|it|you",
    "not|never|dont mention|reveal|disclose this|it|that|these to the user|human",
    "not|never|dont mention|reveal|disclose these|this|the instruction* to the user|human",
    "keep|hide this|it|that a? secret? from the user|human",
    // German
    "du bist jetzt|nun|ab !auf|in|im|am|bei|mit|fertig|an",
    "ab jetzt|sofort|nun bist du",
    "von nun an bist du",
    "tu so als",
    "zeig*|verrat*|nenn*|offenbar*|gib|sag* mir? dein|deine|deinen|den|die system? prompt|systemprompt|systemnachricht|systemanweisung*|anweisungen|instruktionen",
    "vergiss|ignorier*|vergesse* alles was dir|oben|bisher|vorher|zuvor|man",
    "vergiss|ignorier*|vergesse* alles bisherige|vorherige|obige",
    // French
    "oublie*|ignore* tout ce qui|que precede|a|tu|vous|on|t",
    "tu es maintenant|desormais !sur|dans|en|a|au",
    "vous etes maintenant|desormais !sur|dans|en|a|au",
    "a partir de maintenant tu es|seras",
    "fais comme si tu",
    "fais semblant d*",
    "revele*|montre*|affiche*|donne*|divulgue* moi? ton|ta|tes|votre|vos|le|les prompt|instructions|consignes|invite systeme?",
    // Spanish
    "ahora eres",
    "eres ahora",
    "a partir de ahora eres|seras|actuaras",
    "desde ahora eres",
    "ahora actuas como",
    "finge ser|que",
    "haz como si",
    "revela*|muestra*|dime|ensena*|imprime tu|tus|el|las prompt|instrucciones del|de? sistema?",
    "olvida*|ignora* de? todo lo anterior|dicho|previo",
    "olvida*|ignora* todo lo que te|has",
    // Portuguese
    "esque*|ignore tudo o? que? anterior|acima|foi|voce|te",
    "agora voce e|eh",
    "voce e|eh agora",
    "a partir de agora voce e|sera|eh",
    "tu es agora",
    "finja ser|que",
    "revel*|mostr*|exib*|diga me? o|as? seu|suas|teu|tuas prompt|instrucoes",
    "revel*|mostr*|exib* o prompt do|de sistema",
    // Italian
    "dimentica*|ignora* tutto cio|quello|il? che? ti|hai|precede|precedente|sopra",
    "ora|adesso sei un|una|uno|il|la|lo|dan|libero|l",
    "sei ora|adesso un|una|uno|il|la|lo|l",
    "da ora in poi sei",
    "d ora in poi sei|sarai",
    "fingi di|che",
    "dora in poi sei|sarai",
    "da adesso in poi sei|sarai",
    "rivela*|mostra*|dimmi|stampa il|le? tuo|tue prompt|istruzioni",
    "rivela*|mostra*|dimmi|stampa il prompt di sistema",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phrase_is_looked_for_where_its_first_word_may_stand() {
        let cases = [
            ("you are|re now", "you", "are"),
            ("^ act|behave like", "behave", "like"),
            ("please? ignore all", "ignore", "all"),
            ("please? ignore all", "please", "all"),
        ];
        for (phrase, first, later) in cases {
            let begins = PhrasePattern::new(phrase).begins;
            assert!(begins.may_begin(first) && !begins.may_begin(later), "{phrase}");
        }
        for phrase in ["~ prompt", "!on now", "so?", "so? !on"] {
            assert_eq!(PhrasePattern::new(phrase).begins, FirstLetters::ALL, "{phrase}");
        }
    }
}
