# shellcheck shell=bash
# Does everything in /etc and /var have the label that the policy has for its path?
[ -r /sys/fs/selinux/enforce ] || failed "SELinux is off in this kernel: nothing has a label that counts"
# A file with a wrong label, which has to be found: a program that finds it looks at labels.
probe=/var/lib/edgegpu-test/wrongly-labelled
{ mkdir -p "${probe%/*}" && : >"$probe" && chcon --reference=/usr/bin/bash "$probe"; } 2>&1 ||
    failed "cannot be checked: no file with a wrong label can be made"
# What vanishes while it looks may end it.
for ((tries = 0; tries < 3; tries++)); do
    said=$(restorecon -nvR /etc /var 2>&1)
    status=$?
    [ "$status" != 0 ] || break
done
rm -f "$probe"
# What systemd itself makes at boot gets the label of its type transition, not that of the path, on
# every machine.
exceptions='/etc/\.pwd\.lock|/var/lib/systemd/random-seed'
# On a machine on which USERS have worked (yes or nothing), what their programs make in home directories has the label
# of the directory.
[ -z "$USERS" ] || exceptions="$exceptions|/var/home/[^/]+/.+|/var/roothome/.+"
number=0 found='' other=''
while IFS= read -r line; do
    if [[ $line == "Would relabel $probe from "* ]]; then
        found=yes
    elif [[ $line =~ ^Would\ relabel\ ($exceptions)\ from\  ]]; then
        :
    elif [[ $line == 'Would relabel '* ]]; then
        number=$((number + 1))
        [ "$number" -gt 20 ] || printf '%s\n' "${line#Would relabel }"
    elif [ -n "$line" ]; then
        other="$other$line; "
    fi
done <<<"$said"
[ "$number" -le 20 ] || echo "and $((number - 20)) more"
[ "$number" = 0 ] || failed "labels that the policy does not have for the path: $number"
[ -n "$found" ] || failed "cannot be checked: restorecon (status $status) does not find the wrong label of $probe: ${other:-it prints nothing}"
[ "$status" = 0 ] || failed "cannot be checked: restorecon ended with status $status: $other"
passed "the labels of /etc and /var are those of the policy"
