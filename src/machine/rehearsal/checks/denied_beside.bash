# shellcheck shell=bash disable=SC2154 # common.bash and denied.bash set them
# What SELinux denied in the last AGO seconds, or with "" in this boot, for the report of a check that failed.
[ -r /sys/fs/selinux/enforce ] || failed "SELinux is off in this kernel"
read_denials "$AGO"
[ "${#kinds[@]}" != 0 ] || passed "SELinux denied nothing"
show_denials 10
passed "SELinux denied this"
