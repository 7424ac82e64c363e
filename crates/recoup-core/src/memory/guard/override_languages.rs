//! "Ignore all previous instructions", in eight languages. In six of them: a verb that overrides, a
//! word for instructions, and one for whose they are, with only small words between. Chinese and
//! Japanese put no spaces between words.

use crate::memory::guard::phrase::{is_negation, matches_choice};
use crate::memory::lang::word_lists::FirstLetters;

/// Words of one language, each list in the `a|b*` syntax of `phrase`.
struct LanguageLexicon {
    /// Verbs that override something.
    verbs: &'static str,
    /// Verbs that obey something: negated, they override.
    keeps: &'static str,
    /// Words for instructions that only agents have.
    told: &'static str,
    /// Words for rules that projects have as well.
    rules: &'static str,
    /// Words for what came before, or is the agent's own.
    before: &'static str,
    /// Words for all of it.
    all: &'static str,
    /// Words that may stand in between.
    small: &'static str,
}

const TONGUES: [LanguageLexicon; 6] = [
    LanguageLexicon {
        verbs: "ignore|disregard|forget|override|overrides|overriding|supersede|supersedes|bypass|neglect|discard|dismiss|ignoring|disregarding|abandon|circumvent|aside|erase|cancel|revoke|wipe|nullify|delete",
        keeps: "follow|obey|heed|respect|apply|following|obeying|adhere|comply|listen",
        told: "instruction|instructions|prompt|prompts|directive|directives|guidelines|programming|guardrails|training|instructionset",
        rules: "rules|commands|context|restrictions|orders|conversation|policies|safeguards",
        before: "previous|prior|above|earlier|preceding|former|foregoing|your|system|developer|safety|original|initial|past|previously",
        all: "all|any|every|existing|other|everything|given|hidden",
        small: "of|the|these|those|this|that|and|or|my|our|as|well|set|future|current|any|user|s|security|following|to|with",
    },
    LanguageLexicon {
        verbs: "ignorier*|vergiss|vergesse*|missacht*|uberschreib*|umgeh*|verwirf",
        keeps: "befolg*|folg*|beacht*|gehorch*|halte",
        told: "anweisung*|instruktion*|prompt|prompts|systemprompt|systemanweisung*|direktive*|befehl*|aufforderung*",
        rules: "regeln|vorgaben|kontext|richtlinien|beschrankungen",
        before: "vorherig*|bisherig*|vorig*|fruher*|obig*|vorangehend*|vorangegangen*|vorstehend*|dein|deine|deinen|deiner|zuvor|oben",
        all: "alle|aller|jede|jegliche|samtliche",
        small: "die|der|den|das|diese|bitte|von|und|system|jetzt|nun|meine|nicht|mehr|an|keine|keinen",
    },
    LanguageLexicon {
        verbs: "ignore|ignores|ignorez|ignorer|oublie|oubliez|oublier|contourne*|neglige*",
        keeps: "suis|suivre|suivez|respecte*|obeis|obeir|nobeis|nobeissez|applique*",
        told: "instruction|instructions|consigne|consignes|directive*|prompt|prompts|ordres",
        rules: "regles|contexte|restrictions",
        before: "precedent*|anterieur*|dessus|tes|ton|vos|votre|prealable*|initial*",
        all: "tout|toute|toutes|tous",
        small: "les|le|la|l|ces|cette|de|des|ci|et|systeme|mes|donnees|aux|pas|plus|a",
    },
    LanguageLexicon {
        verbs: "ignora|ignore|ignorar|ignoren|olvida|olvide|olvidar|olvidate|omite|desestima|omiso|descarta",
        keeps: "sigas|sigue|siga|seguir|obedezcas|obedecer|respetes|apliques|caso",
        told: "instruccion|instrucciones|indicaciones|directrices|directivas|prompt|prompts|ordenes",
        rules: "reglas|contexto|restricciones",
        before: "anterior|anteriores|previa|previas|previo|previos|tu|tus|arriba|iniciales|sus",
        all: "todo|toda|todas|todos|cualquier",
        small: "las|los|la|el|de|a|estas|y|del|sistema|mis|dadas|que|al",
    },
    LanguageLexicon {
        verbs: "ignore|ignora|ignorar|esqueca|esquece|esquecer|desconsidere|desconsidera*|despreze|descarte|contorne",
        keeps: "siga|sigas|seguir|obedeca|obedecas|respeite|cumpra",
        told: "instrucao|instrucoes|orientacoes|diretrizes|prompt|prompts|ordens|comandos",
        rules: "regras|contexto|restricoes",
        before: "anterior|anteriores|previa|previas|previos|acima|tua|tuas|sua|suas|seu|seus|iniciais",
        all: "todo|toda|todas|todos|qualquer",
        small: "as|os|a|o|de|das|dos|e|do|sistema|estas|minhas|dadas",
    },
    LanguageLexicon {
        verbs: "ignora|ignorare|ignorate|ignori|dimentica|dimenticare|dimenticate|trascura|scavalca|disattendi",
        keeps: "seguire|segui|seguite|obbedire|rispettare|applicare",
        told: "istruzione|istruzioni|direttiva|direttive|prompt|ordini|indicazioni|comandi",
        rules: "regole|contesto|restrizioni",
        before: "precedente|precedenti|anteriore|anteriori|sopra|tuo|tua|tue|tuoi|iniziali|vostre",
        all: "tutto|tutta|tutte|tutti|qualsiasi",
        small: "le|la|il|i|gli|l|di|queste|e|qui|del|sistema|mie|date|alle|alla|ai",
    },
];

/// Letters that the verbs of each language begin with.
const VERBS: [FirstLetters; TONGUES.len()] = {
    let mut letters = [FirstLetters::NONE; TONGUES.len()];
    let mut at = 0;
    while at < letters.len() {
        let LanguageLexicon { verbs, keeps, .. } = TONGUES[at];
        letters[at] = FirstLetters::of(verbs, b'|').union(FirstLetters::of(keeps, b'|'));
        at += 1;
    }
    letters
};

/// The most words between verb and object.
const REACH: usize = 8;

/// True if a clause overrides the agent's instructions.
pub(crate) fn overrides_instructions(words: &[&str]) -> bool {
    TONGUES.iter().zip(VERBS).any(|(tongue, letters)| {
        (0..words.len()).filter(|at| letters.may_begin(words[*at])).any(|at| {
            // Negated, also further behind, where German and French have it, within the verb, or by
            // a verb of ending: "smetti di seguire".
            let is_denied_or_later = || {
                let later = "nicht|keine|keinen|pas|plus|nie|niemals|jamais";
                let ends = "deixa|deixe|smetti*|deja|arrete*|cessa*";
                is_denied(words, at)
                    || words[at].starts_with("nobei")
                    || words[at + 1..].iter().any(|word| matches_choice(later, word))
                    || at.checked_sub(2).is_some_and(|at| matches_choice(ends, words[at]))
            };
            let speaks = (matches_choice(tongue.verbs, words[at]) && !is_denied(words, at))
                || (matches_choice(tongue.keeps, words[at]) && is_denied_or_later());
            speaks
                && (tongue.matches_after_verb(&words[at + 1..])
                    || tongue.matches_before_verb(&words[..at]))
        })
    })
}

/// True if there is a negation right before the verb, or right behind it.
fn is_denied(words: &[&str], at: usize) -> bool {
    let denies = |at: Option<usize>| {
        at.and_then(|at| words.get(at)).is_some_and(|word| is_negation(word) || *word == "ever")
    };
    denies(at.checked_sub(1)) || denies(at.checked_add(1))
}

impl LanguageLexicon {
    fn may_stand_between(&self, word: &str) -> bool {
        [self.before, self.all, self.small, self.rules]
            .iter()
            .any(|list| matches_choice(list, word))
    }

    /// Matches verb before object: the words up to the object, and the two behind it.
    fn matches_after_verb(&self, words: &[&str]) -> bool {
        let between =
            words.iter().take(REACH).take_while(|word| self.may_stand_between(word)).count();
        // The object is the first that can't stand between, or a rule among those that can.
        let told =
            words.get(between).filter(|word| matches_choice(self.told, word)).map(|_| between);
        let rules = words[..between].iter().rposition(|word| matches_choice(self.rules, word));
        let is_meant = |object: usize, told: bool| {
            let after = words.len().min(object + 3);
            let around = [&words[..object], &words[object + 1..after]].concat();
            // Users take back what they said about something.
            let is_users_own = words[..object].contains(&"my")
                && words
                    .get(object + 1)
                    .is_some_and(|word| matches_choice("about|regarding|on|concerning", word));
            self.is_agents_own(&words[..object], &around, told) && !is_users_own
        };
        told.is_some_and(|at| is_meant(at, true)) || rules.is_some_and(|at| is_meant(at, false))
    }

    /// Matches object before verb, as in German: "alle vorherigen Anweisungen ignorieren".
    fn matches_before_verb(&self, words: &[&str]) -> bool {
        let Some(object) = words.iter().rposition(|word| matches_choice(self.told, word)) else {
            return false;
        };
        let near = words.len() - object <= 3
            && words[object + 1..].iter().all(|word| self.may_stand_between(word));
        let around = &words[object.saturating_sub(3)..object];
        // In English and its like, this order is accidental.
        near && self.verbs.starts_with("ignorier") && self.is_agents_own(around, around, true)
    }

    /// True if the object is the agent's. Words for what came before, or is the agent's, always
    /// count; words for all of it count for what only agents have, unless a place is named.
    fn is_agents_own(&self, between: &[&str], around: &[&str], told: bool) -> bool {
        let has = |list: &str, words: &[&str]| words.iter().any(|word| matches_choice(list, word));
        let place = around
            .get(between.len())
            .is_some_and(|word| matches_choice("in|from|on|for|about|under", word));
        has(self.before, around) || (told && !place && has(self.all, between))
    }
}

/// Maximum characters between the parts of a sentence.
const CJK_REACH: usize = 14;

const ZH_VERBS: &[&str] = &[
    "忽略",
    "无视",
    "無視",
    "忘记",
    "忘記",
    "忘掉",
    "不要理会",
    "不用理会",
    "不要遵守",
    "不要遵循",
    "不要再遵循",
    "不要再遵守",
    "停止遵循",
    "不再遵守",
    "抛开",
    "忽視",
    "忽视",
    "不理會",
    "覆盖",
    "绕过",
    "繞過",
];
const ZH_TOLD: &[&str] = &["指令", "指示", "提示词", "提示詞", "提示", "命令", "系统消息"];
const ZH_RULES: &[&str] = &["规则", "規則", "设定", "設定", "要求", "说明", "說明", "限制"];
const ZH_BEFORE: &[&str] = &[
    "之前", "以上", "先前", "此前", "前面", "上面", "以前", "你的", "您的", "系统", "系統", "原来",
    "原有", "上述",
];
const ZH_ALL: &[&str] = &["所有", "一切", "全部", "任何"];
const ZH_NOT: &[&str] = &["不要", "别", "別", "不得", "不能", "勿", "不可", "不应", "不會", "不会"];

const JA_VERBS: &[&str] = &["無視", "忘れ", "無効", "破棄", "従わない", "従うな", "上書き"];
const JA_TOLD: &[&str] = &["指示", "命令", "プロンプト", "指令", "インストラクション"];
const JA_RULES: &[&str] = &["ルール", "規則", "制約", "設定"];
const JA_BEFORE: &[&str] = &[
    "これまで",
    "以前",
    "前の",
    "上記",
    "今まで",
    "先ほど",
    "過去",
    "上の",
    "あなたの",
    "システム",
    "以上",
    "従来",
    "直前",
];
const JA_ALL: &[&str] = &["すべて", "全て", "全部", "あらゆる", "いかなる"];
const JA_NOT: &[&str] =
    &["しない", "せず", "しては", "するな", "しません", "ない", "てはいけ", "られない"];

/// Phrases that assign a new persona.
const PERSONA: &[&str] = &[
    "你现在是",
    "你現在是",
    "从现在起你是",
    "从现在开始你是",
    "從現在起你是",
    "從現在開始你是",
    "从现在起你将",
    "从现在开始你要扮演",
    "假装你是",
    "假裝你是",
    "你不再是",
    "请扮演",
    "你将扮演",
    "あなたは今から",
    "あなたはこれから",
    "今からあなたは",
    "これからあなたは",
    "今後あなたは",
    "あなたはもう",
    "ふりをして",
    "になりきって",
];

/// Verbs that ask to reveal something.
const TELL: &[&str] = &[
    "显示", "顯示", "告诉", "告訴", "透露", "输出", "輸出", "打印", "泄露", "展示", "公开", "说出",
    "說出", "重复", "教え", "見せ", "表示", "開示", "出力", "公開", "明か", "漏ら",
];
const SYSTEM: &[&str] = &[
    "系统提示",
    "系統提示",
    "你的指令",
    "你的提示",
    "系统指令",
    "初始指令",
    "システムプロンプト",
    "あなたの指示",
    "あなたのプロンプト",
    "初期プロンプト",
];

/// True if a text in these languages tries to override or reveal the agent's instructions.
pub(crate) fn has_cjk_override(plain: &str) -> bool {
    if plain.is_ascii() {
        return false;
    }
    let tight: String =
        plain.chars().filter(|c| !c.is_whitespace() && !"，、,·*_-".contains(*c)).collect();
    tight.split(['。', '.', '!', '！', '?', '？', ';', '；']).any(|clause| {
        has(clause, PERSONA)
            || (has(clause, SYSTEM)
                && has(clause, TELL)
                && !has(clause, &["不要", "ない", "别", "勿", "不得"]))
            || is_chinese_override(clause)
            || is_japanese_override(clause)
    })
}

fn has(text: &str, any: &[&str]) -> bool {
    any.iter().any(|it| text.contains(it))
}

/// Matches the order verb, owner, object.
fn is_chinese_override(clause: &str) -> bool {
    places(clause, ZH_VERBS).any(|(at, verb)| {
        let behind: String = clause[at + verb.len()..].chars().take(CJK_REACH).collect();
        let denied = ZH_NOT.iter().any(|not| clause[..at].ends_with(not));
        let sooner = |all: &[&str], object: &str| {
            behind.find(object).is_some_and(|end| has(&behind[..end], all))
        };
        let told = ZH_TOLD.iter().any(|it| sooner(ZH_BEFORE, it) || sooner(ZH_ALL, it));
        let rules = ZH_RULES.iter().any(|it| sooner(ZH_BEFORE, it));
        !denied && (told || rules)
    })
}

/// Matches the order owner, object, verb.
fn is_japanese_override(clause: &str) -> bool {
    places(clause, JA_VERBS).any(|(at, verb)| {
        let denied = JA_NOT.iter().any(|not| clause[at + verb.len()..].starts_with(not));
        let front: Vec<char> = clause[..at].chars().collect();
        let front: String = front[front.len().saturating_sub(CJK_REACH + 4)..].iter().collect();
        let sooner = |all: &[&str], object: &str| {
            front.rfind(object).is_some_and(|end| has(&front[..end], all))
        };
        let told = JA_TOLD.iter().any(|it| sooner(JA_BEFORE, it) || sooner(JA_ALL, it));
        let rules = JA_RULES.iter().any(|it| sooner(JA_BEFORE, it));
        !denied && (told || rules)
    })
}

fn places<'a>(text: &'a str, any: &'a [&'a str]) -> impl Iterator<Item = (usize, &'a str)> {
    any.iter().flat_map(|it| text.match_indices(it))
}
