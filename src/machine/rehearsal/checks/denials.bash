# shellcheck shell=bash
# Has SELinux denied anything in this boot? PATTERNS has one pattern of the allow list per line; a
# denial that contains one is accepted. Without auditd the kernel's log has the denials, with it its
# own file; the journal has them in both cases, if systemd listens to the audit socket.
[ -e /sys/fs/selinux/enforce ] || skipped "SELinux is off in this kernel"
booted=$(sed -n 's/^btime //p' /proc/stat)
since_boot() {
    awk -v booted="$booted" 'match($0, /audit\([0-9]+/) { if (substr($0, RSTART + 6, RLENGTH - 6) + 1 >= booted) print }'
}
found=$({
    journalctl -b --no-pager -o cat _TRANSPORT=kernel _TRANSPORT=audit 2>/dev/null
    [ ! -r /var/log/audit/audit.log ] || since_boot </var/log/audit/audit.log
} | grep -a -E 'avc: +denied' | sed 's/.*avc: /avc: /; s/[[:space:]]*$//' | sort -u)
denied=0 allowed=0
while IFS= read -r denial; do
    [ -n "$denial" ] || continue
    accepted=
    while IFS= read -r pattern; do
        # shellcheck disable=SC2053 # a pattern is meant
        [ -z "$pattern" ] || [[ $denial != *$pattern* ]] || accepted=yes
    done <<<"$PATTERNS"
    if [ -n "$accepted" ]; then
        allowed=$((allowed + 1))
    else
        denied=$((denied + 1))
        [ "$denied" -gt 40 ] || printf '%s\n' "$denial"
    fi
done <<<"$found"
also=
[ "$allowed" = 0 ] || also="; $(counted "$allowed" denial) of the allow list"
[ "$denied" = 0 ] || failed "SELinux denied something in this boot: $(counted "$denied" denial)$also"
passed "SELinux denied nothing in this boot$also"
