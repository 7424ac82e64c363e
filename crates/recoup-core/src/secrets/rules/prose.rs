//! Credentials in sentences of any language, and tokens with a prefix and no other mark.

use crate::secrets::rules::SecretRule;
use crate::secrets::{encoded, prose};

pub(super) const RULES: &[SecretRule] = &[
    SecretRule::code(
        "password-in-text",
        &[
            "password", "passwd", "passwort", "passphrase", "passcode", "nnwort", "pwd ", "pwd:",
            " pw ", "pw: ", "pw =", " pw:", "pw is", "pw for", "pw on", "seña", "senha ", "senha:",
            "mdp ", "mdp:", "clave ", "clave:", " pin ", " puk ", "pin:", "token ", "secret ",
            " key ", "schlüssel", "jeton ", "door code", "access code", "alarm code",
            "security code", "unlock code", "safe code", "ery code", "backup code", "lock code",
            "clé ", "chiave ", "passe :", "passe ", "pass:",
        ],
        prose::find_told_password,
        ["the wifi password is {l8}fish2", "the password is in the vault"],
    ),
    SecretRule::code(
        "login-in-text",
        &[" / ", "admin/", "root/", "postgres/"],
        prose::find_pair,
        ["log in with admin / {a12}", "we log in with GitHub / Google"],
    ),
    SecretRule::code(
        "credentials-in-text",
        &["creds: ", "credentials: ", "ogin: ", "ogins: ", "zugangsdaten: ", "fiants : "],
        prose::find_announced,
        ["creds: ada:{a12}", "credentials: see the vault"],
    ),
    SecretRule::code(
        "password-in-unspaced-text",
        &[
            "密码", "密碼", "口令", "パスワード", "暗証番号", "密钥", "密鑰", "令牌", "トークン",
            "キー",
        ],
        prose::find_in_run,
        ["密码是 Xh8!panda66", "密码存在环境变量里"],
    ),
    SecretRule::code(
        "seed-phrase",
        &[" phrase", "mnemonic"],
        prose::find_seed,
        [
            "seed phrase: oyster gravity bamboo lecture fossil thunder velvet drink nominee cabin squeeze pepper",
            "The seed phrase has twelve words and is shown once.",
        ],
    ),
    SecretRule::code(
        "prefixed-token",
        &[
            "p8e-", "aik_ci_", "aik_secret_", "$aact_", "cnvca", "dvc_server_", "apk_user_",
            "cog_", "ico-", "s-s4t2", "lbx_", "rma_", "lip_", "eyjtaxjv", "nyk_", "api_live.",
            "api_live_", "polar_at_", "polar_oat_", "polar_pat_", "prf_", "rpa_", "rootly_",
            "tk-us-", "sm_aat_", "sm_pat_", "sm_sat_", "tss_", "unkey_", "vtwn_", "wrka",
            "xnd_production_", "zpka_", "bkaj_", "bkar_", "bkpt_", "phc_", "sgp_", "glrtr-",
            "key_live_", "key_prod_", "tok_live_",
        ],
        encoded::find_prefixed,
        ["vtwn_{a32}", "vtwn_client_library"],
    ),
    SecretRule::pattern(
        "facebook-or-square-token",
        &["eaaa", "eaac", "eaam"],
        r"EAA[ACM][0-9A-Za-z_-]{50,}",
        ["EAAC{a100}", "EAACMode"],
    ),
    SecretRule::pattern(
        "okta-token",
        &["ssws "],
        r"SSWS (00[0-9A-Za-z_-]{38,42})",
        ["SSWS 00{w40}", "SSWS <token>"],
    ),
];
