//! Package registries: tokens that let one publish under another's name.

use crate::secrets::authorization;
use crate::secrets::rule::SecretRule;

pub(super) const RULES: &[SecretRule] = &[
    SecretRule::pattern(
        "npm-token",
        &["npm_"],
        r"npm_[0-9A-Za-z]{30,}",
        ["npm_{a36}", "npm_config_registry"],
    ),
    SecretRule::pattern(
        "npmrc-auth",
        &["_authtoken=", "_auth="],
        r#"(?i)_auth(?:token)?=\s*"?([0-9A-Za-z+/_.-]{8,}=*)"#,
        ["//registry.example/:_auth={b24}", "//registry.example/:_authToken=${NPM}"],
    ),
    SecretRule::code(
        "npmrc-login",
        &["_auth ="],
        authorization::find_registry_login,
        ["_auth = YWRtaW46aHVudGVyMg==", "self._auth = authenticated"],
    ),
    SecretRule::pattern(
        "pypi-token",
        &["pypi-ag"],
        r"pypi-Ag[0-9A-Za-z_-]{50,}",
        ["pypi-AgEIcHlwaS5vcmc{w90}", "pypi-agent"],
    ),
    SecretRule::pattern(
        "rubygems-key",
        &["rubygems_"],
        r"rubygems_[0-9a-f]{48}",
        ["rubygems_{h48}", "rubygems_version"],
    ),
    SecretRule::pattern(
        "crates-io-token",
        &["cio"],
        r"cio[0-9A-Za-z]{32}",
        ["cio{a32}", "ciortools"],
    ),
    SecretRule::pattern(
        "docker-token",
        &["dckr_pat_", "dckr_oat_"],
        r"dckr_[po]at_[0-9A-Za-z_-]{20,}",
        ["dckr_pat_{w27}", "dckr_pat_xxxxxxxxxxxxxxxxxxxxxxxxxxx"],
    ),
    SecretRule::pattern(
        "docker-config-auth",
        &["\"auth\""],
        r#""auth"\s*:\s*"([0-9A-Za-z+/]{16,}={0,2})""#,
        [r#"{"auths":{"r.io":{"auth":"{b40}"}}}"#, r#"{"auth":"basic"}"#],
    ),
    SecretRule::pattern("nuget-key", &["oy2"], r"oy2[0-9a-z]{43}", ["oy2{k43}", "oy2000"]),
    SecretRule::pattern(
        "clojars-token",
        &["clojars_"],
        r"CLOJARS_[0-9a-f]{60}",
        ["CLOJARS_{h60}", "CLOJARS_USERNAME"],
    ),
    SecretRule::pattern(
        "hex-or-jsr-token",
        &["jsrp_", "ddp_", "ddo_"],
        r"(?:jsr|dd)[po]_[0-9A-Za-z]{36,}",
        ["ddp_{a36}", "ddp_rank"],
    ),
    SecretRule::pattern(
        "cloudsmith-key",
        &["csa_"],
        r"csa_[0-9a-f]{30}[0-9A-Za-z]{6}",
        ["csa_{h30}{a6}", "csa_member"],
    ),
];
