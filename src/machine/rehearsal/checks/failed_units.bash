# shellcheck shell=bash disable=SC2154 # common.bash sets it
# Has any unit failed, from the boot until now? Beside those that are failed at this moment there are those that systemd started
# anew (Restart=), or that were reset since: the journal and the count of restarts have them. Each is shown with its journal.
declare -A failures restarts known
units=() gpuless=()

# add UNIT
add() {
    [ -z "${known[$1]:-}" ] || return 0
    known[$1]=yes
    if lacks_gpu "$1"; then gpuless+=("$1"); else units+=("$1"); fi
}

# add_restarts UNIT NUMBER: the highest number counts. systemd ends journald as it leaves the initramfs, and starts it again.
add_restarts() {
    local least=0
    [ "$1" != systemd-journald.service ] || least=1
    [ "$2" -gt "$least" ] || return 0
    [ "$2" -le "${restarts[$1]:-0}" ] || restarts[$1]=$2
    add "$1"
}

# systemd's own count has to be that of the list.
property '' NFailedUnits
number=$answer
[[ $number =~ ^[0-9]{1,9}$ ]] || failed "cannot be checked: systemctl says that '$number' units have failed"
if [ "$number" != 0 ]; then
    while read -r unit _; do
        [ -z "$unit" ] || add "$unit"
    done <<<"$(systemctl list-units --failed --plain --no-legend --no-pager)"
    # What failed and is not listed has failed all the same.
    number=$((number - ${#gpuless[@]}))
    [ "${#units[@]}" = "$number" ] || echo "systemd says that $number failed, and lists ${#units[@]}"
fi

# A block per service, with its properties in any order.
ask systemctl show --all -p Id -p NRestarts -- '*.service'
services=0 id=$'\nId=([^\n]+)\n' restarted=$'\nNRestarts=([0-9]{1,10})\n'
while [ -n "$answer" ]; do
    block=$'\n'${answer%%$'\n\n'*}$'\n'
    if [[ $answer == *$'\n\n'* ]]; then answer=${answer#*$'\n\n'}; else answer=''; fi
    unit='' count=''
    [[ ! $block =~ $id ]] || unit=${BASH_REMATCH[1]}
    [[ ! $block =~ $restarted ]] || count=${BASH_REMATCH[1]}
    if [ -z "$unit" ] || [ -z "$count" ]; then
        failed "cannot be checked: systemctl does not tell how often a service was restarted: $block"
    fi
    services=$((services + 1))
    add_restarts "$unit" "$count"
done

# What process 1 said, in the kernel's log while there was no journal. By its text, since systemd has an identifier for it
# (SD_MESSAGE_UNIT_FAILURE_RESULT) only since version 240, and the kernel's log never has any.
read_records() {
    messages=$(journalctl --no-pager -q -o cat -b _PID=1 + _TRANSPORT=kernel + _TRANSPORT=driver) ||
        failed "cannot be checked: journalctl ended with status $?"
}
read_until_now read_records
start='' failure="^([^ ]+): Failed with result '[^']*'\\.$" again='^([^ ]+): Scheduled restart job, restart counter is at ([0-9]{1,9})\.$'
while IFS= read -r line; do
    if [[ $line =~ $failure ]]; then
        unit=${BASH_REMATCH[1]}
        failures[$unit]=$((${failures[$unit]:-0} + 1))
        add "$unit"
    elif [[ $line =~ $again ]]; then
        add_restarts "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}"
    elif [[ $line =~ ^systemd\ .*running\ in\ system\ mode ]]; then
        start=yes
    elif [[ $line =~ ^Suppressed\ [0-9]+\ messages\ from\ /?init\.scope ]]; then
        failed "cannot be checked: the journal lost messages of systemd: $line"
    fi
done <<<"$messages"
[ "${#gpuless[@]}" = 0 ] || note "not judged, since the machine has no GPU of NVIDIA's: ${gpuless[*]}"
[ -n "$start" ] || failed "cannot be checked: the journal of this boot does not have the start of systemd"
[ "$number" != 0 ] || [ "${#units[@]}" != 0 ] || passed "no unit has failed ($(counted "$services" service))"

text='' shown=0
for unit in ${units[@]+"${units[@]}"}; do
    how=''
    [ -z "${failures[$unit]:-}" ] || how=", failed $(counted "${failures[$unit]}" time)"
    [ -z "${restarts[$unit]:-}" ] || how="$how, restarted $(counted "${restarts[$unit]}" time)"
    text="$text, $unit${how:+ (${how#, })}"
    shown=$((shown + 1))
    [ "$shown" -gt 10 ] || explain "$unit"
done
[ "$shown" -le 10 ] || echo "and $((shown - 10)) more"
[ "$shown" -ge "$number" ] || shown=$number
failed "$(counted "$shown" unit) failed: ${text#, }"
