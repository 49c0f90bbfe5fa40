# shellcheck shell=bash
# Is a module loaded that the image's modprobe configuration blacklists? MODULES: names, with
# underscores, one per line.
loaded=
while read -r module; do
    if grep -q "^$module " /proc/modules; then
        loaded="$loaded $module"
        grep "^$module " /proc/modules
        journalctl -b -k --no-pager -o short-monotonic 2>/dev/null | grep -i -w -- "$module" | head -n 5
    fi
done <<<"$MODULES"
[ -z "$loaded" ] || failed "blacklisted, but loaded:$loaded"
passed "no blacklisted module is loaded ($(counted "$(wc -l <<<"$MODULES")" module): $SHOWN)"
