# shellcheck shell=bash
# Is every unit active that the image enables? UNITS: "TARGET UNIT", one per line. What a target wants
# that this boot has not reached is not expected to run.
active=0 over=0 unmet='' bad=''
while read -r target unit; do
    [ "$(systemctl is-active "$target")" = active ] || continue
    state=$(property "$unit" ActiveState)
    end=$((SECONDS + WAIT))
    while [ "$state" = activating ] && [ "$SECONDS" -lt "$end" ]; do
        sleep 2
        state=$(property "$unit" ActiveState)
    done
    case $state in
        active | reloading) active=$((active + 1)) ;;
        *)
            if [ "$(property "$unit" ConditionResult)" = no ] &&
                [ -n "$(property "$unit" ConditionTimestamp)" ]; then
                unmet="$unmet $unit"
            elif [ "$state" = inactive ] && [ "$(property "$unit" Result)" = success ] &&
                [ "$(property "$unit" Type)" = oneshot ] &&
                [ -n "$(property "$unit" ExecMainExitTimestamp)" ]; then
                over=$((over + 1))
            else
                bad="$bad, $unit is ${state:-not there}"
                explain "$unit"
            fi
            ;;
    esac
done <<<"$UNITS"
[ -z "$unmet" ] || printf 'not started, since their conditions are not met:%s\n' "$unmet"
[ -z "$bad" ] || failed "enabled by the image, but not active: ${bad#, }"
text="$(counted "$((active + over))" unit) that the image enables started"
[ -z "$unmet" ] || text="$text;$unmet did not, since a condition is not met"
passed "$text"
