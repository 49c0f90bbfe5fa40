# shellcheck shell=bash
# Every check begins with this, after its parameters (upper-case variables). A check prints what helps
# to find the cause, and ends with a verdict; its text is one plain line.
#
# A check that cannot ask has failed: what decides is read by bash itself, from files of the kernel and
# of the image, or said by a program whose answer has a form that silence, an error and noise do not
# have. What programs are for beside that (sort, head, …) may be missing.
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
# Only for checks that are for information: what there is to check is read from the commit.
skipped() { verdict skipped "$1"; }

# counted NUMBER NOUN: "1 unit", "2 units"
counted() {
    if [ "$1" = 1 ]; then printf '%s %s' "$1" "$2"; else printf '%s %ss' "$1" "$2"; fi
}

have() { command -v "$1" >/dev/null 2>&1; }

# Of the functions that set `answer`: not to be called in a subshell, where they could not end the check.

# ask PROGRAM ARGUMENT…: sets `answer` to what a program prints, which must not be nothing
ask() {
    local status
    answer=$("$@")
    status=$?
    if [ "$status" != 0 ] || [ -z "$answer" ]; then
        failed "cannot be checked: '$*' ended with status $status and printed ${answer:-nothing}"
    fi
}

# read_file FILE: sets `answer` to the text of a file, without the bytes that are 0
read_file() {
    [ -r "$1" ] || failed "cannot be checked: $1 cannot be read"
    answer=''
    { answer=$(<"$1"); } 2>/dev/null
}

# property UNIT NAME: sets `answer` to a property of a unit, as systemd has it; "" is the manager
property() {
    # Without --all, some versions print nothing for an empty one.
    ask systemctl show --all -p "$2" ${1:+-- "$1"}
    [[ $answer == "$2="* && $answer != *$'\n'* ]] || failed "cannot be checked: systemctl does not tell $2 of ${1:-systemd}: $answer"
    answer=${answer#*=}
}

# state UNIT: sets `answer` to "active", "inactive", …
state() {
    property "$1" ActiveState
    case $answer in
        active | reloading | inactive | failed | activating | deactivating | maintenance | refreshing) ;;
        *) failed "cannot be checked: systemctl says that $1 is '$answer'" ;;
    esac
}

# lacks_gpu UNIT: whether it is a daemon of NVIDIA's that gives up where there is no GPU, and the machine has none. One that cannot be
# started, lacks a library (127) or is killed is at fault there, too. Leaves `answer` as it is.
lacks_gpu() {
    local file vendor start before=${answer-}
    case $1 in
        nvidia-persistenced.service | nvidia-fabricmanager.service | nvidia-gridd.service | nvidia-topologyd.service) ;;
        *) return 1 ;;
    esac
    for file in /sys/bus/pci/devices/*/vendor; do
        [ -e "$file" ] || continue
        { vendor=$(<"$file"); } 2>/dev/null || return 1
        [ "$vendor" != 0x10de ] || return 1
    done
    property "$1" ExecStart
    start=$answer answer=$before
    [[ $start == *' ; code=exited ; status=1 }'* ]]
}

# read_until_now FUNCTION ARGUMENT…: has the function set `messages` to the journal's, until they have what is written to the
# kernel's log now: a journal that stopped tells nothing
read_until_now() {
    local mark="edgegpu-test reads the journal: $RANDOM$RANDOM$RANDOM" marked='' tries
    if [ "$(</proc/sys/kernel/printk_devkmsg)" = off ]; then
        marked=unknown
    else
        { echo "<6>$mark" >/dev/kmsg; } 2>/dev/null || failed "cannot be checked: nothing can be written to the kernel's log"
    fi
    for ((tries = 0; tries < 10; tries++)); do
        "$@"
        [ -n "$messages" ] || failed "cannot be checked: the journal of this boot has nothing of the kernel"
        [[ $messages != *"$mark"* ]] || marked=yes
        [ -z "$marked" ] || return 0
        sleep 1 || break
    done
    failed "cannot be checked: the journal does not have what was just written to the kernel's log"
}

# explain UNIT: state and journal of a unit in this boot
explain() {
    systemctl status --no-pager --full --lines=12 "$1" 2>&1
    journalctl -b --no-pager -o short-monotonic -n "${2:-20}" -u "$1" 2>&1
}

# read_entries: sets `default_entry` and `other_entries` to the kernel's arguments in the boot loader's entries of ostree: the
# default is the one with the highest version
read_entries() {
    local file key value version options newest=-1
    default_entry='' other_entries=''
    for file in /boot/loader/entries/ostree-*.conf; do
        [ -r "$file" ] || continue
        version=0 options=''
        while read -r key value || [ -n "$key" ]; do
            case $key in
                version) version=$value ;;
                options) options=$value ;;
            esac
        done <"$file"
        [[ $version =~ ^[0-9]{1,9}$ ]] || continue
        if [ "$version" -gt "$newest" ]; then
            [ -z "$default_entry" ] || other_entries+=$default_entry$'\n'
            newest=$version default_entry=$options
        else
            other_entries+=$options$'\n'
        fi
    done
    [[ " $default_entry " == *' ostree='* ]] || failed "cannot be checked: the boot loader has no entry of ostree that can be read"
}
