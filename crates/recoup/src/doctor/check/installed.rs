//! Checks the record of our changes to clients' files: without it nothing can be installed, or
//! uninstalled to the byte.

use std::collections::BTreeSet;

use crate::doctor::DoctorContext;
use crate::doctor::finding::DoctorFinding;

const CHECK: &str = "installed";

pub(super) fn find(context: &DoctorContext) -> Vec<DoctorFinding> {
    let noted = match &context.noted {
        Ok(noted) => noted,
        Err(why) => {
            let own = &context.places.own;
            let why = why.replace(&own.display().to_string(), &context.display_path(own));
            let why = why.strip_suffix("; nothing was changed").unwrap_or(&why);
            return vec![
                DoctorFinding::fail(CHECK, "unreadable", why)
                    .remedy("`recoup init` and `recoup uninstall` refuse to work until then"),
            ];
        }
    };
    let files: BTreeSet<_> = noted.iter().map(|it| &it.path).collect();
    let mut clients: Vec<&str> = noted.iter().map(|it| it.client.title()).collect();
    clients.sort_unstable();
    clients.dedup();
    let what = if clients.is_empty() {
        "`recoup init` has put nothing into a client yet".to_owned()
    } else {
        format!("put into {}", clients.join(", "))
    };
    vec![DoctorFinding::ok(CHECK, what).fact("files", files.len())]
}
