# shellcheck shell=bash
# Memory in use: for information.
amount() { sed -n "s/^$1: *\([0-9]*\) kB/\1/p" /proc/meminfo; }
total=$(amount MemTotal) available=$(amount MemAvailable)
passed "$(((total - available) / 1024)) MiB of $((total / 1024)) MiB memory in use"
