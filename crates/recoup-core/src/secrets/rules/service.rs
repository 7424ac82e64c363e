//! Services with tokens of their own form: models, chat, payment, telemetry and others.

use crate::secrets::rules::SecretRule;

/// Providers of models: the keys that agents hold most often, and that cost most when they leak.
pub(super) const MODEL_RULES: &[SecretRule] = &[
    SecretRule::pattern(
        "anthropic-key",
        &["sk-ant-"],
        r"sk-ant-[0-9A-Za-z_-]{16,}",
        ["sk-ant-api03-{w93}AA", "sk-ant-..."],
    ),
    SecretRule::pattern(
        "model-provider-key",
        &["sk-"],
        r"sk-(?:(?:proj|svcacct|admin|None|or-v1|lf|api|org)-[0-9A-Za-z_-]{20,}|[0-9A-Za-z]{20,})",
        ["sk-proj-{w48}T3BlbkFJ{w48}", "sk-learn-contrib-extras"],
    ),
    SecretRule::pattern(
        "huggingface-token",
        &["hf_", "api_org_"],
        r"(?:hf|api_org)_[0-9A-Za-z]{30,40}",
        ["hf_{L34}", "hf_hub_download"],
    ),
    SecretRule::pattern(
        "groq-key",
        &["gsk_"],
        r"gsk_[0-9A-Za-z]{40,}",
        ["gsk_{a52}", "gsk_model_id"],
    ),
    SecretRule::pattern("xai-key", &["xai-"], r"xai-[0-9A-Za-z_-]{60,}", ["xai-{a80}", "xai-sdk"]),
    SecretRule::pattern(
        "replicate-token",
        &["r8_"],
        r"r8_[0-9A-Za-z]{30,40}",
        ["r8_{a37}", "r8_register"],
    ),
    SecretRule::pattern(
        "perplexity-key",
        &["pplx-"],
        r"pplx-[0-9A-Za-z]{40,}",
        ["pplx-{a48}", "pplx-70b-online"],
    ),
    SecretRule::pattern(
        "cerebras-key",
        &["csk-"],
        r"csk-[0-9a-z]{40,}",
        ["csk-{k48}", "csk-small"],
    ),
    SecretRule::pattern(
        "nvidia-key",
        &["nvapi-"],
        r"nvapi-[0-9A-Za-z_-]{50,}",
        ["nvapi-{w64}", "nvapi-docs"],
    ),
    SecretRule::pattern(
        "together-key",
        &["tgp_v1_"],
        r"tgp_v1_[0-9A-Za-z_-]{40,}",
        ["tgp_v1_{w43}", "tgp_v1_prefix"],
    ),
    SecretRule::pattern(
        "fireworks-key",
        &["fw_", "fpk_"],
        r"(?:fw|fpk)_[0-9A-Za-z]{22,}",
        ["fw_{a24}", "fw_version"],
    ),
    SecretRule::pattern(
        "voyage-key",
        &["pa-", "al-"],
        r"(?:pa|al)-[0-9A-Za-z_-]{43}",
        ["pa-{a43}", "al-pha"],
    ),
    SecretRule::pattern(
        "pinecone-key",
        &["pcsk_"],
        r"pcsk_[0-9A-Za-z]{5,6}_[0-9A-Za-z]{60,}",
        ["pcsk_{a6}_{a63}", "pcsk_index"],
    ),
    SecretRule::pattern(
        "langsmith-key",
        &["lsv2_pt_", "lsv2_sk_"],
        r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}",
        ["lsv2_pt_{h32}_{h10}", "lsv2_pt_prefix"],
    ),
    SecretRule::pattern(
        "elevenlabs-key",
        &["sk_"],
        r"sk_(?:[0-9a-f]{48}|car_[0-9A-Za-z_]{20,})",
        ["sk_{h48}", "sk_buff_head_init"],
    ),
    SecretRule::pattern(
        "llama-cloud-key",
        &["llx-"],
        r"llx-[0-9A-Za-z]{40,}",
        ["llx-{a48}", "llx-parse"],
    ),
    SecretRule::pattern(
        "wandb-key",
        &["wandb_v1_"],
        r"wandb_v1_[0-9A-Za-z_]{70,}",
        ["wandb_v1_{a77}", "wandb_v1_run"],
    ),
    SecretRule::pattern(
        "tavily-key",
        &["tvly-"],
        r"tvly-(?:dev-|prod-)?[0-9A-Za-z]{28,}",
        ["tvly-dev-{a32}", "tvly-python"],
    ),
];

/// Chat, mail and telephones: bots, hooks and senders.
pub(super) const CHAT_RULES: &[SecretRule] = &[
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

/// Payment and shops.
pub(super) const PAYMENT_RULES: &[SecretRule] = &[
    SecretRule::pattern(
        "stripe-key",
        &["sk_live_", "sk_test_", "sk_prod_", "rk_live_", "rk_test_", "rk_prod_"],
        r"[sr]k_(?:live|test|prod)_[0-9A-Za-z]{10,250}",
        ["sk_live_{a24}", "pk_live_{a24}"],
    ),
    SecretRule::pattern(
        "stripe-webhook-secret",
        &["whsec_"],
        r"whsec_[0-9A-Za-z+/=]{24,}",
        ["whsec_{a32}", "whsec_..."],
    ),
    SecretRule::pattern(
        "square-token",
        &["sq0atp-", "sq0csp-"],
        r"sq0(?:atp|csp)-[0-9A-Za-z_-]{22,43}",
        ["sq0csp-{w43}", "sq0idp-{w22}"],
    ),
    SecretRule::pattern(
        "braintree-token",
        &["access_token$production$", "access_token$sandbox$"],
        r"access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}",
        ["access_token$production${h16}${h32}", "access_token$production$"],
    ),
    SecretRule::pattern(
        "paypal-secret",
        &["paypal"],
        r#"(?i)paypal[\w."'\\: =-]{0,40}[:=(, ]\s*\\?["']?(E[A-Z][0-9A-Za-z_-]{70,90})"#,
        ["paypal_key: EL{w78}", "paypal: EUR"],
    ),
    SecretRule::pattern(
        "shopify-token",
        &["shpat_", "shpca_", "shppa_", "shpss_"],
        r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}",
        ["shpat_{h32}", "shpat_token"],
    ),
    SecretRule::pattern(
        "adyen-key",
        &["aqe"],
        r"AQE[A-Za-z0-9]{2}[0-9A-Za-z+/]{60,}=*-[0-9A-Za-z+/=]{20,}-[0-9A-Za-z]{10,}",
        ["AQEyh{b100}==-{b44}-{a16}", "AQEthing"],
    ),
    SecretRule::pattern(
        "razorpay-key",
        &["rzp_live_", "rzp_test_"],
        r"rzp_(?:live|test)_[0-9A-Za-z]{14}",
        ["rzp_live_{a14}", "rzp_live_id"],
    ),
    SecretRule::pattern(
        "flutterwave-key",
        &["flwseck"],
        r"FLWSECK(?:_TEST)?-[0-9a-zA-Z]{12,}(?:-X)?",
        ["FLWSECK_TEST-{h32}-X", "FLWSECK-key"],
    ),
    SecretRule::pattern(
        "paddle-key",
        &["pdl_live_apikey_", "pdl_sdbx_apikey_"],
        r"pdl_(?:live|sdbx)_apikey_[0-9a-z]{26}_[0-9A-Za-z]{22}_[0-9A-Za-z]{3}",
        ["pdl_live_apikey_{k26}_{a22}_{a3}", "pdl_live_apikey_id"],
    ),
    SecretRule::pattern(
        "easypost-key",
        &["ezak", "eztk"],
        r"EZ[AT]K[0-9A-Za-z]{54}",
        ["EZAK{a54}", "EZAKey"],
    ),
    SecretRule::pattern(
        "shippo-token",
        &["shippo_live_", "shippo_test_"],
        r"shippo_(?:live|test)_[0-9a-f]{40}",
        ["shippo_live_{h40}", "shippo_test_mode"],
    ),
    SecretRule::pattern(
        "duffel-token",
        &["duffel_live_", "duffel_test_"],
        r"duffel_(?:live|test)_[0-9A-Za-z_=-]{43}",
        ["duffel_live_{w43}", "duffel_test_mode"],
    ),
    SecretRule::pattern(
        "ethereum-private-key",
        &["privatekey", "private_key", "private-key"],
        r#"(?i)private[_-]?key[\w"'\\: =-]{0,12}(0x[0-9a-f]{64})"#,
        ["privateKey 0x{h64}", "privateKey: accounts[0]"],
    ),
];

/// Logs, metrics, errors and alarms.
pub(super) const TELEMETRY_RULES: &[SecretRule] = &[
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

/// Everything else that is well known: trackers, wikis, vaults, tools.
pub(super) const SERVICE_RULES: &[SecretRule] = &[
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
