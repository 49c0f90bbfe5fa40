# shellcheck shell=bash
# How long the boot took: for information.
have systemd-analyze || skipped "the image has no systemd-analyze"
said=$(systemd-analyze time 2>&1) || skipped "the boot is not over: ${said%%$'\n'*}"
said=${said%%$'\n'*}
[[ $said == 'Startup finished in '* ]] || skipped "systemd-analyze says: ${said:-nothing}"
systemd-analyze blame --no-pager 2>/dev/null | head -n 5
passed "${said% }"
