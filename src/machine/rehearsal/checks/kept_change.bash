# shellcheck shell=bash disable=SC2154 # common.bash sets it
# Is what was written to FILE before still there? CONTENT: what it was.
[ -e "$FILE" ] || failed "$FILE, made on the machine before, is gone"
read_file "$FILE"
[ "$answer" = "$CONTENT" ] || failed "$FILE, made on the machine before, has another content"
passed "a change in /etc was kept"
