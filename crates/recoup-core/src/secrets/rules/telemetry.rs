//! Logs, metrics, errors and alarms.

use crate::secrets::rule::SecretRule;

pub(super) const RULES: &[SecretRule] = &[
    SecretRule::pattern(
        "datadog-key",
        &["datadog", "dd_api", "dd_app"],
        r#"(?i)(?:datadog|dd_a(?:pi|pp))[\w."'\\: =-]{0,40}[:=(, ]\s*\\?["']?([0-9a-f]{32}(?:[0-9a-f]{8})?)"#,
        ["datadog.key: {h32}", "datadog: enabled"],
    ),
    SecretRule::pattern(
        "datadog-app-token",
        &["ddapp_", "ddpat_"],
        r"dd(?:app|pat)_[0-9A-Za-z]{30,}",
        ["ddapp_{a34}", "ddapp_env"],
    ),
    SecretRule::pattern(
        "new-relic-key",
        &["nrak-", "nrii-", "nrra-", "nrsp-", "nraa-", "nrjs-"],
        r"NR(?:AK|II|RA|SP|AA|JS)-[0-9A-Za-z_-]{19,}",
        ["NRAK-{u27}", "NRAK-key"],
    ),
    SecretRule::pattern(
        "sentry-token",
        &["sntrys_", "sntryu_"],
        r"sntry(?:s_[0-9A-Za-z+/=_-]{40,}|u_[0-9a-f]{64})",
        ["sntryu_{h64}", "sntryu_prefix"],
    ),
    SecretRule::pattern(
        "grafana-token",
        &["glsa_", "glc_"],
        r"(?:glsa_[0-9A-Za-z]{32}_[0-9A-Fa-f]{8}|glc_[0-9A-Za-z+/]{40,}={0,2})",
        ["glsa_{a32}_{h8}", "glsa_token"],
    ),
    SecretRule::pattern(
        "grafana-old-key",
        &["eyjrijoi"],
        r"eyJrIjoi[0-9A-Za-z+/]{40,}={0,2}",
        ["eyJrIjoi{a80}=", "eyJrIjoi"],
    ),
    SecretRule::pattern(
        "dynatrace-token",
        &["dt0c01.", "dt0s01.", "dt0s02."],
        r"dt0[cs]0[12]\.[0-9A-Z]{8,24}\.[0-9A-Z]{64}",
        ["dt0c01.{u24}.{u64}", "dt0c01.id"],
    ),
    SecretRule::pattern(
        "honeycomb-key",
        &["hcaik_", "hcbik_", "hcxik_"],
        r"hc[abx]ik_[0-9a-z]{50,}",
        ["hcaik_{k58}", "hcaik_prefix"],
    ),
    SecretRule::pattern(
        "posthog-key",
        &["phx_"],
        r"phx_[0-9A-Za-z_-]{40,}",
        ["phx_{a43}", "phx_router"],
    ),
    SecretRule::pattern(
        "pagerduty-key",
        &["pagerduty"],
        r#"(?i)pagerduty[\w."'\\: =-]{0,40}[:=(, ]\s*\\?["']?([0-9a-f]{32}|[uy]\+[0-9A-Za-z_+-]{18})"#,
        ["pagerduty_key={h32}", "pagerduty: https://events.pagerduty.com"],
    ),
];
