//! The large clouds: access keys, service accounts, storage keys, signatures.

use crate::secrets::rule::SecretRule;

pub(super) const RULES: &[SecretRule] = &[
    SecretRule::pattern(
        "aws-access-key",
        &["akia", "asia", "abia", "acca"],
        r"(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}",
        ["AKIA{u16}", "ASIA_PACIFIC_REGION_1"],
    ),
    SecretRule::pattern(
        "aws-bedrock-key",
        &["absk", "bedrock-api-key-"],
        r"(?:ABSK[A-Za-z0-9+/]{60,}|bedrock-api-key-[A-Za-z0-9+/]{40,})=*",
        ["ABSK{b110}", "bedrock-api-key-rotation.md"],
    ),
    SecretRule::pattern(
        "google-api-key",
        &["aiza"],
        r"AIza[0-9A-Za-z_-]{35}",
        ["AIza{w35}", "AIzaShort"],
    ),
    SecretRule::pattern(
        "google-oauth-secret",
        &["gocspx-"],
        r"GOCSPX-[0-9A-Za-z_-]{24,}",
        ["GOCSPX-{w28}", "GOCSPX-..."],
    ),
    SecretRule::pattern(
        "google-access-token",
        &["ya29."],
        r"ya29\.[0-9A-Za-z_-]{20,}",
        ["ya29.{w60}", "ya29.example"],
    ),
    SecretRule::pattern(
        "google-refresh-token",
        &["1//0"],
        r"1//0[0-9A-Za-z_-]{30,}",
        ["1//0{w60}", "https://host:1//0/path"],
    ),
    SecretRule::pattern(
        "google-gemini-key",
        &["aq.a"],
        r"AQ\.Ab[0-9A-Za-z_-]{40,}",
        ["AQ.Ab{w48}", "FAQ.About our pricing"],
    ),
    SecretRule::pattern(
        "azure-account-key",
        &["accountkey=", "sharedaccesskey=", "accesskey="],
        r"(?i)(?:AccountKey|SharedAccessKey|AccessKey)=([A-Za-z0-9+/]{40,88}={0,2})",
        ["AccountName=shop;AccountKey={b86}==;", "AccountKey=<key>;EndpointSuffix=core"],
    ),
    SecretRule::inner(
        "azure-client-secret",
        &["7q~", "8q~", "9q~"],
        (r"[A-Za-z0-9_~.]{3}[789]Q~[A-Za-z0-9_~.-]{31,34}", 3),
        ["{a3}8Q~{a34}", "8Q~abc is where the version stands"],
    ),
    SecretRule::pattern(
        "azure-sas",
        &["sig="],
        r"sig=([A-Za-z0-9%/+]{40,90}(?:%3[Dd]|=))",
        ["?sv=2022-11-02&sp=r&sig={a43}%3D", "sig=abc&next=1"],
    ),
    SecretRule::pattern(
        "azure-devops-token",
        &["azdo"],
        r"AZDO[A-Za-z0-9]{4,}",
        ["AZDO{a40}", "azdo pipelines"],
    ),
    SecretRule::pattern(
        "alibaba-access-key",
        &["ltai"],
        r"LTAI[0-9A-Za-z]{16,24}",
        ["LTAI{a20}", "LTAI-Summit"],
    ),
    SecretRule::pattern(
        "tencent-secret-id",
        &["akid"],
        r"AKID[0-9A-Za-z]{32}",
        ["AKID{a32}", "AKID=none"],
    ),
    SecretRule::pattern(
        "yandex-key",
        &["aqvn", "t1.9"],
        r"(?:AQVN[0-9A-Za-z_-]{35,}|t1\.9[0-9A-Za-z_-]{20,}={0,2}\.[0-9A-Za-z_-]{60,})",
        ["AQVN{w36}", "t1.9 seconds"],
    ),
];
