# shellcheck shell=bash
# Every check begins with this, after its parameters (upper-case variables). A check prints what helps
# to find the cause, and ends with one of the three verdicts; their text is one plain line.
export LC_ALL=C PAGER=cat SYSTEMD_PAGER='' SYSTEMD_COLORS=0
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
set -u

# note TEXT: a plain line for the report, whatever the verdict
note() { printf '\nedgegpu-note %s\n' "${1//$'\n'/ }"; }

verdict() { # passed|failed|skipped TEXT
    printf '\nedgegpu-verdict %s %s\n' "$1" "${2//$'\n'/ }"
    exit 0
}
passed() { verdict passed "$1"; }
failed() { verdict failed "$1"; }
skipped() { verdict skipped "$1"; }

# counted NUMBER NOUN: "1 unit", "2 units"
counted() {
    if [ "$1" = 1 ]; then printf '%s %s' "$1" "$2"; else printf '%s %ss' "$1" "$2"; fi
}

have() { command -v "$1" >/dev/null 2>&1; }

# property UNIT NAME: a property of a unit, as systemd has it
property() { systemctl show -p "$2" "$1" | sed 's/^[^=]*=//'; }

# explain UNIT: state and journal of a unit in this boot
explain() {
    systemctl status --no-pager --full --lines=0 "$1" 2>&1 | head -n 12
    journalctl -b --no-pager -o short-monotonic -n "${2:-20}" -u "$1" 2>&1
}
