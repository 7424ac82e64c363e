//! The header's stored form: what is in it comes back, what a later version
//! adds is passed over, and what a later format means is not guessed.

use proptest::prelude::*;
use recoup_core::ErrorKind;
use recoup_core::base::clock::Timestamp;
use recoup_core::base::digest::Sha256Digest;
use recoup_core::entry::{
    BodyEncoding, BodyInfo, FORMAT, FileStat, Header, ProducerIdentity, ProductionCost,
    RecordedSources, SnapshotPlace, SourceFile,
};
use recoup_core::key::{KeyPart, Kind};
use serde_json::{Value, json};

use crate::support::{START, record, rich_draft, rich_sources};

fn rich() -> Header {
    rich_draft("body").seal(rich_sources(), START).unwrap().head.header
}

fn with(change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let mut json: Value = serde_json::from_slice(&rich().to_json()).unwrap();
    change(&mut json);
    json.to_string().into_bytes()
}

#[test]
fn fields_that_a_later_version_added_are_passed_over() {
    let json = with(|json| {
        json["vendor"] = json!({"a": [1, null]});
        json["body"]["dictionary"] = json!(3);
        json["identity"]["colour"] = json!("red");
        json["cost"]["cents"] = json!(1);
        json["sources"]["files"][0]["mode"] = json!(420);
    });
    assert_eq!(Header::from_json(&json).unwrap(), rich());
}

#[test]
fn a_later_format_is_refused() {
    for format in [FORMAT + 1, u32::MAX] {
        let error = Header::from_json(&with(|json| json["format"] = json!(format))).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TooNew);
        assert_eq!(error.to_string(), "the entry was made by a newer version of recoup");
    }
}

#[test]
fn what_only_a_later_version_knows_is_refused_and_not_called_damaged() {
    let newer = [
        with(|json| json["kind"] = json!("dream")),
        with(|json| json["body"]["encoding"] = json!("zstd")),
        with(|json| {
            json["format"] = json!(FORMAT + 1);
            json["created"] = json!("2030-01-01");
        }),
    ];
    for json in newer {
        assert_eq!(Header::from_json(&json).unwrap_err().kind(), ErrorKind::TooNew);
    }
}

#[test]
fn what_is_no_header_is_corrupt() {
    let broken: [Vec<u8>; 9] = [
        vec![],
        b"{".to_vec(),
        b"null".to_vec(),
        b"[]".to_vec(),
        b"{}".to_vec(),
        vec![0xff, 0xfe],
        rich().to_json()[1..].to_vec(),
        with(|json| json["kind"] = json!(7)),
        with(|json| json["body"]["sha256"] = json!("abc")),
    ];
    for json in broken {
        let error = Header::from_json(&json).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{}", String::from_utf8_lossy(&json));
    }
}

#[test]
fn what_is_empty_takes_no_room() {
    let header = record("body").head.header;
    let json: Value = serde_json::from_slice(&header.to_json()).unwrap();
    let names: Vec<&String> = json.as_object().unwrap().keys().collect();
    assert_eq!(names, ["body", "created", "format", "kind"]);
}

#[test]
fn the_end_of_an_entry_is_never_before_its_beginning() {
    let mut header = rich();
    (header.ttl, header.grace) = (Some(u64::MAX), u64::MAX);
    assert_eq!(header.fresh_until(), Timestamp::MAX);
    assert_eq!(header.deletable_at(), Some(Timestamp::MAX));
    header.ttl = None;
    assert_eq!((header.fresh_until(), header.deletable_at()), (Timestamp::MAX, None));
    (header.ttl, header.grace) = (Some(10), 5);
    assert_eq!(header.fresh_until(), START.plus_millis(10));
    assert_eq!(header.deletable_at(), Some(START.plus_millis(15)));
}

fn digest() -> impl Strategy<Value = Sha256Digest> {
    any::<u64>().prop_map(|seed| Sha256Digest::of(&seed.to_le_bytes()))
}

fn source() -> impl Strategy<Value = SourceFile> {
    let stat = (any::<i64>(), any::<i64>(), any::<u64>(), any::<bool>())
        .prop_map(|(mtime, ctime, inode, racy)| FileStat { mtime, ctime, inode, racy });
    let name = (any::<String>(), any::<Option<String>>());
    (name, any::<u64>(), digest(), any::<Option<bool>>(), stat).prop_map(
        |((path, given), size, sha256, executable, stat)| SourceFile {
            path,
            given,
            size,
            sha256,
            executable,
            stat,
        },
    )
}

fn sources() -> impl Strategy<Value = RecordedSources> {
    let place = any::<Option<(String, String)>>()
        .prop_map(|place| place.map(|(machine, root)| SnapshotPlace { machine, root }));
    (place, prop::collection::vec(source(), 0..3)).prop_map(|(place, files)| RecordedSources {
        place,
        files,
        patterns: Vec::new(),
        older: None,
    })
}

fn body_info() -> impl Strategy<Value = BodyInfo> {
    let encoding =
        prop::sample::select(vec![BodyEncoding::Plain, BodyEncoding::Gzip, BodyEncoding::Framed]);
    (encoding, any::<u64>(), any::<u64>(), digest()).prop_map(
        |(encoding, raw_len, stored_len, sha256)| BodyInfo {
            encoding,
            raw_len,
            stored_len,
            sha256,
        },
    )
}

prop_compose! {
    fn header()(
        (created, ttl, grace) in any::<(i64, Option<u64>, u64)>(),
        sources in sources(),
        kind in prop::sample::select(Kind::ALL.to_vec()),
        body in body_info(),
        (name, namespace, hash) in any::<(Option<String>, Option<String>, Option<String>)>(),
        parts in any::<Vec<(String, String, bool)>>(),
        tags in any::<Vec<String>>(),
        cost in any::<(Option<u64>, Option<u64>, Option<u64>, Option<u64>)>(),
        (began, failure, streams_merged) in any::<(Option<i64>, bool, bool)>(),
    ) -> Header {
        let part = |(name, value, shown): &(String, String, bool)| {
            if *shown { KeyPart::shown(name, value) } else { KeyPart::hidden(name, value) }
        };
        let (millis, input_tokens, output_tokens, micro_dollars) = cost;
        Header {
            created: Timestamp::from_millis(created),
            ttl, grace, sources, kind, body, tags,
            format: FORMAT,
            full: None,
            identity: ProducerIdentity { name, namespace, hash },
            parts: parts.iter().map(part).collect(),
            cost: ProductionCost { millis, input_tokens, output_tokens, micro_dollars },
            failure,
            streams_merged,
            began: began.map(Timestamp::from_millis),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_header_comes_back(header in header()) {
        prop_assert_eq!(Header::from_json(&header.to_json()).unwrap(), header);
    }
}
