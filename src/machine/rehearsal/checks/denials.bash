# shellcheck shell=bash disable=SC2154 # common.bash and denied.bash set them
# Has SELinux denied anything in this boot that is not allowed? ALLOWED: allowances, one per line as
# "SOURCE TARGET CLASS PERMISSION,…", TARGET may be "self"; REASONS: theirs, in the same order.
[ -r /sys/fs/selinux/enforce ] || failed "SELinux is off in this kernel: it denies nothing"

# The log has to be one from which denials can be told: it goes back to the kernel's record that the policy was loaded, which
# there is none of if auditing is off (audit=0), and comes to now, to a line of this check; nothing was lost on the way.
read_until_now read_denials ''
[[ $messages == *type=1403* || $messages == *MAC_POLICY_LOAD* ]] ||
    failed "cannot be checked: the journal of this boot does not have the kernel's record that the policy was loaded"
lost='audit_lost=[1-9]|audit: backlog limit exceeded|audit: rate limit exceeded'
[[ ! $messages =~ $lost ]] || failed "cannot be checked: the kernel lost audit messages: ${BASH_REMATCH[0]}"
state auditd.service
if [ "$answer" = active ]; then
    [ -n "$first_message" ] || failed "cannot be checked: auditd is active, and /var/log/audit has nothing of this boot"
elif [[ $messages =~ Missed\ [0-9]+\ kernel\ messages|audit[^$'\n']*callbacks\ suppressed ]]; then
    missed=${BASH_REMATCH[0]}
    answer=$(journalctl -b --no-pager -q -o cat -n 1 _TRANSPORT=audit)
    [ -n "$answer" ] || failed "cannot be checked: messages of the kernel were lost: $missed"
fi
if have auditctl; then
    ask auditctl -l
    [[ ! $answer =~ msgtype=(AVC|1400)([^0-9]|$) ]] || failed "cannot be checked: a rule of auditctl hides denials: ${BASH_REMATCH[0]}"
fi

declare -a sources targets classes permissions why used
number=0
while read -r source target class list; do
    [ -n "$source" ] || continue
    [ "$target" != self ] || target=$source
    sources[number]=$source targets[number]=$target classes[number]=$class permissions[number]=$list used[number]=0
    number=$((number + 1))
done <<<"$ALLOWED"
mapfile -t why <<<"$REASONS"

# allowance SOURCE TARGET CLASS PERMISSION: sets `which` to the index of the first one that allows it
allowance() {
    for ((which = 0; which < number; which++)); do
        if [ "${sources[which]} ${targets[which]} ${classes[which]}" = "$1 $2 $3" ] && [[ ,${permissions[which]}, == *",$4,"* ]]; then
            return
        fi
    done
    return 1
}

denied=0 excused=0
declare -a left
for kind in ${kinds[@]+"${kinds[@]}"}; do
    read -r source target class list <<<"$kind"
    times=${number_of[$kind]} accepted=''
    IFS=, read -r -a wanted <<<"$list"
    for permission in "${wanted[@]}"; do
        allowance "$source" "$target" "$class" "$permission" || {
            accepted=''
            break
        }
        case " $accepted " in *" $which "*) ;; *) accepted="$accepted $which" ;; esac
    done
    if [ -n "$accepted" ]; then
        excused=$((excused + times))
        for which in $accepted; do used[which]=$((used[which] + times)); done
    else
        denied=$((denied + times))
        left+=("$kind")
    fi
done
kinds=(${left[@]+"${left[@]}"})
show_denials 40

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
