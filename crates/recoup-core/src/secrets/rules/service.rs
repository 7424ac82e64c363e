//! Everything else that is well known: trackers, wikis, vaults, tools.

use crate::secrets::rule::SecretRule;

pub(super) const RULES: &[SecretRule] = &[
    SecretRule::pattern(
        "linear-key",
        &["lin_api_", "lin_oauth_"],
        r"lin_(?:api|oauth)_[0-9A-Za-z]{32,}",
        ["lin_api_{a40}", "lin_api_key"],
    ),
    SecretRule::pattern(
        "notion-token",
        &["ntn_", "secret_"],
        r"(?:ntn_[0-9]{6,}[0-9A-Za-z]{30,}|secret_[0-9A-Za-z]{43})",
        ["ntn_{d11}{a35}", "secret_scanning_push_protection"],
    ),
    SecretRule::pattern(
        "figma-token",
        &["figd_", "figo_", "figu_"],
        r"fig[dou]_[0-9A-Za-z_-]{36,}",
        ["figd_{w40}", "figd_token"],
    ),
    SecretRule::pattern(
        "airtable-token",
        &["airtable"],
        r#"(?i)airtable[\w."'\\: =-]{0,40}[:=(, ]\s*\\?["']?((?:pat[0-9a-z]{14}\.[0-9a-f]{64})|key[0-9a-z]{14})"#,
        ["airtable: pat{a14}.{h64}", "airtable: pathological"],
    ),
    SecretRule::pattern(
        "vault-token",
        &["hvs.", "hvb.", "hvr."],
        r"hv[sbr]\.[0-9A-Za-z_-]{20,}",
        ["hvs.{w95}", "hvs.example.com"],
    ),
    SecretRule::pattern(
        "doppler-token",
        &["dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."],
        r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[0-9a-z_-]{2,35}\.)?[0-9A-Za-z]{40,44}",
        ["dp.pt.{a43}", "dp.pt.x"],
    ),
    SecretRule::pattern(
        "1password-token",
        &["ops_eyj"],
        r"ops_eyJ[0-9A-Za-z+/_-]{100,}={0,3}",
        ["ops_eyJ{a260}", "ops_eyJ..."],
    ),
    SecretRule::pattern(
        "1password-secret-key",
        &["a3-"],
        r"A3-[0-9A-Z]{6}-[0-9A-Z]{6}-?[0-9A-Z]{5}-[0-9A-Z]{5}-[0-9A-Z]{5}-[0-9A-Z]{5}",
        ["A3-{u6}-{u6}-{u5}-{u5}-{u5}-{u5}", "A3-paper"],
    ),
    SecretRule::pattern(
        "infisical-token",
        &["st.v"],
        r"st\.v[0-9]\.[0-9A-Za-z_.-]{60,}",
        ["st.v3.{a70}", "st.value"],
    ),
    SecretRule::pattern(
        "postman-key",
        &["pmak-"],
        r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}",
        ["PMAK-{h24}-{h34}", "PMAK-key"],
    ),
    SecretRule::pattern(
        "readme-key",
        &["rdme_"],
        r"rdme_[0-9a-z]{60,}",
        ["rdme_{k70}", "rdme_version"],
    ),
    SecretRule::pattern(
        "prefect-key",
        &["pnu_", "pnb_"],
        r"pn[ub]_[0-9A-Za-z]{36}",
        ["pnu_{a36}", "pnu_workspace"],
    ),
    SecretRule::pattern(
        "typeform-token",
        &["tfp_"],
        r"tfp_[0-9A-Za-z_.=-]{40,}",
        ["tfp_{w59}", "tfp_distributions"],
    ),
    SecretRule::pattern(
        "hubspot-token",
        &["pat-na", "pat-eu"],
        r"pat-(?:na|eu)[0-9]-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
        ["pat-na1-{U}", "pat-nav"],
    ),
    SecretRule::pattern(
        "dropbox-token",
        &["sl.b", "sl.u"],
        r"sl\.[bBuU][0-9A-Za-z_.-]{100,}",
        ["sl.B{w135}", "sl.background"],
    ),
    SecretRule::pattern(
        "apify-token",
        &["apify_api_"],
        r"apify_api_[0-9A-Za-z]{30,}",
        ["apify_api_{a36}", "apify_api_base"],
    ),
    SecretRule::pattern(
        "mapbox-secret",
        &["sk.eyj"],
        r"sk\.eyJ[0-9A-Za-z_-]{40,}\.[0-9A-Za-z_-]{20,}",
        ["sk.eyJ{a70}.{w22}", "pk.eyJ{a70}.{w22}"],
    ),
    SecretRule::pattern(
        "contentful-token",
        &["cfpat-"],
        r"CFPAT-[0-9A-Za-z_-]{40,}",
        ["CFPAT-{w43}", "CFPAT-x"],
    ),
    SecretRule::pattern(
        "launchdarkly-key",
        &["sdk-", "api-"],
        r"(?:sdk|api)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
        ["sdk-{U}", "sdk-tools-34"],
    ),
    SecretRule::inner(
        "salesforce-token",
        &["!aqe", "!aqq", "!aqa", "!ar8"],
        (r"00D[0-9A-Za-z]{12,15}![0-9A-Za-z._]{60,260}", 18),
        ["00D{a12}!AQE{a90}", "00D!aqeous"],
    ),
    SecretRule::pattern(
        "wakatime-key",
        &["waka_"],
        r"waka_[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
        ["waka_{U}", "waka_time"],
    ),
];
