//! Keys of the judge. Only the user decides what leaves the machine, to whom and at whose expense:
//! a repository may only switch it off.

use std::time::Duration;

use super::{ConfigKey, KeyInfo, RepositoryPermission};
use crate::config::{env, value};
use crate::llm::{BaseUrl, ModelProvider};

pub(in crate::config) static ENABLED: ConfigKey<bool> = ConfigKey {
    info: KeyInfo {
        name: "judge.enabled",
        expected: "true or false",
        default: Some("false"),
        meaning: "true: you agree that a model reads what you said that may be worth remembering, \
                  without secrets and private parts",
        variable: env::JUDGE_ENABLED,
        peer_variable: None,
        repository: RepositoryPermission::MaySwitchOff,
    },
    read: value::boolean,
    show: |enabled| (*enabled).into(),
};

pub(in crate::config) static PROVIDER: ConfigKey<ModelProvider> = ConfigKey {
    info: KeyInfo {
        name: "judge.provider",
        expected: "anthropic or openai",
        default: Some("anthropic"),
        meaning: "whose API it has: Anthropic's Messages, or chat completions as OpenAI and many others have them",
        variable: env::JUDGE_PROVIDER,
        peer_variable: None,
        repository: RepositoryPermission::MayNot,
    },
    read: value::provider,
    show: |provider| provider.as_str().into(),
};

pub(in crate::config) static MODEL: ConfigKey<String> = ConfigKey {
    info: KeyInfo {
        name: "judge.model",
        expected: "a model's name",
        default: None,
        meaning: "which model; claude-haiku-4-5 or gpt-4.1-mini if this is not said",
        variable: env::JUDGE_MODEL,
        peer_variable: None,
        repository: RepositoryPermission::MayNot,
    },
    read: value::word,
    show: |model| model.clone().into(),
};

pub(in crate::config) static URL: ConfigKey<BaseUrl> = ConfigKey {
    info: KeyInfo {
        name: "judge.url",
        expected: "https://HOST/PATH, or http://127.0.0.1:PORT/PATH",
        default: None,
        meaning: "where it is, up to /v1/messages or /chat/completions; the provider's own address \
                  if this is not said",
        variable: env::JUDGE_URL,
        peer_variable: None,
        repository: RepositoryPermission::MayNot,
    },
    read: value::base_url,
    show: |url| url.to_string().into(),
};

pub(in crate::config) static KEY_ENV: ConfigKey<String> = ConfigKey {
    info: KeyInfo {
        name: "judge.key_env",
        expected: "the name of a variable",
        default: None,
        meaning: "the variable that has the key; ANTHROPIC_API_KEY or OPENAI_API_KEY if this is not said",
        variable: env::JUDGE_KEY_ENV,
        peer_variable: None,
        repository: RepositoryPermission::MayNot,
    },
    read: value::variable_name,
    show: |name| name.clone().into(),
};

pub(in crate::config) static DAILY_TOKENS: ConfigKey<u64> = ConfigKey {
    info: KeyInfo {
        name: "judge.daily_tokens",
        expected: "a whole number above 0",
        default: Some("100000"),
        meaning: "how many tokens it may use in a day (UTC), all processes together",
        variable: env::JUDGE_DAILY_TOKENS,
        peer_variable: None,
        repository: RepositoryPermission::MayNot,
    },
    read: value::count,
    show: |count| (*count).into(),
};

pub(in crate::config) static DEADLINE: ConfigKey<Duration> = ConfigKey {
    info: KeyInfo {
        name: "judge.deadline",
        expected: "a duration from 100ms to 5m",
        default: Some("20s"),
        meaning: "how long an answer may take; nobody waits for it",
        variable: env::JUDGE_DEADLINE,
        peer_variable: None,
        repository: RepositoryPermission::MayNot,
    },
    read: value::deadline,
    show: |time| value::shown_deadline(*time).into(),
};
