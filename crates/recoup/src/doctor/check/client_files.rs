//! Checks clients' files: those that a client cannot parse, in which nothing takes effect, and the
//! record of our changes, without which nothing can be installed, or uninstalled to the byte.

use std::collections::BTreeSet;

use crate::doctor::DoctorContext;
use crate::doctor::finding::DoctorFinding;

/// Reports malformed files that our hooks go into, or else our servers. Each path is reported once:
/// clients and levels may share a file.
pub(super) fn find_malformed(for_hooks: bool, context: &DoctorContext) -> Vec<DoctorFinding> {
    let (mut known, mut found) = (Vec::new(), Vec::new());
    for of in &context.installed {
        let Some(fault) = &of.fault else { continue };
        let slots = of.client.settings_files(of.level, &context.places);
        let slot = slots.iter().find(|slot| slot.path == of.path);
        let has_role = slot.is_some_and(|slot| slot.holds.is_for_hooks() == for_hooks);
        if !has_role || known.contains(&&of.path) {
            continue;
        }
        known.push(&of.path);
        let (title, shown) = (of.client.title(), context.places.display_path(&of.path));
        let what = format!("{title} can't read {shown}: {fault}");
        let is_present = of.client.is_present(&context.places);
        let make = if is_present { DoctorFinding::fail } else { DoctorFinding::warn };
        found.push(
            make("malformed", what)
                .remedy("correct that file: nothing in it takes effect until then")
                .about(of),
        );
    }
    found
}

/// Checks the record of our changes.
pub(super) fn find_record(context: &DoctorContext) -> Vec<DoctorFinding> {
    let noted = match &context.noted {
        Ok(noted) => noted,
        Err(why) => {
            let own = &context.places.own;
            let why = why.replace(&own.display().to_string(), &context.display_path(own));
            let why = why.strip_suffix("; nothing was changed").unwrap_or(&why);
            return vec![DoctorFinding::fail("unreadable", why).remedy(
                "fix or remove the file: `recoup init` and `recoup uninstall` do not run until \
                 then",
            )];
        }
    };
    let files: BTreeSet<_> = noted.iter().map(|it| &it.path).collect();
    let mut clients: Vec<&str> = noted.iter().map(|it| it.client.title()).collect();
    clients.sort_unstable();
    clients.dedup();
    let what = if clients.is_empty() {
        "`recoup init` has not installed anything yet".to_owned()
    } else {
        format!("installed in {}", clients.join(", "))
    };
    vec![DoctorFinding::ok(what).fact("files", files.len())]
}
