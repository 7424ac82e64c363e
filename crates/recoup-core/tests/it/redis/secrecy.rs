//! Passwords are not in what is said.

use std::fmt::Write as _;
use std::sync::Arc;

use proptest::prelude::*;
use recoup_core::store::redis::RedisTarget;
use recoup_core::store::{RedisStore, Store, StoreUrl, without_credentials};

use super::proxy::Proxy;
use super::urls::parse;
use super::{eventually, unavailable};
use crate::redis_server::{Server, free_port};
use crate::support::{id, record};

#[test]
fn what_is_configured_is_shown_without_credentials() {
    for (text, shown) in [
        ("redis://me:secret@host/1?prefix=x", "redis://***@host/1?prefix=x"),
        ("redis:me:secret@host", "redis:***@host"),
        ("redis:/me:secret@host", "redis:***@host"),
        ("https://me:secr@et@host", "https://***@host"),
        ("sqlite:/home/me@work/cache.db", "sqlite:/home/me@work/cache.db"),
        ("me@example.org", "me@example.org"),
        ("redis://host", "redis://host"),
    ] {
        assert_eq!(without_credentials(text), shown);
    }
}

/// One that a message can't hold by chance.
fn password() -> impl Strategy<Value = String> {
    proptest::string::string_regex("[!-~éß]{6,20}").unwrap().prop_filter("by chance", |text| {
        !"expected invalid store redis+cluster://HOST unknown scheme".contains(text.as_str())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn a_password_is_never_shown(
        secret in password(),
        encode: bool,
        shape in 0_usize..12,
    ) {
        let encoded: String = secret.bytes().fold(String::new(), |mut text, byte| {
            write!(text, "%{byte:02X}").unwrap();
            text
        });
        let written = if encode { encoded.as_str() } else { secret.as_str() };
        let url = [
            format!("redis://me:{written}@host"),
            format!("redis://:{written}@host:7/1?prefix=x"),
            format!("rediss+cluster://me:{written}@a,b"),
            format!("redis://me:{written}@host:port"),
            format!("redis://me:{written}@host/database"),
            format!("redis://me:{written}@host?prefix=*"),
            format!("redis://me:{written}@host?nothing=1"),
            format!("redis://me:{written}@"),
            format!("redis:me:{written}@host"),
            format!("redis:/me:{written}@host"),
            format!("unknown://me:{written}@host"),
            format!("me:{written}@host"),
        ][shape].clone();
        let shown = match parse(&url) {
            Ok(url) => {
                let StoreUrl::Redis(target) = &url else { panic!("{url:?}") };
                let store = RedisStore::at(RedisTarget::clone(target));
                format!("{url} {url:?} {store:?} {}", store.info().url)
            }
            Err(error) => format!("{error} {error:?}"),
        };
        prop_assert!(!shown.contains(&secret), "{shown}");
        prop_assert!(!shown.contains(written), "{shown}");
    }
}

#[test]
fn what_a_server_repeats_is_shown_without_the_password() {
    for password in ["hunter2-and-more", "abc"] {
        let words = format!(
            "-ERR unknown command 'AUTH', with args beginning with: '{password}' 'ghp_16C7e42F292c6912E7710c838347Ae178B4a'\r\n"
        );
        let proxy = Proxy::saying(words.leak().as_bytes());
        let url = format!("redis://:{password}@127.0.0.1:{}?timeout=5s", proxy.port);
        let StoreUrl::Redis(target) = parse(&url).unwrap() else { panic!("another store") };
        let store: Arc<dyn Store> = Arc::new(RedisStore::at(*target));
        let error = store.put(&id("a"), &record("a")).unwrap_err();
        let said = format!("{error} {error:?} {}", unavailable(&store, "a"));
        assert!(!said.contains(password) && !said.contains("ghp_16C7"), "{said}");
        assert!(said.contains("AUTH") || password == "abc", "{said}");
    }
}

#[test]
fn a_wrong_password_is_not_in_what_a_store_says() {
    let server = Server::launch("redis-server", free_port(), &["--requirepass", "right-one"]);
    let mut said = String::new();
    for user in ["", "someone"] {
        let url = format!("redis://{user}:wrong-one@127.0.0.1:{}", server.port);
        let StoreUrl::Redis(target) = parse(&url).unwrap() else { panic!("another store") };
        let store: Arc<dyn Store> = Arc::new(RedisStore::at(*target));
        eventually("the server answers", || unavailable(&store, "a").contains("authentication"));
        let error = store.put(&id("a"), &record("a")).unwrap_err();
        write!(said, "{store:?} {error} {error:?} {}", unavailable(&store, "a")).unwrap();
    }
    assert!(!said.contains("wrong-one") && !said.contains("right-one"), "{said}");
    assert!(said.contains("127.0.0.1"), "{said}");
}
