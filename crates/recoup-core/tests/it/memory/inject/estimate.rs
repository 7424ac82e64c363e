//! The estimate is never below what a tokenizer counts, and not far above.

use recoup_core::condense::Tokenizer;
use recoup_core::memory::model::estimate;

/// Texts as people write them, and as they paste them.
const TEXTS: &[&str] = &[
    "Use pnpm, not npm.",
    "Don't use var.",
    "Put tests in `__tests__/`, next to the code.",
    "Staging runs on port 8443; production on 443.",
    "The API base URL is https://api.staging.example.com/v2/internal?region=eu-west-1&debug=true#top",
    "Run migrations with `make migrate` before you start the server.",
    "Never push to main; open a pull request against develop instead and ask for a review.",
    "We prefer composition over inheritance, small functions, and names that say what they mean.",
    "Please always acknowledge constraints, idempotency, serialization and internationalisation edge cases.",
    "fn main() { let x: Vec<Option<&str>> = std::iter::repeat(None).take(10).collect(); println!(\"{x:?}\"); }",
    "const getUserByEmailAddress = async (emailAddress: string): Promise<User | undefined> => db.users.findFirst({ where: { emailAddress } });",
    "SELECT u.id, COUNT(*) AS n FROM users u LEFT JOIN orders o ON o.user_id = u.id WHERE o.created_at >= '2026-01-01' GROUP BY u.id HAVING COUNT(*) > 3;",
    "CLAUDE_CONFIG_DIR, PI_CODING_AGENT_DIR and RECOUP_HOME_OVERRIDE are read by config/env.rs only.",
    "commit 9fa2bbf1c0de4a5b8e7f6a5d4c3b2a1908f7e6d5 broke it; 64bfbcc fixed it.",
    "id = 01a1e0ed-7a98-7610-b1cf-6d37f69ce29d",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "for i in $(seq 1 10); do\n\tcurl -sSfL \"http://localhost:$PORT/healthz\" || { echo 'not up' >&2; exit 1; }\ndone\n",
    "{\n  \"compilerOptions\": {\n    \"strict\": true,\n    \"noUncheckedIndexedAccess\": true,\n    \"moduleResolution\": \"bundler\"\n  }\n}",
    "error[E0277]: the trait bound `Foo: Serialize` is not satisfied\n  --> src/main.rs:14:5\n   |\n14 |     to_string(&foo)\n   |     ^^^^^^^^^ the trait `Serialize` is not implemented",
    "x86_64-unknown-linux-gnu, aarch64-apple-darwin, wasm32-wasip1",
    "kubectl -n prod-eu rollout restart deploy/api-gateway && kubectl -n prod-eu logs -f deploy/api-gateway --tail=100",
    "Benutze Tabulatoren zum Einrücken, keine Leerzeichen; Größenangaben immer in Millimetern.",
    "Verwende für Datenbankmigrationen ausschließlich Rückwärtskompatibilitätsprüfungen.",
    "Utilise toujours des tabulations plutôt que des espaces, même dans les fichiers générés.",
    "Usa siempre comillas simples y no añadas punto y coma al final de las líneas.",
    "Não uses ponto e vírgula; prefere aspas simples em todos os ficheiros de configuração.",
    "Usa sempre gli spazi e non le tabulazioni, perché così è più leggibile.",
    "Zawsze używaj spacji zamiast tabulatorów, również w plikach źródłowych.",
    "Vždy používej odsazení pomocí tabulátorů, nikoli mezer, i ve zdrojových souborech.",
    "Her zaman boşluk yerine sekme kullan; dosya adları küçük harf olsun.",
    "Luôn luôn sử dụng khoảng trắng thay vì tab trong các tệp nguồn.",
    "Всегда используй табуляцию вместо пробелов, даже в сгенерированных файлах.",
    "Χρησιμοποίησε πάντα στηλοθέτες αντί για κενά στα αρχεία πηγαίου κώδικα.",
    "تبويبات وليس مسافات: استخدم دائما علامات الجدولة في ملفات المصدر.",
    "השתמש תמיד בטאבים ולא ברווחים בקבצי המקור.",
    "हमेशा रिक्त स्थान के बजाय टैब का उपयोग करें।",
    "ใช้แท็บแทนช่องว่างเสมอในไฟล์ซอร์ส",
    "始终使用制表符而不是空格进行缩进，即使在生成的文件中也是如此。",
    "請一律使用定位字元縮排，不要使用空白；提交訊息請用繁體中文撰寫。",
    "インデントには常にスペースではなくタブを使用してください。テストは必ず追加すること。",
    "항상 공백 대신 탭을 사용하고, 커밋 메시지는 한국어로 작성하세요.",
    "Ship it 🚀🎉 but only after ✅ tests; never on Fridays 🙅‍♀️.",
    "“Smart quotes” — and dashes – are fine… but not in code.",
    "→ ≤ ≥ ≠ ∀x∈S: f(x) ≈ 2·x², μ = 0.05",
    "| a | b |\n|---|---|\n| 1 | 2 |\n",
    "====================\n--------------------\n####################",
    "    deeply\n        indented\n            text\n",
    "aGVsbG8gd29ybGQsIHRoaXMgaXMgYmFzZTY0IHRleHQgZm9yIGEgdGVzdA==",
    "qwrtp xkcd zzyzx hjkl vbnm fgsdlkjh",
    "C:\\Users\\dev\\AppData\\Local\\Programs\\nodejs\\node.exe",
    "<div className=\"px-4 py-2 bg-gray-100 hover:bg-gray-200\">{children}</div>",
    "0123456789 3.14159265358979 1_000_000 0xDEADBEEF 1e-9 192.168.178.24:6379",
    "2026-11-16T05:33:00.123Z",
    "^(?:[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\\.[a-z0-9]+)*)@example\\.org$",
    "pneumonoultramicroscopicsilicovolcanoconiosis",
    "HTTPServer, XMLHttpRequest, getElementsByClassName, IOException, iOS, macOS, GitHub",
    "snake_case_identifiers_are_preferred_over_camelCaseIdentifiers_here",
    "a",
    "",
    " ",
];

#[test]
fn it_is_never_below_what_a_tokenizer_counts_and_seldom_far_above() {
    let tokenizer = Tokenizer::load();
    let (mut counted, mut estimated) = (0, 0);
    let mut below = Vec::new();
    for text in TEXTS {
        let (real, high) = (tokenizer.count(text), estimate(text) as usize);
        if high < real {
            below.push((real, high, text));
        }
        (counted, estimated) = (counted + real, estimated + high);
    }
    assert!(below.is_empty(), "{below:#?}");
    assert!(estimated <= counted * 2, "{estimated} for {counted}");
}

#[test]
fn texts_in_a_row_cost_no_more_than_each_alone() {
    for pair in TEXTS.windows(2) {
        let together = estimate(&format!("{}\n{}", pair[0], pair[1]));
        assert!(together <= estimate(pair[0]) + estimate(pair[1]) + 1, "{pair:?}");
    }
}

#[test]
fn a_text_of_a_megabyte_is_estimated_too() {
    for text in ["a", " ", "\u{4e00}", "=", "\u{200d}", "A1"] {
        let long = text.repeat(1_000_000 / text.len());
        assert!(estimate(&long) > 1_000, "{text}");
    }
}
