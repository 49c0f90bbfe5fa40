# shellcheck shell=bash disable=SC2154 # common.bash sets it
# What does greenboot say about this boot? UNIT runs its health checks; it may take WAIT seconds.
end=$((SECONDS + WAIT))
while :; do
    state "$UNIT"
    state=$answer
    property "$UNIT" Job
    case $state-${answer:-0} in
        activating-* | reloading-* | inactive-[1-9]*) ;;
        *) break ;;
    esac
    [ "$SECONDS" -lt "$end" ] || break
    sleep 2
done
if [ "$state" != active ]; then
    explain "$UNIT" 50
    case $state in
        failed) failed "greenboot: red, a required health check failed" ;;
        activating) failed "greenboot: no verdict within $WAIT s" ;;
        *) failed "greenboot: no verdict, $UNIT is $state" ;;
    esac
fi
passed "greenboot: green"
