# shellcheck shell=bash disable=SC2154 # common.bash sets it
# Does the firewall run that the image enables, UNIT, and does it have what the image configures?
# PORTS and SERVICES: of firewalld's ZONE, as the image has them.
state "$UNIT"
[ "$answer" = active ] || {
    explain "$UNIT"
    failed "the image enables $UNIT, which is $answer"
}
if [ "$UNIT" = nftables.service ]; then
    ask nft list ruleset
    chains=0
    while read -r word _; do
        [ "$word" != chain ] || chains=$((chains + 1))
    done <<<"$answer"
    [ "$chains" != 0 ] || failed "nftables is active, but there are no chains"
    passed "nftables is active with $(counted "$chains" chain)"
fi
ask firewall-cmd --state
[ "$answer" = running ] || failed "firewalld says that it is '$answer'"
ask firewall-cmd --get-default-zone
[ "$answer" = "$ZONE" ] || failed "firewalld's default zone is $answer, not $ZONE"
missing=
for port in $PORTS; do
    [ "$(firewall-cmd --zone="$ZONE" --query-port="$port" 2>&1)" = yes ] || missing="$missing $port"
done
for service in $SERVICES; do
    [ "$(firewall-cmd --zone="$ZONE" --query-service="$service" 2>&1)" = yes ] || missing="$missing $service"
done
[ -z "$missing" ] || {
    firewall-cmd --zone="$ZONE" --list-all
    failed "firewalld's zone $ZONE is not open for$missing"
}
passed "firewalld is active; zone $ZONE is open for: ${PORTS:+$PORTS }$SERVICES"
