# shellcheck shell=bash
# Has the boot loader stopped counting, with the boot found good? Both are GRUB's variables.
list() {
    if have grub2-editenv; then
        grub2-editenv - list
    elif [ -e /boot/grub2/grubenv ]; then
        grub-editenv /boot/grub2/grubenv list
    else
        grub-editenv /boot/grub/grubenv list
    fi
}
end=$((SECONDS + WAIT))
while :; do
    variables=$(list 2>&1)
    success=$(sed -n 's/^boot_success=//p' <<<"$variables")
    counter=$(sed -n 's/^boot_counter=//p' <<<"$variables")
    if [ "$success" = 1 ] && [ -z "$counter" ]; then break; fi
    [ "$SECONDS" -lt "$end" ] || break
    sleep 2
done
printf '%s\n' "$variables"
[ -z "$counter" ] || failed "the boot loader still counts boots: boot_counter=$counter"
[ "$success" = 1 ] || failed "the boot is not marked as good: boot_success=${success:-unset}"
passed "the boot is marked as good, and the boot loader counts no more"
