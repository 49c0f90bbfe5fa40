# shellcheck shell=bash
# Would sshd accept KEYS (their base64, one per line), which the image has for LOGIN? As sshd itself
# says where it looks.
entry=$(getent passwd "$LOGIN") || failed "the machine has no user $LOGIN"
IFS=: read -r _ _ uid _ _ home shell <<<"$entry"
case $shell in
    */nologin | */false) skipped "$LOGIN cannot log in: the shell is $shell" ;;
esac
state=$(systemctl is-active sshd.service 2>/dev/null)
[ "$state" = active ] || state=$(systemctl is-active ssh.service 2>/dev/null)
[ "$state" = active ] || {
    explain sshd.service
    failed "sshd is ${state:-not there}"
}
said=$(sshd -T -C "user=$LOGIN,host=localhost,addr=127.0.0.1" 2>&1) || {
    printf '%s\n' "$said"
    failed "sshd does not accept its own configuration"
}
places=$(sed -n 's/^authorizedkeysfile //p' <<<"$said")
found=
for place in $places; do
    place=${place//%u/$LOGIN}
    place=${place//%h/$home}
    place=${place//%U/$uid}
    place=${place//%%/%}
    [[ $place == /* ]] || place=$home/$place
    [ -r "$place" ] || continue
    missing=
    while read -r key; do
        grep -q -F -- "$key" "$place" || missing=yes
    done <<<"$KEYS"
    [ -n "$missing" ] || found=$place
done
[ -n "$found" ] || failed "sshd looks for $LOGIN's keys in $places: the image's key is in none of them"
passed "sshd finds $LOGIN's key in $found"
