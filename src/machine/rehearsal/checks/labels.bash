# shellcheck shell=bash
# Does everything in /etc and /var have the label that the policy has for its path?
have restorecon || skipped "the image has no restorecon"
[ -e /sys/fs/selinux/enforce ] || skipped "SELinux is off in this kernel"
# What systemd itself makes at boot gets the label of its type transition, not that of the path, on
# every machine.
exceptions='/etc/\.pwd\.lock|/var/lib/systemd/random-seed'
# On a machine that was UPGRADED (yes or nothing), its users' programs have run: what they make in home directories has the label
# of the directory.
[ -z "$UPGRADED" ] || exceptions="$exceptions|/var/home/[^/]+/.+|/var/roothome/.+"
wrong=$(restorecon -nvR /etc /var 2>&1 | sed -n 's/^Would relabel //p' | grep -v -E "^($exceptions) from ")
[ -n "$wrong" ] || passed "the labels of /etc and /var are those of the policy"
number=$(wc -l <<<"$wrong")
head -n 20 <<<"$wrong"
[ "$number" -le 20 ] || echo "and $((number - 20)) more"
failed "labels that the policy does not have for the path: $number"
