# shellcheck shell=bash
# Is what was written to FILE before still there? CONTENT: what it was.
[ -e "$FILE" ] || failed "$FILE, made on the machine before, is gone"
[ "$(cat "$FILE")" = "$CONTENT" ] || failed "$FILE, made on the machine before, has another content"
passed "a change in /etc was kept"
