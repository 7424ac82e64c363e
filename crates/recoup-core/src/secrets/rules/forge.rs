//! Forges, build services and package registries.

use crate::secrets::http;
use crate::secrets::rules::SecretRule;

/// Forges and build services.
pub(super) const FORGE_RULES: &[SecretRule] = &[
    SecretRule::pattern(
        "github-token",
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"],
        r"gh[pousr]_[0-9A-Za-z]{20,255}",
        ["ghp_{a36}", "ghp_token"],
    ),
    SecretRule::pattern(
        "github-fine-grained-token",
        &["github_pat_"],
        r"github_pat_[0-9A-Za-z_]{30,255}",
        ["github_pat_{a22}_{a59}", "github_pat_prefix"],
    ),
    SecretRule::pattern(
        "gitlab-token",
        &[
            "glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glsoat-", "gloas-", "glimt-",
            "glagent-", "glffct-", "glrtr-",
        ],
        r"gl(?:pat|dt|rt|cbt|ptt|ft|soat|oas|imt|agent|ffct|rtr)-[0-9A-Za-z_.-]{18,300}[0-9A-Za-z_-]",
        ["glpat-{w20}", "glpat-xxxxxxxxxxxxxxxxxxxx"],
    ),
    SecretRule::pattern(
        "gitlab-runner-token",
        &["gr1348941"],
        r"GR1348941[0-9A-Za-z_-]{20}",
        ["GR1348941{a20}", "GR1348941"],
    ),
    SecretRule::pattern(
        "bitbucket-token",
        &["atbb", "bbdc-"],
        r"(?:ATBB[0-9A-Za-z]{24,}|BBDC-[0-9A-Za-z+/@_-]{32,})",
        ["ATBB{a32}", "BBDC-server"],
    ),
    SecretRule::pattern(
        "atlassian-token",
        &["atatt3", "atctt3"],
        r"AT[AC]TT3[0-9A-Za-z_=-]{40,}",
        ["ATATT3x{w180}={h8}", "ATATT3 is the prefix"],
    ),
    SecretRule::pattern(
        "sourcegraph-token",
        &["sgp_"],
        r"sgp_(?:[0-9a-fA-F]{16}_|local_)?[0-9a-fA-F]{40}",
        ["sgp_{h16}_{h40}", "sgp_local"],
    ),
    SecretRule::pattern(
        "circleci-token",
        &["ccipat_", "cciprj_"],
        r"CCI(?:PAT|PRJ)_[0-9A-Za-z]{22}_[0-9a-f]{40}",
        ["CCIPAT_{a22}_{h40}", "CCIPAT_prefix"],
    ),
    SecretRule::pattern(
        "buildkite-token",
        &["bkua_", "bkaa_", "bkct_", "bkpat_"],
        r"bk(?:ua|aa|ct|pat)_[0-9A-Za-z_-]{38,}",
        ["bkua_{h40}", "bkua_tokens"],
    ),
    SecretRule::pattern(
        "sonar-token",
        &["squ_", "sqp_", "sqa_"],
        r"sq[upa]_[0-9a-f]{40}",
        ["squ_{h40}", "squ_bytes"],
    ),
    SecretRule::pattern(
        "artifactory-key",
        &["akcp", "cmvmd"],
        r"(?:AKCp[0-9A-Za-z]{60,75}|cmVmd[0-9A-Za-z]{59})",
        ["AKCp{a69}", "AKCpShort"],
    ),
    SecretRule::pattern(
        "octopus-key",
        &["api-"],
        r"API-[0-9A-Z]{26,40}",
        ["API-{u26}", "API-REFERENCE"],
    ),
];

/// Package registries: tokens that let one publish under another's name.
pub(super) const REGISTRY_RULES: &[SecretRule] = &[
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
        http::find_registry_login,
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
