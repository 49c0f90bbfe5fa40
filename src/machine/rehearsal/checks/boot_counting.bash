# shellcheck shell=bash
# Has the boot loader stopped counting, with the boot found good? Both are GRUB's variables.
# The path is given because each distribution's default is another one.
list() {
    local program=grub-editenv block=/boot/grub2/grubenv
    ! have grub2-editenv || program=grub2-editenv
    [ -e "$block" ] || block=/boot/grub/grubenv
    "$program" "$block" list
}
end=$((SECONDS + WAIT))
while :; do
    variables=$(list 2>&1)
    success='' counter=''
    while IFS='=' read -r name value; do
        case $name in
            boot_success) success=$value ;;
            boot_counter) counter=$value ;;
        esac
    done <<<"$variables"
    if [ "$success" = 1 ] && [ -z "$counter" ]; then break; fi
    [ "$SECONDS" -lt "$end" ] || break
    sleep 2
done
printf '%s\n' "$variables"
if [ "$success" != 1 ] || [ -n "$counter" ]; then
    journalctl -b --no-pager -o short-monotonic -n 20 -u 'greenboot*' -u 'redboot*' -u 'grub*' 2>&1
fi
[ -z "$counter" ] || failed "the boot loader still counts boots: boot_counter=$counter"
[ "$success" = 1 ] || failed "the boot is not marked as good: boot_success=${success:-unset}"
passed "the boot is marked as good, and the boot loader counts no more"
