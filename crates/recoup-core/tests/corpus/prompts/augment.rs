//! Variants of a prompt: beside others, cut, with fillers, without punctuation, in small letters,
//! mistyped.

use std::collections::BTreeMap;

use super::numbers::NumberSource;
use super::{LabelledPrompt, PromptMark, RETRACTION};

/// Longest prompt that is joined with another, in bytes.
const JOINED: usize = 900;

/// Fillers by language; the first list is for all others, too.
const FILLERS: &[(&str, &str)] = &[
    (
        "en",
        "so |um |btw |ok |okay so |also |hey |hey, |hmm |right, |by the way, |well, |and |oh and |please |hi! |just |uh |one thing: |note: |fyi |ok. |thanks. |great, |nice. |yeah |anyway |so yeah ",
    ),
    ("de", "übrigens, |Übrigens: |also |äh |ok, |und |bitte |hallo, |noch was: "),
    ("fr", "au fait, |bon |ok |alors |euh |et |bonjour, "),
    ("es", "por cierto, |bueno |vale, |oye |eh |y |hola, "),
    ("pt", "aliás, |bom, |ok |então |e |oi, "),
    ("it", "comunque |a proposito, |ok |allora |e |ciao, "),
    ("nl", "trouwens, |oké |dus |en |hoi, "),
    ("ru", "кстати, |ну |ок |так, |и |привет, "),
    ("pl", "a propos, |ok |no to |i |cześć, "),
    ("tr", "bu arada |tamam |yani |ve "),
    ("sv", "förresten, |ok |alltså "),
    ("uk", "до речі, |ок |ну "),
    ("ko", "아 그리고 |음 |참고로 |그리고 "),
    ("zh", "对了，|另外，|嗯，|顺便说一下，"),
    ("ja", "ちなみに、|えっと、|あと、|なお、"),
];

/// Headers above what somebody else wrote: nothing below them is kept.
const FOREIGN_HEADERS: &[(&str, &str)] = &[
    (
        "en",
        "summarize this:\n\n|Summarise: |translate to French:\n|please translate: |proofread the following:\n|what do you make of this text?\n|I found this in the wiki: |the old readme says:\n|rephrase this: |commit with the message: |which of these do we follow?\n|is any of this still true?\n|review this document:\n\n|the ticket says: |turn this into a blog post:\n",
    ),
    ("de", "fass das zusammen:\n\n|übersetze ins Englische: |stimmt das noch?\n|im Wiki steht: "),
    ("fr", "résume ceci :\n\n|traduis en anglais : |j'ai trouvé ça dans le wiki : "),
    ("es", "resume esto:\n\n|traduce al inglés: |esto pone en el wiki: "),
    ("pt", "resuma isto:\n\n|traduza para o inglês: |no wiki está escrito: "),
    ("it", "riassumi questo:\n\n|traduci in inglese: |nel wiki c'è scritto: "),
    ("nl", "vat dit samen:\n\n|vertaal naar het Engels: |in de wiki staat: "),
    ("ru", "кратко перескажи:\n\n|переведи на английский: |в вики написано: "),
    ("zh", "总结一下：\n\n|翻译成英文：|文档里写着："),
    ("ja", "これを要約して：\n\n|英語に翻訳して：|ドキュメントにはこうある："),
    ("ko", "이거 요약해줘:\n\n|영어로 번역해줘: |위키에 이렇게 써있네: "),
];

/// Headers above a list of rules: each item below them is kept.
const RULE_HEADERS: &[(&str, &str)] = &[
    (
        "en",
        "Please remember the following rules for this project:\n\n|Remember the following:\n|From now on:\n|Rules:\n|our conventions:\n|a few things to know:\n|house rules\n|Please remember these:\n|some ground rules before we start:\n|for the future:\n",
    ),
    ("de", "Merk dir bitte folgendes:\n|ab jetzt gilt:\n|unsere Regeln:\n"),
    ("fr", "retiens ceci :\n|nos conventions :\n|à partir de maintenant :\n"),
    ("es", "recuerda esto:\n|nuestras reglas:\n|de ahora en adelante:\n"),
    ("pt", "lembre-se disto:\n|nossas regras:\n"),
    ("it", "ricorda queste regole:\n|le nostre convenzioni:\n"),
    ("nl", "onthoud het volgende:\n|onze afspraken:\n"),
    ("ru", "запомни:\n|наши правила:\n"),
    ("zh", "请记住以下规则：\n|我们的约定：\n"),
    ("ja", "以下を覚えておいて：\n|うちのルール：\n"),
    ("ko", "다음 규칙을 기억해줘:\n|우리 규칙:\n"),
];

/// One of a language's phrases, which `|` separates.
fn pick_phrase(
    all: &'static [(&str, &str)],
    language: &str,
    numbers: &mut NumberSource,
) -> Option<&'static str> {
    let phrases = all.iter().find(|it| it.0 == language)?.1;
    let phrases: Vec<&str> = phrases.split('|').collect();
    Some(*numbers.pick(&phrases))
}

/// Prompts to learn from, and where those of each language are.
pub(crate) struct PromptMixer<'a> {
    prompts: &'a [LabelledPrompt],
    by_language: BTreeMap<&'a str, Vec<usize>>,
}

impl<'a> PromptMixer<'a> {
    pub(crate) fn new(prompts: &'a [LabelledPrompt]) -> Self {
        let mut by_language: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, prompt) in prompts.iter().enumerate() {
            by_language.entry(&prompt.lang).or_default().push(at);
        }
        Self { prompts, by_language }
    }

    /// Returns a variant of the prompt at `at`.
    pub(crate) fn vary(&self, at: usize, numbers: &mut NumberSource) -> LabelledPrompt {
        let mut prompt = self.prompts[at].clone();
        if numbers.chance(0.02) {
            return below_foreign_header(&prompt, numbers).unwrap_or(prompt);
        }
        if numbers.chance(0.02) {
            return self.list_of_rules(&prompt, numbers).unwrap_or(prompt);
        }
        if numbers.chance(0.1) {
            prompt = cut_to_sentences(&prompt, numbers).unwrap_or(prompt);
        }
        if numbers.chance(0.18) {
            let others = &self.by_language[prompt.lang.as_str()];
            let other = &self.prompts[*numbers.pick(others)];
            prompt = join_prompts(&prompt, other, numbers).unwrap_or(prompt);
        }
        if numbers.chance(0.08) {
            prompt = add_filler(&prompt, numbers).unwrap_or(prompt);
        }
        if numbers.chance(0.05) {
            prompt = rewrite(&prompt, |behind, c, text| {
                let stands_last = behind.chars().next().is_none_or(char::is_whitespace);
                if !(stands_last && ".,!?;:".contains(c)) {
                    text.push(c);
                }
            });
        }
        if numbers.chance(0.06) {
            prompt = rewrite(&prompt, |_, c, text| text.extend(c.to_lowercase()));
        }
        if numbers.chance(0.08) {
            prompt = mistype(&prompt, numbers);
        }
        prompt
    }

    /// The marks of a prompt and of others as a list of rules.
    fn list_of_rules(
        &self,
        prompt: &LabelledPrompt,
        numbers: &mut NumberSource,
    ) -> Option<LabelledPrompt> {
        let header = pick_phrase(RULE_HEADERS, &prompt.lang, numbers)?;
        let numbered = numbers.chance(0.3);
        let mut list = LabelledPrompt {
            text: header.to_owned(),
            marks: Vec::new(),
            re_ask: false,
            ..prompt.clone()
        };
        for number in 1..=2 + numbers.below(5) {
            let others = &self.by_language[prompt.lang.as_str()];
            let other = &self.prompts[*numbers.pick(others)];
            let is_rule = |mark: &&PromptMark| {
                mark.kind != RETRACTION
                    && mark.span.len() < 120
                    && !other.text[mark.span.clone()].contains('\n')
            };
            let Some(mark) = other.marks.iter().find(is_rule) else { continue };
            let sign = if numbered { format!("{number}. ") } else { "- ".to_owned() };
            list.text += &sign;
            let from = list.text.len();
            list.text += &other.text[mark.span.clone()];
            list.marks.push(PromptMark { span: from..list.text.len(), ..mark.clone() });
            list.text.push('\n');
        }
        (list.marks.len() > 1).then_some(list)
    }
}

/// A prompt as the text that somebody is to work on.
fn below_foreign_header(
    prompt: &LabelledPrompt,
    numbers: &mut NumberSource,
) -> Option<LabelledPrompt> {
    let header = pick_phrase(FOREIGN_HEADERS, &prompt.lang, numbers)?;
    let text = format!("{header}{}", prompt.text);
    Some(LabelledPrompt { text, marks: Vec::new(), re_ask: false, ..prompt.clone() })
}

fn is_inside_mark(prompt: &LabelledPrompt, at: usize) -> bool {
    prompt.marks.iter().any(|mark| mark.span.start < at && at < mark.span.end)
}

/// Positions where a sentence or a line begins.
fn sentence_starts(text: &str) -> Vec<usize> {
    let is_start = |at: usize| {
        let before = &text[..at];
        before.ends_with('\n') || [". ", "! ", "? "].iter().any(|stop| before.ends_with(stop))
    };
    text.char_indices().map(|(at, _)| at).filter(|at| *at == 0 || is_start(*at)).collect()
}

/// Some neighbouring sentences of a prompt, unless that cuts a mark.
fn cut_to_sentences(prompt: &LabelledPrompt, numbers: &mut NumberSource) -> Option<LabelledPrompt> {
    let mut borders = sentence_starts(&prompt.text);
    borders.push(prompt.text.len());
    if borders.len() < 4 || prompt.text.contains("```") || prompt.re_ask {
        return None;
    }
    let first = numbers.below(borders.len() - 1);
    let last = first + 1 + numbers.below(borders.len() - 1 - first);
    let (from, to) = (borders[first], borders[last]);
    if is_inside_mark(prompt, from) || is_inside_mark(prompt, to) || to - from < 12 {
        return None;
    }
    let text = prompt.text[from..to].trim_end().to_owned();
    let marks = prompt
        .marks
        .iter()
        .filter(|mark| mark.span.start >= from && mark.span.end <= from + text.len());
    let marks = marks
        .map(|mark| PromptMark {
            span: mark.span.start - from..mark.span.end - from,
            ..mark.clone()
        })
        .collect();
    (!text.trim().is_empty()).then(|| LabelledPrompt { text, marks, ..prompt.clone() })
}

/// Two prompts, one behind the other.
fn join_prompts(
    one: &LabelledPrompt,
    other: &LabelledPrompt,
    numbers: &mut NumberSource,
) -> Option<LabelledPrompt> {
    let is_long = one.text.len() > JOINED || other.text.len() > JOINED;
    let contradicts =
        (one.re_ask && !other.marks.is_empty()) || (other.re_ask && !one.marks.is_empty());
    if is_long || contradicts {
        return None;
    }
    let (first, second) = if numbers.chance(0.5) { (one, other) } else { (other, one) };
    let between: &[&str] = if first.text.contains('\n') {
        &["\n\n", "\n"]
    } else if first.text.ends_with(['.', '!', '?', '。']) {
        &[" ", "\n", "\n\n", " "]
    } else {
        &[". ", "\n", "\n\n", ", ", " ", " - ", ". "]
    };
    let mut joined = first.clone();
    joined.text.push_str(between[numbers.below(between.len())]);
    let from = joined.text.len();
    joined.text.push_str(&second.text);
    let moved = |mark: &PromptMark| PromptMark {
        span: mark.span.start + from..mark.span.end + from,
        ..mark.clone()
    };
    joined.marks.extend(second.marks.iter().map(moved));
    joined.re_ask |= second.re_ask;
    Some(joined)
}

fn add_filler(prompt: &LabelledPrompt, numbers: &mut NumberSource) -> Option<LabelledPrompt> {
    let starts = sentence_starts(&prompt.text);
    let at = *numbers.pick(&starts);
    let in_code = prompt.text[..at].matches("```").count() % 2 == 1;
    if is_inside_mark(prompt, at) || in_code {
        return None;
    }
    let filler = pick_phrase(FILLERS, &prompt.lang, numbers)
        .or_else(|| pick_phrase(FILLERS, "en", numbers))?;
    let mut longer = prompt.clone();
    longer.text.insert_str(at, filler);
    for mark in &mut longer.marks {
        if mark.span.start >= at {
            mark.span = mark.span.start + filler.len()..mark.span.end + filler.len();
        }
    }
    Some(longer)
}

fn mistype(prompt: &LabelledPrompt, numbers: &mut NumberSource) -> LabelledPrompt {
    let letters = prompt.text.chars().count().max(1);
    #[allow(clippy::cast_precision_loss, reason = "a prompt is short")]
    let rate = (1 + letters / 60) as f32 / letters as f32;
    rewrite(prompt, |_, c, text| {
        if !(c.is_ascii_alphabetic() && numbers.chance(rate)) {
            return text.push(c);
        }
        match numbers.below(3) {
            0 => {}
            1 => text.extend([c, c]),
            _ => text.push(char::from(b'a' + u8::try_from(numbers.below(26)).unwrap_or_default())),
        }
    })
}

/// Rewrites a prompt character by character; the marks stay where they are.
fn rewrite(
    prompt: &LabelledPrompt,
    mut write: impl FnMut(&str, char, &mut String),
) -> LabelledPrompt {
    let mut text = String::with_capacity(prompt.text.len());
    let mut moved = vec![0; prompt.text.len() + 1];
    for (at, c) in prompt.text.char_indices() {
        moved[at] = text.len();
        write(&prompt.text[at + c.len_utf8()..], c, &mut text);
    }
    moved[prompt.text.len()] = text.len();
    let mut marks = prompt.marks.clone();
    for mark in &mut marks {
        mark.span = moved[mark.span.start]..moved[mark.span.end];
    }
    marks.retain(|mark| !mark.span.is_empty());
    LabelledPrompt { text, marks, ..prompt.clone() }
}
