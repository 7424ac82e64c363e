//! Attempts to override instructions in Chinese and Japanese, which put no spaces between words.

/// Maximum characters between the parts of a sentence.
const REACH: usize = 14;

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
pub(super) fn has_cjk_override(plain: &str) -> bool {
    if plain.is_ascii() {
        return false;
    }
    let tight: String =
        plain.chars().filter(|c| !c.is_whitespace() && !"，、,·*_-".contains(*c)).collect();
    tight.split(['。', '.', '!', '！', '?', '？', ';', '；']).any(|clause| {
        has(clause, PERSONA)
            || asks_to_reveal(clause)
            || is_chinese_override(clause)
            || is_japanese_override(clause)
    })
}

fn has(text: &str, any: &[&str]) -> bool {
    any.iter().any(|it| text.contains(it))
}

fn asks_to_reveal(clause: &str) -> bool {
    let denied = has(clause, &["不要", "ない", "别", "勿", "不得"]);
    has(clause, SYSTEM) && has(clause, TELL) && !denied
}

/// Matches the order verb, owner, object.
fn is_chinese_override(clause: &str) -> bool {
    places(clause, ZH_VERBS).any(|(at, verb)| {
        let behind: String = clause[at + verb.len()..].chars().take(REACH).collect();
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
        let front: String = front[front.len().saturating_sub(REACH + 4)..].iter().collect();
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
