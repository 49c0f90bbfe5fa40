# shellcheck shell=bash
# Has any unit failed? Each is shown with its journal.
units=$(systemctl list-units --failed --plain --no-legend --no-pager | sed 's/ .*//')
[ -n "$units" ] || passed "no unit has failed"
number=0
while read -r unit; do
    number=$((number + 1))
    [ "$number" -gt 10 ] || explain "$unit"
done <<<"$units"
failed "$(counted "$number" unit) failed: ${units//$'\n'/, }"
