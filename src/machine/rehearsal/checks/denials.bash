# shellcheck shell=bash
# Has SELinux denied anything in this boot that is not allowed? ALLOWED: allowances, one per line as
# "SOURCE TARGET CLASS PERMISSION,…", TARGET may be "self"; REASONS: theirs, in the same order. Without auditd the kernel's log
# has the denials, with it its own file; the journal has them in both cases, if systemd listens to the audit socket.
[ -e /sys/fs/selinux/enforce ] || skipped "SELinux is off in this kernel"
booted=$(sed -n 's/^btime //p' /proc/stat)
since_boot() {
    awk -v booted="$booted" 'match($0, /audit\([0-9]+/) { if (substr($0, RSTART + 6, RLENGTH - 6) + 1 >= booted) print }'
}
# The denials that differ in more than process and inode as "SOURCE TARGET CLASS PERMISSION,… NUMBER DENIAL". What the kernel
# writes of paths and names it quotes, and it comes before the contexts: the last ones are the contexts. A denial whose contexts
# cannot be read has "?", which nothing allows.
kinds() {
    awk '
        function field(name, text) {
            text = $0
            if (!sub(".* " name "=", "", text)) return "?"
            sub(/ .*/, "", text)
            return text
        }
        function type(context, parts) {
            return split(context, parts, ":") >= 3 && parts[3] != "" ? parts[3] : "?"
        }
        {
            permissions = match($0, /\{[^{}]*\}/) ? substr($0, RSTART + 1, RLENGTH - 2) : "?"
            gsub(/^ +| +$/, "", permissions)
            gsub(/ +/, ",", permissions)
            kind = type(field("scontext")) " " type(field("tcontext")) " " field("tclass") " " (permissions == "" ? "?" : permissions)
            if (!(kind in number)) { text[kind] = $0; order[++count] = kind }
            number[kind]++
        }
        END { for (i = 1; i <= count; i++) print order[i], number[order[i]], text[order[i]] }'
}
found=$({
    journalctl -b --no-pager -o cat _TRANSPORT=kernel _TRANSPORT=audit 2>/dev/null
    [ ! -r /var/log/audit/audit.log ] || since_boot </var/log/audit/audit.log
} | grep -a -E 'avc: +denied' | sed 's/.*avc: /avc: /; s/[[:space:]]*$//' | sort -u | kinds)

declare -a sources targets classes permissions why used
number=0
while read -r source target class list; do
    [ -n "$source" ] || continue
    [ "$target" != self ] || target=$source
    sources[number]=$source targets[number]=$target classes[number]=$class permissions[number]=$list used[number]=0
    number=$((number + 1))
done <<<"$ALLOWED"
mapfile -t why <<<"$REASONS"

# allowance SOURCE TARGET CLASS PERMISSION: the index of the first one that allows it
allowance() {
    local i
    for ((i = 0; i < number; i++)); do
        if [ "${sources[i]} ${targets[i]} ${classes[i]}" = "$1 $2 $3" ] && [[ ,${permissions[i]}, == *",$4,"* ]]; then
            echo "$i"
            return
        fi
    done
    return 1
}

denied=0 excused=0 shown=0
while read -r source target class list times denial; do
    [ -n "$denial" ] || continue
    accepted=''
    IFS=, read -r -a wanted <<<"$list"
    for permission in "${wanted[@]}"; do
        which=$(allowance "$source" "$target" "$class" "$permission") || {
            accepted=''
            break
        }
        case " $accepted " in *" $which "*) ;; *) accepted="$accepted $which" ;; esac
    done
    if [ -n "$accepted" ]; then
        excused=$((excused + times))
        for which in $accepted; do used[which]=$((used[which] + times)); done
        continue
    fi
    denied=$((denied + times))
    shown=$((shown + 1))
    [ "$shown" -gt 40 ] || printf '%s%s\n' "$denial" "$([ "$times" = 1 ] || echo " ($times times)")"
done <<<"$found"

for ((i = 0; i < number; i++)); do
    what="${sources[i]} ${targets[i]}:${classes[i]} { ${permissions[i]//,/ } }: ${why[i]:-}"
    if [ "${used[i]}" = 0 ]; then
        note "allowed, but not denied: $what"
    else
        note "allowed, $(counted "${used[i]}" denial): $what"
    fi
done
also=''
[ "$excused" = 0 ] || also="; $(counted "$excused" denial) allowed by the blueprint"
[ "$denied" = 0 ] || failed "SELinux denied something in this boot: $(counted "$denied" denial)$also"
passed "SELinux denied nothing in this boot$also"
