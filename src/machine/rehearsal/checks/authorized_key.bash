# shellcheck shell=bash disable=SC2154 # common.bash sets it
# Would sshd accept KEYS (their base64, one per line), which the image has for LOGIN? As sshd itself
# says where it looks.
entry=$(getent passwd "$LOGIN") || failed "the machine has no user $LOGIN"
[[ $entry == "$LOGIN:"* ]] || failed "cannot be checked: getent says that $LOGIN is '$entry'"
IFS=: read -r _ _ uid _ _ home shell <<<"$entry"
case $shell in
    */nologin | */false) failed "$LOGIN cannot log in: on the machine the shell is $shell" ;;
esac
state sshd.service
[ "$answer" = active ] || state ssh.service
[ "$answer" = active ] || {
    explain sshd.service
    failed "sshd is $answer"
}
said=$(sshd -T -C "user=$LOGIN,host=localhost,addr=127.0.0.1" 2>&1) || {
    printf '%s\n' "$said"
    failed "sshd does not accept its own configuration"
}

# has FILE KEY: a line that is no comment has it as a word
has() {
    local line
    while IFS= read -r line || [ -n "$line" ]; do
        [[ $line =~ ^[[:space:]]*# ]] || [[ " $line " != *" $2 "* ]] || return 0
    done <"$1"
    return 1
}

found='' places=''
while read -r setting values; do
    [ "$setting" != authorizedkeysfile ] || places=$values
done <<<"$said"
for place in $places; do
    place=${place//%u/$LOGIN}
    place=${place//%h/$home}
    place=${place//%U/$uid}
    place=${place//%%/%}
    [[ $place == /* ]] || place=$home/$place
    [ -r "$place" ] || continue
    missing=
    while read -r key; do
        [ -n "$key" ] && has "$place" "$key" || missing=yes
    done <<<"$KEYS"
    [ -n "$missing" ] || found=$place
done
[ -n "$found" ] || failed "sshd looks for $LOGIN's keys in ${places:-no file}: the image's key is in none of them"
passed "sshd finds $LOGIN's key in $found"
