//! Checks the record of our changes to clients' files: without it nothing can be installed, or
//! uninstalled to the byte.

use std::collections::BTreeSet;

use crate::cli::doctor::Around;
use crate::cli::doctor::finding::Finding;

const CHECK: &str = "installed";

pub(super) fn find(around: &Around) -> Vec<Finding> {
    let noted = match &around.noted {
        Ok(noted) => noted,
        Err(why) => {
            let own = &around.places.own;
            let why = why.replace(&own.display().to_string(), &around.shown(own));
            let why = why.strip_suffix("; nothing was changed").unwrap_or(&why);
            return vec![
                Finding::fail(CHECK, "unreadable", why)
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
    vec![Finding::ok(CHECK, what).fact("files", files.len())]
}
