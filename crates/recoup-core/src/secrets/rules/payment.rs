//! Payment and shops.

use crate::secrets::rule::SecretRule;

pub(super) const RULES: &[SecretRule] = &[
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
