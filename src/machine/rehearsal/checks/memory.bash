# shellcheck shell=bash disable=SC2154 # common.bash sets it
# Memory in use: for information.
read_file /proc/meminfo
[[ $answer =~ MemTotal:\ *([1-9][0-9]{0,15})\ kB ]] || failed "cannot be checked: /proc/meminfo has no MemTotal"
total=${BASH_REMATCH[1]}
[[ $answer =~ MemAvailable:\ *([0-9]{1,16})\ kB ]] || failed "cannot be checked: /proc/meminfo has no MemAvailable"
available=${BASH_REMATCH[1]}
passed "$(((total - available) / 1024)) MiB of $((total / 1024)) MiB memory in use"
