//! `.loa.config.yaml`: only its block `recursive_jit.cache`.

use super::section::Reader;
use crate::config::document::{Node, Value};
use crate::config::given::Raw;
use crate::config::keys::{ENABLED, MAX_SIZE_MB, TTL};

const BLOCK: [&str; 2] = ["recursive_jit", "cache"];

pub(super) fn walk(document: &Node, reader: &mut Reader) {
    let Some(block) = document.at(&BLOCK) else { return };
    let known = &["enabled", "max_size_mb", "ttl_days"];
    for (name, full, node) in reader.table(&BLOCK.join("."), block, known) {
        match name {
            "enabled" => reader.give(&ENABLED.info, &full, node),
            "max_size_mb" => reader.give(&MAX_SIZE_MB.info, &full, node),
            _ => ttl_days(&full, node, reader),
        }
    }
}

fn ttl_days(full: &str, node: &Node, reader: &mut Reader) {
    let days = match &node.value {
        Value::Number(days) => days.to_string(),
        Value::Text(days) => days.clone(),
        _ => return reader.refuse(full, node, "a number of days"),
    };
    reader.give_raw(&TTL.info, full, node, Raw::Days(days));
}
