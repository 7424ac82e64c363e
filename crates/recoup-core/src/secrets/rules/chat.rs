//! Chat, mail and telephones: bots, hooks and senders.

use crate::secrets::rule::SecretRule;

pub(super) const RULES: &[SecretRule] = &[
    SecretRule::pattern(
        "slack-token",
        &["xoxa-", "xoxb-", "xoxp-", "xoxr-", "xoxs-", "xoxo-", "xoxc-", "xoxd-", "xoxe-", "xoxe."],
        r"xox(?:[a-e]|[oprs])[.-][0-9A-Za-z%/+-]{10,}",
        ["xoxb-{d12}-{d12}-{a24}", "xoxb-TOKEN"],
    ),
    SecretRule::pattern(
        "slack-app-token",
        &["xapp-"],
        r"xapp-[0-9]-[0-9A-Z]+-[0-9]+-[0-9a-z]{20,}",
        ["xapp-1-A{u10}-{d13}-{h64}", "xapp-1-level"],
    ),
    SecretRule::pattern(
        "slack-webhook",
        &["hooks.slack.com/"],
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([0-9A-Za-z_/-]{30,})",
        ["https://hooks.slack.com/services/T{u10}/B{u10}/{a24}", "hooks.slack.com/services/T000"],
    ),
    SecretRule::pattern(
        "discord-webhook",
        &["discord.com/api/webhooks/", "discordapp.com/api/webhooks/"],
        r"discord(?:app)?\.com/api/webhooks/[0-9]{10,20}/([0-9A-Za-z_-]{40,})",
        ["https://discord.com/api/webhooks/{d18}/{w68}", "discord.com/api/webhooks/ID/TOKEN"],
    ),
    SecretRule::inner(
        "teams-webhook",
        &[".webhook.office.com/"],
        (r"[0-9A-Za-z_.]*\.webhook\.office\.com/webhookb2/([0-9a-f@/A-Za-z-]{80,})", 63),
        [
            "https://shop.webhook.office.com/webhookb2/{U}@{U}/IncomingWebhook/{h32}/{U}",
            "shop.webhook.office.com/docs",
        ],
    ),
    SecretRule::inner(
        "telegram-token",
        &[":aa"],
        (r"(?:bot)?([0-9]{8,12}:AA[0-9A-Za-z_-]{32,33})", 15),
        ["bot{d10}:AA{w33}", "grid:AAA"],
    ),
    SecretRule::pattern(
        "twilio-credential",
        &["twilio"],
        r#"(?i)twilio[\w."'\\:\s=-]{0,100}?[:=(,\s]\s*\\?["']?((?:SK)?[0-9a-f]{32})\b"#,
        ["TWILIO_AUTH={h32}", "twilio==9.3.2"],
    ),
    SecretRule::pattern(
        "sendgrid-key",
        &["sg."],
        r"SG\.[0-9A-Za-z_-]{16,32}\.[0-9A-Za-z_-]{30,64}",
        ["SG.{w22}.{w43}", "SG.config.load"],
    ),
    SecretRule::pattern("mailgun-key", &["key-"], r"key-[0-9a-f]{32}", ["key-{h32}", "key-value"]),
    SecretRule::pattern(
        "mailgun-signing-key",
        &["mailgun"],
        r#"(?i)mailgun[\w."'\\: =-]{0,40}[:=(, ]\s*\\?["']?([0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8})"#,
        ["mailgun: {h32}-{h8}-{h8}", "mailgun: https://mailgun.com"],
    ),
    SecretRule::inner(
        "mailchimp-key",
        &["-us1", "-us2", "-us3", "-us4", "-us5", "-us6", "-us7", "-us8", "-us9"],
        (r"[0-9a-f]{32}-us[0-9]{1,2}", 32),
        ["{h32}-us14", "api-us14"],
    ),
    SecretRule::pattern(
        "brevo-key",
        &["xkeysib-", "xsmtpsib-"],
        r"x(?:key|smtp)sib-[0-9a-f]{64}-[0-9A-Za-z]{16}",
        ["xkeysib-{h64}-{a16}", "xkeysib-example"],
    ),
    // The prefix alone is in half of all identifiers.
    SecretRule::inner(
        "resend-key",
        &["resend", "\"re_", "'re_", "=re_", " re_", "`re_", ":re_"],
        (r#"(?:(?i:resend)[\w."'\\: =-]{0,40}|["'= `:])(re_[0-9A-Za-z]{8}_[0-9A-Za-z]{24})"#, 0),
        ["'re_{a8}_{a24}'", "'re_compile_pattern'"],
    ),
    SecretRule::pattern(
        "mailersend-token",
        &["mlsn."],
        r"mlsn\.[0-9A-Za-z]{30,}",
        ["mlsn.{h64}", "mlsn.io"],
    ),
    SecretRule::pattern(
        "onesignal-key",
        &["os_v2_app_", "os_v2_org_"],
        r"os_v2_(?:app|org)_[0-9a-z]{80,}",
        ["os_v2_app_{k103}", "os_v2_app_id"],
    ),
];
