//! Providers of models: the keys that agents hold most often, and that cost most when they leak.

use crate::secrets::rule::SecretRule;

pub(super) const RULES: &[SecretRule] = &[
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
