//! `.loa.config.yaml`: only its block `recursive_jit.cache`.

use super::section::SectionReader;
use crate::config::configured_value::RawSetting;
use crate::config::document::{ConfigNode, ConfigValue};
use crate::config::keys::{ENABLED, MAX_SIZE_MB, TTL};

const BLOCK: [&str; 2] = ["recursive_jit", "cache"];

pub(super) fn walk(document: &ConfigNode, reader: &mut SectionReader) {
    let Some(block) = document.at(&BLOCK) else { return };
    let known = &["enabled", "max_size_mb", "ttl_days"];
    for (name, full, node) in reader.table(&BLOCK.join("."), block, known) {
        match name {
            "enabled" => reader.add_value(&ENABLED.info, &full, node),
            "max_size_mb" => reader.add_value(&MAX_SIZE_MB.info, &full, node),
            _ => ttl_days(&full, node, reader),
        }
    }
}

fn ttl_days(full: &str, node: &ConfigNode, reader: &mut SectionReader) {
    let days = match &node.value {
        ConfigValue::Number(days) => days.to_string(),
        ConfigValue::Text(days) => days.clone(),
        _ => return reader.add_type_problem(full, node, "a number of days"),
    };
    reader.add_raw_value(&TTL.info, full, node, RawSetting::Days(days));
}
