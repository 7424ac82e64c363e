//! The room there is: 100 MiB for each kind in a scope, body and header
//! counted. What does not fit is refused, and nothing gives way for it.

use crate::support::Home;

const ROOM: usize = 100 << 20;
/// Each of the hundred frames has a digest.
const DIGESTS: usize = 100 * 32;

#[test]
fn a_result_that_fills_all_the_room_but_for_its_header_is_refused() {
    let home = Home::new();
    home.set("old", "1");
    let mut body = vec![b'x'; ROOM - DIGESTS - 1];
    let last = body.len() - 1;
    (body[0], body[last]) = (b'"', b'"');
    home.run_with_stdin(&["cache", "set", "--key", "k", "--condensed", "-"], &body)
        .expect_failure("more than the limit of 104857600");
    home.get("old").expect_hit("1");
    home.get("k").expect_miss();
}
