//! What a URL may say, and what is said about one that is wrong.

use std::fmt::Write as _;
use std::path::Path;

use recoup_core::store::StoreUrl;
use recoup_core::store::redis::RedisTarget;

pub(super) fn parse(text: &str) -> recoup_core::Result<StoreUrl> {
    StoreUrl::parse(text, Path::new("/base"), Some(Path::new("/home/me")))
}

#[test]
fn a_url_is_shown_in_full_and_read_again_as_the_same() {
    for (text, shown) in [
        ("redis://localhost", "redis://localhost:6379/0"),
        ("redis://localhost/", "redis://localhost:6379/0"),
        ("redis://10.0.0.7:7000/3", "redis://10.0.0.7:7000/3"),
        ("redis://[::1]", "redis://[::1]:6379/0"),
        ("redis://[fe80::1%eth0]:7/1", "redis://[fe80::1%eth0]:7/1"),
        ("redis://cache_1.example-x.org", "redis://cache_1.example-x.org:6379/0"),
        ("redis://bücher.example", "redis://bücher.example:6379/0"),
        ("redis://me:secret@host", "redis://***@host:6379/0"),
        ("redis://me@host", "redis://***@host:6379/0"),
        ("redis://:secret@host", "redis://***@host:6379/0"),
        ("redis://:@host", "redis://host:6379/0"),
        ("redis://@host", "redis://host:6379/0"),
        ("redis://:p@ss/w?rd#1:2@[::1]:7/1", "redis://***@[::1]:7/1"),
        ("redis://:100%sure@host", "redis://***@host:6379/0"),
        ("redis://host?prefix=team-1.x:y_z", "redis://host:6379/0?prefix=team-1.x:y_z"),
        ("redis://host/?timeout=2s&", "redis://host:6379/0?timeout=2000ms"),
        ("redis://host?timeout=40ms", "redis://host:6379/0?timeout=40ms"),
        ("redis://host?timeout=250ms&prefix=recoup", "redis://host:6379/0"),
        ("rediss://host:6380", "rediss://host:6380/0"),
        ("rediss://host?ca=~/ca.pem", "rediss://host:6379/0?ca=/home/me/ca.pem"),
        ("rediss://host?ca=a%26b%40c%25.pem", "rediss://host:6379/0?ca=/base/a%26b%40c%25.pem"),
        ("redis+cluster://a,b:7,[::1]:8", "redis+cluster://a:6379,b:7,[::1]:8/0"),
        ("rediss+cluster://u:p@a:1,b:2/0", "rediss+cluster://***@a:1,b:2/0"),
    ] {
        let url = parse(text).unwrap();
        assert_eq!(url.to_string(), shown, "{text}");
        let again = parse(shown).unwrap();
        assert_eq!(again.to_string(), shown);
        assert_eq!(again.fingerprint(), url.fingerprint());
        if !shown.contains("***") {
            assert_eq!(again, url);
        }
    }
}

#[test]
fn a_password_may_be_plain_or_encoded() {
    for password in ["p@ss/w?rd#1:2", "p%40ss%2Fw%3Frd%231%3A2", "p@ss%2fw?rd%231:2"] {
        let url = format!("redis://me:{password}@host");
        let expected = RedisTarget::parse("redis://host", "/".as_ref(), None)
            .unwrap()
            .with_credentials(Some("me".to_owned()), Some("p@ss/w?rd#1:2".to_owned()));
        assert_eq!(RedisTarget::parse(&url, "/".as_ref(), None).unwrap(), expected, "{password}");
    }
}

#[test]
fn the_same_server_is_the_same_whoever_asks() {
    let [mine, yours, none] =
        ["redis://me:mine@h", "redis://you:yours@h", "redis://h"].map(|url| parse(url).unwrap());
    assert_eq!(mine.fingerprint(), yours.fingerprint());
    assert_ne!(mine, yours);
    assert_ne!(parse("redis://h/1").unwrap().fingerprint(), none.fingerprint());
}

#[test]
fn a_wrong_url_says_which_part_is_wrong() {
    let mut messages = String::new();
    for text in [
        "", "localhost:6379", "me:secret@localhost", "redis", "redis:", "redis:me:secret@host",
        "redis:/host", "REDIS://host", "redi://me:secret@host", "redis://", "redis:///1",
        "redis://:6379", "redis://me:secret@", "redis://me:secret", "redis://ho st",
        "redis://host#1", "redis://host:0", "redis://host:65536", "redis://host:+1",
        "redis://me:secret@host:port", "redis://::1", "redis://[::1", "redis://[::1]6379",
        "redis://[host]", "redis://a,b", "redis+cluster://a,,b", "redis+cluster://a/1",
        "redis://host/one", "redis://host/1/2", "redis://host/-1", "redis://host/99999999999",
        "redis://host?prefix", "redis://host?prefix=", "redis://host?prefix=a*",
        "redis://host?prefix=%7Ba%7D", "redis://host?prefix=%ff", "redis://host?timeout=0",
        "redis://host?timeout=forever", "redis://host?timeout=2m", "redis://host?timeout=40",
        "redis://host?password=secret", "redis://host?ca=ca.pem", "rediss://host?ca=",
        "redis://me:%ff@host", "redis://%ff:secret@host",
    ] {
        let error = parse(text).unwrap_err().to_string();
        assert!(!error.contains("secret"), "{error}");
        // The forms that there are grow with the stores.
        let fault = error.split("; expected sqlite:").next().unwrap();
        writeln!(messages, "{fault}").unwrap();
    }
    insta::assert_snapshot!(messages, @r#"
    invalid store "": no scheme
    invalid store "localhost:6379": unknown scheme "localhost"
    invalid store "me:***@localhost": unknown scheme "me"
    invalid store "redis": no scheme
    invalid store "redis:": expected :// after the scheme
    invalid store "redis:***@host": expected :// after the scheme
    invalid store "redis:/host": expected :// after the scheme
    invalid store "REDIS://host": unknown scheme "REDIS"
    invalid store "redi://***@host": unknown scheme "redi"
    invalid store "redis://": the host is missing
    invalid store "redis:///1": the host is missing
    invalid store "redis://:6379": the host is missing
    invalid store "redis://***@": the host is missing
    invalid store "redis://me:***": the port of "me" is not a number from 1 to 65535
    invalid store "redis://ho st": the host "ho st" contains ' '
    invalid store "redis://host#1": the host "host#1" contains '#'
    invalid store "redis://host:0": the port of "host" is not a number from 1 to 65535
    invalid store "redis://host:***": the port of "host" is not a number from 1 to 65535
    invalid store "redis://host:***": the port of "host" is not a number from 1 to 65535
    invalid store "redis://***@host:port": the port of "host" is not a number from 1 to 65535
    invalid store "redis://:***": the host "::1", an IPv6 address, must be in brackets
    invalid store "redis://[:***": the host's bracket [ is not closed
    invalid store "redis://[::1]6379": the port of "::1" is not a number from 1 to 65535
    invalid store "redis://[host]": the host "host" in brackets is not an IPv6 address
    invalid store "redis://a,b": only redis+cluster: URLs can have several hosts
    invalid store "redis+cluster://a,,b": the host is missing
    invalid store "redis+cluster://a/1": a cluster has no databases; use the option prefix
    invalid store "redis://host/one": the database "one" is not a number
    invalid store "redis://host/1/2": the database "1/2" is not a number
    invalid store "redis://host/-1": the database "-1" is not a number
    invalid store "redis://host/99999999999": the database "99999999999" is not a number
    invalid store "redis://host": the option "prefix" has no value
    invalid store "redis://host": the prefix "" is not 1 to 64 characters of A-Z a-z 0-9 . _ : -
    invalid store "redis://host": the prefix "a*" is not 1 to 64 characters of A-Z a-z 0-9 . _ : -
    invalid store "redis://host": the prefix "{a}" is not 1 to 64 characters of A-Z a-z 0-9 . _ : -
    invalid store "redis://host": prefix is not UTF-8 after percent-decoding
    invalid store "redis://host": the timeout "0" is not a duration from 1ms to 60s
    invalid store "redis://host": the timeout "forever" is not a duration from 1ms to 60s
    invalid store "redis://host": the timeout "2m" is not a duration from 1ms to 60s
    invalid store "redis://host": the timeout "40" is not a duration from 1ms to 60s
    invalid store "redis://host": unknown option "password"; expected prefix, timeout or ca
    invalid store "redis://host": the option ca needs a rediss: URL
    invalid store "rediss://host": the option ca is empty, expected a file
    invalid store "redis://***@host": the password is not UTF-8 after percent-decoding
    invalid store "redis://***@host": the user name is not UTF-8 after percent-decoding
    "#);
}
