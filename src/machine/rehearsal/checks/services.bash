# shellcheck shell=bash disable=SC2154 # common.bash sets it
# Is every unit active that the image enables? UNITS: "TARGET UNIT", one per line. What a target wants
# that this boot has not reached is not expected to run.

# is UNIT PROPERTY VALUE; a value of "?" is any but none
is() {
    property "$1" "$2"
    if [ "$3" = '?' ]; then [ -n "$answer" ]; else [ "$answer" = "$3" ]; fi
}

active=0 over=0 unmet='' bad='' unreached='' gpuless=''
while read -r target unit; do
    state "$target"
    [ "$answer" = active ] || {
        property "$target" ActiveExitTimestampMonotonic
        if [ "$answer" = 0 ]; then
            unreached="$unreached $unit ($target)"
        else
            bad="$bad, $unit ($target is no longer active)"
        fi
        continue
    }
    state "$unit"
    end=$((SECONDS + WAIT))
    while [ "$answer" = activating ] && [ "$SECONDS" -lt "$end" ]; do
        sleep 2
        state "$unit"
    done
    state=$answer
    case $state in
        active | reloading) active=$((active + 1)) ;;
        *)
            if is "$unit" ConditionResult no && is "$unit" ConditionTimestamp '?'; then
                unmet="$unmet $unit"
            elif [ "$state" = inactive ] && is "$unit" Result success && is "$unit" Type oneshot &&
                is "$unit" ExecMainExitTimestamp '?'; then
                over=$((over + 1))
            elif lacks_gpu "$unit"; then
                gpuless="$gpuless $unit"
            else
                bad="$bad, $unit is $state"
                explain "$unit"
            fi
            ;;
    esac
done <<<"$UNITS"
[ -z "$unmet" ] || printf 'not started, since their conditions are not met:%s\n' "$unmet"
[ -z "$unreached" ] || printf 'not started, since nothing has reached what wants them:%s\n' "$unreached"
[ -z "$gpuless" ] || note "not judged, since the machine has no GPU of NVIDIA's:$gpuless"
[ -z "$bad" ] || failed "enabled by the image, but not active: ${bad#, }"
text="$(counted "$((active + over))" unit) that the image enables started"
[ -z "$unmet" ] || text="$text;$unmet did not, since a condition is not met"
passed "$text"
