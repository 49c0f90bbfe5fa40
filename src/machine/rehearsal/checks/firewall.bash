# shellcheck shell=bash
# Does the firewall run that the image enables, UNIT, and does it have what the image configures?
# PORTS and SERVICES: of firewalld's ZONE, as the image has them.
state=$(systemctl is-active "$UNIT")
[ "$state" = active ] || {
    explain "$UNIT"
    failed "the image enables $UNIT, which is $state"
}
if [ "$UNIT" = nftables.service ]; then
    rules=$(nft list ruleset 2>&1) || {
        printf '%s\n' "$rules"
        failed "nft cannot list the rules"
    }
    [ -n "$rules" ] || failed "nftables is active, but there are no rules"
    passed "nftables is active with $(counted "$(grep -c '^[[:space:]]*chain ' <<<"$rules")" chain)"
fi
missing=
for port in $PORTS; do
    firewall-cmd -q --zone="$ZONE" --query-port="$port" || missing="$missing $port"
done
for service in $SERVICES; do
    firewall-cmd -q --zone="$ZONE" --query-service="$service" || missing="$missing $service"
done
[ -z "$missing" ] || {
    firewall-cmd --zone="$ZONE" --list-all
    failed "firewalld's zone $ZONE is not open for$missing"
}
passed "firewalld is active; zone $ZONE is open for: ${PORTS:+$PORTS }$SERVICES"
