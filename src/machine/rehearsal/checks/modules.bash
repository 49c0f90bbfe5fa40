# shellcheck shell=bash disable=SC2154 # common.bash sets it
# Is a module loaded that the image's modprobe configuration blacklists? MODULES: names, with
# underscores, one per line.
read_file /proc/modules
loaded='' number=0
while read -r module; do
    number=$((number + 1))
    while read -r name rest; do
        if [ "$name" = "$module" ]; then
            loaded="$loaded $module"
            printf '%s %s\n' "$name" "$rest"
            journalctl -b -k --no-pager -o short-monotonic 2>/dev/null | grep -i -w -- "$module" | head -n 5
        fi
    done <<<"$answer"
done <<<"$MODULES"
[ -z "$loaded" ] || failed "blacklisted, but loaded:$loaded"
passed "no blacklisted module is loaded ($(counted "$number" module): $SHOWN)"
