//! One name for all the ways to write a remote's address, and no secret in it.

use proptest::prelude::*;
use recoup_core::base::project::{ProjectId, ProjectOrigin};

use super::project_with;

/// What the URL is normalised to; none when the repository is its own origin.
fn normalised(url: &str) -> Option<String> {
    match project_with(url).origin() {
        ProjectOrigin::Remote(name) => Some(name.clone()),
        _ => None,
    }
}

#[test]
fn all_ways_to_write_a_remote_come_to_one_name() {
    let table: [(&str, &[&str]); 7] = [
        (
            "github.com/owner/repo",
            &[
                "https://github.com/owner/repo",
                "http://github.com:80/owner/repo.git",
                "HTTPS://me:s3cret@GitHub.com:443//Owner/Repo.git/",
                "git@github.com:owner/repo.git",
                "github.com:/owner/repo",
                "ssh://git@github.com:22/owner/repo",
                "git://github.com:9418/owner/repo",
                "git+ssh://git@github.com/owner/repo/.git",
                "ssh://github.com:/owner/repo",
            ],
        ),
        (
            "example.com/Owner/Repo",
            &["Example.COM:Owner/Repo", "https://example.com/Owner/Repo.git"],
        ),
        (
            "example.com:8443/a",
            &["https://example.com:8443/a", "ssh://example.com:8443/a", "[git@example.com:8443]:a"],
        ),
        ("example.com:443/a", &["ssh://example.com:443/a"]),
        ("example.com/~me/a%20b", &["example.com:~me/a%20b", "ssh://me@example.com/~me/a%20b"]),
        (
            "[::1]/a/b",
            &["[::1]:a/b", "git@[::1]:a/b.git", "ssh://git@[::1]:22/a/b", "ssh://[git@::1]/a/b"],
        ),
        ("s3://bucket/a", &["s3://key:s3cret@bucket/a"]),
    ];
    for (name, urls) in table {
        for url in urls {
            assert_eq!(normalised(url).as_deref(), Some(name), "{url}");
        }
    }
}

#[test]
fn an_address_that_cannot_be_cut_up_with_certainty_has_no_name() {
    let urls = [
        "https://example.com/?p=a.git", "https://example.com/a#b", "https:///a", ":a",
        "ext::ssh me a", "https://me:s3c/ret@example.com/a", "me:s3cret@example.com:a",
        "ssh://a:b:c/d", "/nowhere", "a\nb:c", "https://example.com:99999/a", "file://", "",
    ];
    for url in urls {
        assert_eq!(normalised(url), None, "{url}");
    }
}

#[test]
fn no_password_is_kept_anywhere() {
    let urls = [
        "https://s3cret@example.com/a", "https://me:s3cret@example.com/a",
        "https://me:x@s3cret@example.com/a", "ssh://me:s3cret@example.com:22/a",
        "https://me:s3cret/x@example.com/a", "me:s3cret@example.com:a",
        "https://me:1/s3cret@example.com/a", "me:x/s3cret@example.com:a",
        "https://example.com/a?token=s3cret", "https://me:s3cret#@example.com/a",
        "file://me:s3cret@example.com/a", "s3://me:s3cret@bucket/a",
        "gcrypt::https://me:s3cret@example.com/a", "//me:s3cret@example.com/a",
    ];
    for url in urls {
        let shown = format!("{:?}", project_with(url));
        assert!(!shown.contains("s3cret"), "{url}: {shown}");
    }
    let error = ProjectId::parse("https://me:s3cret@example.com/a").unwrap_err();
    assert!(!format!("{error:?} {error}").contains("s3cret"));
}

/// Strings of the characters that mean something in an address.
fn address() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "(https?://|ssh://|git://|s3://|file://|)[a-zA-Z0-9@:/.\\[\\]~%?# -]{0,24}",
        "[a-z@:\\[\\]]{1,8}:[a-zA-Z/.]{0,8}(\\.git)?/?",
    ]
}

proptest! {
    #[test]
    fn a_normalised_name_written_as_a_url_keeps_its_name(url in address()) {
        if let Some(name) = normalised(&url) {
            let again = if name.contains("://") {
                vec![name.clone()]
            } else {
                // A port may be the usual one of another protocol, and go there.
                ["https", "ssh", "git"].map(|scheme| format!("{scheme}://{name}")).to_vec()
            };
            prop_assert!(again.iter().any(|url| normalised(url).as_ref() == Some(&name)), "{name}");
        }
    }
}
