//! Files that a client cannot parse: nothing in them takes effect.

use crate::cli::doctor::Around;
use crate::cli::doctor::finding::Finding;
use crate::install::{Holds, Installation};

/// Purpose of a client's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    Hooks,
    Servers,
}

/// Reports malformed files of that role, each path once: clients and levels may share a file.
pub(super) fn find(check: &'static str, kind: Of, around: &Around) -> Vec<Finding> {
    let mut known = Vec::new();
    let all = around.installed.iter().filter(|of| is_of(of, kind, around));
    let all = all.filter(|of| {
        let is_new = !known.contains(&&of.path);
        known.push(&of.path);
        is_new
    });
    all.filter_map(|of| one(check, of, around)).collect()
}

fn one(check: &'static str, of: &Installation, around: &Around) -> Option<Finding> {
    let (title, shown) = (of.client.title(), around.places.shown(&of.path));
    let what = format!("{title} can't read {shown}: {}", of.fault.as_ref()?);
    let finding = if of.client.is_here(&around.places) {
        Finding::fail(check, "malformed", what)
    } else {
        Finding::warn(check, "malformed", what)
    };
    let finding = finding.remedy("mend the file: nothing in it counts until then");
    Some(finding.fact("client", of.client.as_str()).fact("level", of.level.as_str()))
}

fn is_of(of: &Installation, kind: Of, around: &Around) -> bool {
    let slots = of.client.slots(of.level, &around.places);
    let slot = slots.iter().find(|slot| slot.path == of.path);
    let found = slot.map(|slot| match slot.holds {
        Holds::Hooks(_) | Holds::Extension => Of::Hooks,
        Holds::Servers(_) | Holds::TomlServers => Of::Servers,
    });
    of.fault.is_some() && found == Some(kind)
}
