//! Canonical JSON: the RFC's own samples, what is refused and how, and the laws
//! that make its hash a key.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use recoup_core::ErrorKind;
use recoup_core::key::canonical::{canonical, canonical_value};
use serde_json::{Value, json};

const MAX_INTEGER: i64 = 1 << 53;

/// RFC 8785, section 3.2.2.
#[test]
fn sample_object() {
    let text = r#"{
        "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
        "literals": [null, true, false]
    }"#;
    let expected = concat!(
        r#"{"literals":[null,true,false],"#,
        r#""numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"#,
        r#""string":"€$\u000f\nA'B\"\\\\\"/"}"#
    );
    assert_eq!(canonical(text).unwrap(), expected);
}

/// RFC 8785, section 3.2.3.
#[test]
fn sample_order() {
    let text = r#"{
        "\u20ac": "Euro Sign", "\r": "Carriage Return",
        "\ufb33": "Hebrew Letter Dalet With Dagesh", "1": "One",
        "\ud83d\ude00": "Emoji: Grinning Face", "\u0080": "Control",
        "\u00f6": "Latin Small Letter O With Diaeresis"
    }"#;
    let expected = concat!(
        r#"{"\r":"Carriage Return","1":"One",""#,
        "\u{80}",
        r#"":"Control","ö":"Latin Small Letter O With Diaeresis","€":"Euro Sign","#,
        r#""😀":"Emoji: Grinning Face",""#,
        "\u{fb33}",
        r#"":"Hebrew Letter Dalet With Dagesh"}"#
    );
    assert_eq!(canonical(text).unwrap(), expected);
    assert_eq!(canonical_value(&serde_json::from_str(text).unwrap()).unwrap(), expected);
}

/// RFC 8785, appendix B: the bits of a double, and how it is written.
const NUMBERS: [(u64, &str); 24] = [
    (0x0000_0000_0000_0000, "0"),
    (0x8000_0000_0000_0000, "0"),
    (0x0000_0000_0000_0001, "5e-324"),
    (0x8000_0000_0000_0001, "-5e-324"),
    (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
    (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
    (0x4340_0000_0000_0000, "9007199254740992"),
    (0xc340_0000_0000_0000, "-9007199254740992"),
    (0x4430_0000_0000_0000, "295147905179352830000"),
    (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
    (0x44b5_2d02_c7e1_4af6, "1e+23"),
    (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
    (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
    (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
    (0x444b_1ae4_d6e2_ef50, "1e+21"),
    (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
    (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
    (0x41b3_de43_5555_5553, "333333333.3333332"),
    (0x41b3_de43_5555_5554, "333333333.33333325"),
    (0x41b3_de43_5555_5555, "333333333.3333333"),
    (0x41b3_de43_5555_5556, "333333333.3333334"),
    (0x41b3_de43_5555_5557, "333333333.33333343"),
    (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
    (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
];

#[test]
fn sample_numbers() {
    for (bits, expected) in NUMBERS {
        let value = f64::from_bits(bits);
        assert_eq!(canonical(&format!("{value:e}")).unwrap(), expected, "{bits:016x}");
        if value.abs() < 9_007_199_254_740_992.0 {
            assert_eq!(canonical_value(&json!(value)).unwrap(), expected, "{bits:016x}");
        }
    }
}

#[test]
fn plain_values() {
    let cases = [
        (" null\n", "null"),
        ("-0", "0"),
        ("-0.0e7", "0"),
        ("1e-400", "0"),
        ("9007199254740992", "9007199254740992"),
        ("-9007199254740992", "-9007199254740992"),
        ("\t[ ]\r", "[]"),
        ("{ }", "{}"),
        (r#""""#, r#""""#),
        (r#""\u0000\u001f\b\t\n\f\r\u007f""#, "\"\\u0000\\u001f\\b\\t\\n\\f\\r\u{7f}\""),
        (
            r#"{"b":{"d":1,"c":2},"a":[{"f":3,"e":4},5]}"#,
            r#"{"a":[{"e":4,"f":3},5],"b":{"c":2,"d":1}}"#,
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(canonical(text).unwrap(), expected, "{text}");
    }
}

/// What is refused, and a part of the message.
const REFUSED: [(&str, &str); 40] = [
    ("", "expected a value, found the end of the text on line 1, column 1, at $;"),
    ("nul", "expected a value"),
    ("NaN", "expected a value"),
    ("\u{feff}1", "expected a value"),
    ("1 2", "expected the end of the text, found '2' on line 1, column 3, at $;"),
    ("nullx", "expected the end of the text"),
    ("01", "expected the end of the text"),
    ("+1", "expected a value"),
    ("-", "expected a digit, found the end of the text"),
    ("1.", "expected a digit"),
    (".5", "expected a value"),
    ("1e", "expected a digit"),
    ("1e+", "expected a digit"),
    ("٣", "expected a value"),
    ("[1,]", "expected a value, found ']' on line 1, column 4, at $[1];"),
    ("[1 2]", "expected ',' or ']', found '2'"),
    ("[", "expected a value, found the end of the text"),
    ("[1", "expected ',' or ']', found the end of the text"),
    ("{\n \"é\": [}", "expected a value, found '}' on line 2, column 8, at $[\"é\"][0];"),
    (r#"{"a" 1}"#, "expected ':', found '1'"),
    (r#"{"a":1,}"#, "expected a member name in double quotes, found '}'"),
    ("{a:1}", "expected a member name in double quotes, found 'a'"),
    (r#"{"a":1 "b":2}"#, "expected ',' or '}', found '\"'"),
    ("'a'", "expected a value"),
    (r#""a"#, "expected '\"' or an escaped character, found the end of the text"),
    ("\"a\nb\"", "expected '\"' or an escaped character, found '\\n'"),
    (r#""\x41""#, "expected an escape such as \\n or \\u00e9, found 'x'"),
    (r#""\u12+4""#, "expected four hexadecimal digits, found '+'"),
    (r#""\u12é4""#, "expected four hexadecimal digits, found 'é'"),
    (
        r#"{"a":["\ud800"]}"#,
        "the lone surrogate \\ud800 at $.a[0]; complete the pair or leave it out",
    ),
    (r#""\udc00\ud800""#, "the lone surrogate \\udc00"),
    (r#""\ud800\u0041""#, "the lone surrogate \\ud800"),
    (r#""\ud800\n""#, "the lone surrogate \\ud800"),
    ("9007199254740993", "the number 9007199254740993, which is an integer beyond ±2^53, at $;"),
    ("-9007199254740993", "the number -9007199254740993, which is an integer beyond ±2^53"),
    (r#"{"a":[0,1,2,{"b":123456789012345678901234567890}]}"#, "at $.a[3].b; write it as a string"),
    ("[1e400]", "the number 1e400, which is beyond the range of a double, at $[0];"),
    ("-1e99999999999999999999", "beyond the range of a double"),
    (r#"{"x":{"a":1,"b":2,"a":1}}"#, "the member name \"a\" occurs twice in the object at $.x;"),
    (r#"{"a":1,"\u0061":1}"#, "the member name \"a\" occurs twice in the object at $; keep one"),
];

#[test]
fn refusals() {
    for (text, part) in REFUSED {
        let error = canonical(text).expect_err(text);
        assert_eq!(error.kind(), ErrorKind::Invalid, "{text}");
        assert!(error.to_string().contains(part), "{text}: {error}");
    }
}

#[test]
fn refused_values() {
    for value in [json!(MAX_INTEGER + 1), json!(-MAX_INTEGER - 1), json!(u64::MAX)] {
        let error = canonical_value(&json!({"a b": [value]})).unwrap_err().to_string();
        assert!(error.contains("beyond ±2^53, at $[\"a b\"][0];"), "{error}");
    }
    let rounded: Value = serde_json::from_str("123456789012345678901234567890").unwrap();
    for value in [rounded, json!(9_007_199_254_740_992.0), json!(-1e30)] {
        let error = canonical_value(&value).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.to_string().contains("that was rounded, at $;"), "{error}");
    }
}

#[test]
fn nesting_ends_at_128_levels() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert_eq!(canonical(&nested(128)).unwrap(), nested(128));
    for text in [nested(129), "[".repeat(100_000), r#"{"a":"#.repeat(100_000)] {
        let error = canonical(&text).unwrap_err().to_string();
        assert!(error.starts_with("more than 128 levels of nesting at $"), "{error}");
    }
    let wrap = |value: Value, _| json!({ "a": value });
    assert!(canonical_value(&(0..128).fold(Value::Null, wrap)).is_ok());
    assert!(canonical_value(&(0..129).fold(Value::Null, wrap)).is_err());
}

#[test]
fn messages_stay_short() {
    let name = "n".repeat(10_000);
    let digits = "9".repeat(100_000);
    for text in [
        digits.clone(),
        format!(r#"{{"{name}":{digits}}}"#),
        format!(r#"{{"{name}":1,"{name}":1}}"#),
    ] {
        let error = canonical(&text).unwrap_err().to_string();
        assert!(error.len() < 500 && error.contains('…'), "{error}");
    }
}

fn safe_float() -> impl Strategy<Value = f64> {
    any::<f64>().prop_filter("a float that can't be a rounded integer", |value| {
        value.abs() < 9_007_199_254_740_992.0
    })
}

/// Anything that both functions take.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-MAX_INTEGER..=MAX_INTEGER).prop_map(Value::from),
        safe_float().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Value::from),
            btree_map(any::<String>(), inner, 0..6).prop_map(Value::from_iter),
        ]
    })
}

/// The same value with its members turned around, spaces, and every character escaped.
fn disguised(value: &Value, turn: usize, space: &str) -> String {
    let list = |open: char, mut items: Vec<String>, close: char| {
        if open == '{' && !items.is_empty() {
            let middle = turn % items.len();
            items.rotate_left(middle);
        }
        format!("{space}{open}{space}{}{space}{close}{space}", items.join(&format!("{space},")))
    };
    let quoted = |text: &str| -> String {
        let units: Vec<_> = text.encode_utf16().map(|unit| format!("\\u{unit:04X}")).collect();
        format!("{space}\"{}\"{space}", units.concat())
    };
    match value {
        Value::String(text) => quoted(text),
        Value::Array(items) => {
            list('[', items.iter().map(|item| disguised(item, turn, space)).collect(), ']')
        }
        Value::Object(map) => {
            let member = |(name, value): (&String, &Value)| {
                format!("{}:{}", quoted(name), disguised(value, turn, space))
            };
            list('{', map.iter().map(member).collect(), '}')
        }
        _ => value.to_string(),
    }
}

proptest! {
    #[test]
    fn canonical_is_its_own_canonical_form(value in value()) {
        let once = canonical(&value.to_string()).unwrap();
        prop_assert_eq!(&canonical(&once).unwrap(), &once);
    }

    #[test]
    fn order_and_space_do_not_matter(value in value(), turn in 0..6_usize, space in "[ \t\r\n]{0,3}") {
        let expected = canonical_value(&value).unwrap();
        prop_assert_eq!(canonical(&disguised(&value, turn, &space)).unwrap(), expected);
    }

    #[test]
    fn text_and_value_agree(value in value()) {
        prop_assert_eq!(canonical(&value.to_string()).unwrap(), canonical_value(&value).unwrap());
    }

    #[test]
    fn floats_keep_every_bit(value in any::<f64>().prop_filter("finite", |value| value.is_finite())) {
        let text = canonical(&format!("{value:e}")).unwrap();
        // Adding zero turns -0, which is written as 0, into 0.
        prop_assert_eq!(text.parse::<f64>().unwrap().to_bits(), (value + 0.0).to_bits());
    }

    #[test]
    fn distinct_integers_stay_distinct(a in any::<i64>(), near in -3..=3_i64) {
        let b = a.saturating_add(near);
        if let (Ok(first), Ok(second)) = (canonical(&a.to_string()), canonical(&b.to_string())) {
            prop_assert_eq!(first == second, a == b);
        }
    }

    #[test]
    fn integers_near_the_limit_are_exact_or_refused(offset in -1_000..=1_000_i64) {
        let integer = MAX_INTEGER + offset;
        let expected = (offset <= 0).then(|| integer.to_string());
        prop_assert_eq!(canonical(&integer.to_string()).ok(), expected.clone());
        prop_assert_eq!(canonical_value(&json!(integer)).ok(), expected);
    }

    #[test]
    fn never_panics(text in any::<String>()) {
        let _ = canonical(&text);
    }

    #[test]
    fn accepts_nothing_that_serde_refuses(text in r#"[\[\]{}:, \-+.eE0-9"\\u/a-fnrtlsD-]{0,24}"#) {
        if canonical(&text).is_ok() {
            prop_assert!(serde_json::from_str::<Value>(&text).is_ok());
        }
    }
}
