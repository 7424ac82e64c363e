//! The grammar of cache durations: what is read, what is refused and how, and
//! that nothing is rounded on the way.

use proptest::prelude::*;
use recoup_core::ErrorKind;
use recoup_core::base::ttl::{Ttl, TtlMillis};
use serde_json::{Value, json};

const PLACE: &str = "mcpServers.github.toolsCache.search_code";
const MAX: u64 = i64::MAX.cast_unsigned();

/// Text, its milliseconds, and how it is printed.
const ACCEPTED: [(&str, u64, &str); 43] = [
    ("off", 0, "off"),
    (" OFF\n", 0, "off"),
    ("0", 0, "off"),
    ("000", 0, "off"),
    ("0.0y", 0, "off"),
    ("0.9", 0, "off"),
    ("0.9ms", 0, "off"),
    ("0.0009s", 0, "off"),
    ("1", 1, "1ms"),
    ("0001", 1, "1ms"),
    ("1.999", 1, "1ms"),
    ("1500", 1_500, "1500ms"),
    ("1500ms", 1_500, "1500ms"),
    ("1.5s", 1_500, "1500ms"),
    ("0.001s", 1, "1ms"),
    ("90s", 90_000, "90s"),
    ("60s", 60_000, "1m"),
    ("5m", 300_000, "5m"),
    ("5M", 300_000, "5m"),
    ("5Ms", 5, "5ms"),
    ("\t2H ", 7_200_000, "2h"),
    ("0.5h", 1_800_000, "30m"),
    ("24h", 86_400_000, "1d"),
    ("1.1d", 95_040_000, "1584m"),
    ("30d", 2_592_000_000, "30d"),
    ("7d", 604_800_000, "1w"),
    ("2w", 1_209_600_000, "2w"),
    ("1mo", 2_592_000_000, "30d"),
    ("1MO", 2_592_000_000, "30d"),
    ("7mo", 18_144_000_000, "30w"),
    ("1y", 31_536_000_000, "365d"),
    ("0.3y", 9_460_800_000, "2628h"),
    ("0.7s", 700, "700ms"),
    ("1.15s", 1_150, "1150ms"),
    ("9007199254740993", 9_007_199_254_740_993, "9007199254740993ms"),
    ("9223372036854775807", MAX, "9223372036854775807ms"),
    ("9223372036854775807.9", MAX, "9223372036854775807ms"),
    ("1h30m", 5_400_000, "90m"),
    ("1H30M15s", 5_415_000, "5415s"),
    ("2w3d", 1_468_800_000, "17d"),
    ("1y6mo", 47_088_000_000, "545d"),
    ("1.5h0.5m", 5_430_000, "5430s"),
    ("1s1ms", 1_001, "1001ms"),
];

#[test]
fn accepted() {
    for (text, millis, printed) in ACCEPTED {
        let ttl = Ttl::parse(PLACE, text).unwrap();
        assert_eq!(ttl.as_millis(), Some(millis), "{text}");
        assert_eq!(ttl, Ttl::from_millis(millis).unwrap(), "{text}");
        assert_eq!(ttl == Ttl::Off, millis == 0, "{text}");
        assert_eq!(ttl.to_string(), printed, "{text}");
        assert_eq!(Ttl::from_json(PLACE, &json!(text)).unwrap(), ttl, "{text}");
    }
    for text in ["forever", " Forever ", "FOREVER"] {
        assert_eq!(Ttl::parse(PLACE, text).unwrap(), Ttl::Forever);
    }
    assert_eq!(Ttl::Forever.as_millis(), None);
    assert_eq!(Ttl::Forever.to_string(), "forever");
}

const REFUSED: [&str; 48] = [
    "", " ", "-1", "-5m", "-0", "+5m", "+5", ".5h", ".5", "1.h", "1.", "5 m", "5 min", "1h30",
    "30m1h", "1h1h", "1h 30m", "1hm", "1h30m5", "9223372036854775807ms1s", "1e3", "5min", "none",
    "never", "true", "null", "NaN", "Infinity", "inf", "0x10", "1_000", "1,5h", "5µs", "5us",
    "5months", "5sec", "m", "ms", "off ever", "offf", "o\u{17f}f", "5\u{17f}", "٣m", "5m٣", "1.٣h",
    "1.2.3", "9223372036854775808", "292471209y",
];

#[test]
fn refused() {
    for text in REFUSED {
        assert_refused(Ttl::parse(PLACE, text), &json!(text).to_string());
        assert_refused(Ttl::from_json(PLACE, &json!(text)), &json!(text).to_string());
    }
}

#[test]
fn where_people_type_a_number_needs_a_unit() {
    let read = |text: &str| Ttl::parse_with_unit("--ttl", text);
    for (text, millis, _) in ACCEPTED {
        let has_unit = text.trim_start().starts_with(|c: char| c.is_ascii_digit())
            && text.trim_end().ends_with(|c: char| c.is_ascii_alphabetic());
        if has_unit || millis == 0 && !text.starts_with("0.9") {
            assert_eq!(read(text).unwrap().as_millis(), Some(millis), "{text}");
        }
    }
    for text in ["0", " 0 ", "0.0", "00", "off"] {
        assert_eq!(read(text).unwrap(), Ttl::Off, "{text}");
    }
    assert_eq!(read("forever").unwrap(), Ttl::Forever);
    for text in ["60", " 60 ", "0060", "1.5", "0.9", "9223372036854775808"] {
        let error = read(text).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        let number = text.trim();
        let expected = format!(
            "--ttl: {number} has no unit: write {number}s for seconds, {number}m for minutes or \
             {number}ms for milliseconds"
        );
        assert_eq!(error.to_string(), expected);
    }
    for text in REFUSED.into_iter().filter(|text| *text != "9223372036854775808") {
        let error = read(text).unwrap_err().to_string();
        let given = json!(text);
        let expected = format!(
            "--ttl: expected off, forever or a duration such as 30s, 12h or 1h30m (got {given})"
        );
        assert_eq!(error, expected);
    }
    let read = |value: Value| Ttl::from_json_with_unit("ttl", &value);
    assert_eq!((read(json!(0)).unwrap(), read(json!(0.0)).unwrap()), (Ttl::Off, Ttl::Off));
    assert_eq!(read(json!("90s")).unwrap(), Ttl::seconds(90));
    for value in [json!(60), json!(1.5), json!("60"), json!(-1), json!(1e300), json!(null)] {
        let error = read(value.clone()).unwrap_err().to_string();
        assert!(error.starts_with("ttl: "), "{value}: {error}");
    }
}

#[test]
fn refused_json() {
    let cases = [
        (json!(null), "null"),
        (json!(true), "true"),
        (json!(false), "false"),
        (json!([]), "[]"),
        (json!({"ttl": 5}), r#"{"ttl":5}"#),
        (json!(-1), "-1"),
        (json!(-0.5), "-0.5"),
        (json!(u64::MAX), "18446744073709551615"),
        (json!(MAX + 1), "9223372036854775808"),
        (json!(1e300), "1e+300"),
    ];
    for (value, shown) in cases {
        assert_refused(Ttl::from_json(PLACE, &value), shown);
    }
}

#[test]
fn refused_numbers() {
    let cases = [
        (f64::NAN, "NaN"),
        (f64::INFINITY, "Infinity"),
        (f64::NEG_INFINITY, "-Infinity"),
        (-1.0, "-1"),
        (-f64::MIN_POSITIVE, "-2.2250738585072014e-308"),
        (9_223_372_036_854_775_808.0, "9223372036854776000"),
    ];
    for (number, shown) in cases {
        assert_refused(Ttl::from_number(PLACE, number), shown);
    }
}

fn assert_refused(result: recoup_core::Result<Ttl>, shown: &str) {
    let error = result.expect_err(shown);
    assert_eq!(error.kind(), ErrorKind::Usage);
    let expected = format!(
        "{PLACE}: cache duration must be 'off', 'forever', a number of milliseconds or a \
         duration such as 5m, 2h or 1d (got {shown})"
    );
    assert_eq!(error.to_string(), expected);
}

#[test]
fn the_message_names_the_place_and_the_value() {
    let error = Ttl::parse(PLACE, "5 min").unwrap_err();
    assert_eq!(
        error.to_string(),
        "mcpServers.github.toolsCache.search_code: cache duration must be 'off', 'forever', a \
         number of milliseconds or a duration such as 5m, 2h or 1d (got \"5 min\")"
    );
    let long = Ttl::parse("--ttl", &"é".repeat(10_000)).unwrap_err().to_string();
    assert!(long.ends_with("ééé…)") && long.chars().count() < 250, "{long}");
}

#[test]
fn numbers() {
    let cases = [
        (0.0, Ttl::Off),
        (-0.0, Ttl::Off),
        (0.999, Ttl::Off),
        (60_000.0, Ttl::seconds(60)),
        (86_400_000.9, Ttl::days(1)),
        (9_223_372_036_854_774_784.0, Ttl::from_millis(MAX - 1_023).unwrap()),
    ];
    for (number, ttl) in cases {
        assert_eq!(Ttl::from_number(PLACE, number).unwrap(), ttl, "{number}");
        assert_eq!(Ttl::from_json(PLACE, &json!(number)).unwrap(), ttl, "{number}");
    }
    // Whole numbers are not rounded to a double on the way.
    assert_eq!(Ttl::from_json(PLACE, &json!(MAX)).unwrap().as_millis(), Some(MAX));
}

#[test]
fn fractions_of_any_length_are_exact() {
    // A hair below 1.1 days is a millisecond less; a hair above is not.
    let below = format!("1.0{}d", "9".repeat(10_000));
    let above = format!("1.1{}1d", "0".repeat(10_000));
    assert_eq!(Ttl::parse(PLACE, &below).unwrap().as_millis(), Some(95_039_999));
    assert_eq!(Ttl::parse(PLACE, &above).unwrap().as_millis(), Some(95_040_000));
    let zeros = format!("{}5m", "0".repeat(10_000));
    assert_eq!(Ttl::parse(PLACE, &zeros).unwrap(), Ttl::seconds(300));
}

#[test]
fn stricter_is_smaller() {
    assert!(Ttl::Off < Ttl::seconds(1) && Ttl::hours(1) < Ttl::days(1));
    assert_eq!(Ttl::Forever.min(Ttl::days(30)), Ttl::days(30));
    assert_eq!(Ttl::days(u32::MAX).as_millis(), Some(u64::from(u32::MAX) * 86_400_000));
    assert_eq!((Ttl::days(0), Ttl::from_millis(MAX + 1)), (Ttl::Off, None));
    assert_eq!((TtlMillis::new(0), TtlMillis::new(MAX).map(TtlMillis::get)), (None, Some(MAX)));
}

fn millis() -> impl Strategy<Value = u64> {
    prop_oneof![0..100_000_u64, (0..2_000_u64).prop_map(|minutes| minutes * 60_000), 0..=MAX]
}

proptest! {
    #[test]
    fn printed_text_parses_back(millis in millis()) {
        let ttl = Ttl::from_millis(millis).unwrap();
        prop_assert_eq!(Ttl::parse(PLACE, &ttl.to_string()).unwrap(), ttl);
    }

    #[test]
    fn whole_milliseconds_are_themselves(millis in millis()) {
        let given: [Value; 3] = [json!(millis), json!(millis.to_string()), json!(format!("{millis}ms"))];
        for value in given {
            prop_assert_eq!(Ttl::from_json(PLACE, &value).unwrap().as_millis(), Some(millis));
        }
    }

    #[test]
    fn units_scale(count in 0..1_000_000_u64, thousandths in 0..1_000_u64) {
        let sizes = [("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
            ("w", 604_800_000), ("mo", 2_592_000_000), ("y", 31_536_000_000)];
        for (unit, size) in sizes {
            let text = format!("{count}.{thousandths:03}{unit}");
            let expected = (count * 1_000 + thousandths) * (size / 1_000);
            prop_assert_eq!(Ttl::parse(PLACE, &text).unwrap().as_millis(), Some(expected));
        }
    }

    #[test]
    fn never_panics(text in prop_oneof![any::<String>(), "[0-9.]{1,30}(ms|mo|[smhdwy])?"], number in any::<f64>()) {
        let _ = Ttl::parse(PLACE, &text);
        let _ = Ttl::from_number(PLACE, number);
    }
}
