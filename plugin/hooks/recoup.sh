#!/bin/sh
# Called by a client's hooks: recoup.sh CLIENT EVENT, with the event on stdin.
# Hands it to the program recoup, which stands down if `recoup init` has put its own hooks into the
# client's settings. Without the program, says once per machine how to install it. Always exits with
# 0: any other code would block a tool or erase a prompt.

for program in recoup "$HOME/.local/bin/recoup" "$HOME/.cargo/bin/recoup"; do
    command -v "$program" >/dev/null 2>&1 || continue
    "$program" hook --plugin --client "$1"
    exit 0
done

# The client may still be writing.
cat >/dev/null 2>&1

[ "$2" = SessionStart ] || exit 0
state="${XDG_STATE_HOME:-$HOME/.local/state}/recoup"
mkdir -p "$state" 2>/dev/null
# Only one of several sessions can create the file.
if (set -C; : >"$state/plugin-hint") 2>/dev/null; then
    echo '{"systemMessage": "recoup: its plugin needs the program recoup, which is not installed. In a checkout of Recoup: cargo install --path crates/recoup"}'
fi
exit 0
