# shellcheck shell=bash disable=SC2154 # common.bash sets it
# For checks that look at denials of SELinux. Without auditd the kernel's log has them, with it auditd's own file; the journal has
# them in both cases, if systemd listens to the audit socket.

declare -A seen_denials number_of text_of
kinds=() messages='' first_message=''

# field NAME DENIAL: sets `value` to a field of a denial. What the kernel writes of paths and names it quotes, and it comes before
# the contexts: the last ones are the contexts.
field() {
    value='?'
    [[ ! $2 =~ ^.*[[:space:]]$1=([^[:space:]]+) ]] || value=${BASH_REMATCH[1]}
}

# type_in FIELD DENIAL: sets `value` to the type of a context
type_in() {
    field "$1" "$2"
    if [[ $value =~ ^[^:]*:[^:]*:([^:]+) ]]; then value=${BASH_REMATCH[1]}; else value='?'; fi
}

# add_denial LINE: counts it, by its kind: "SOURCE TARGET CLASS PERMISSION,…", where what cannot be read is "?", which nothing
# allows. What is in two logs is counted once, as is what happened twice with the same process and inode.
add_denial() {
    local text="avc: ${1#*avc: }" kind permissions='?' value
    text=${text%"${text##*[![:space:]]}"}
    [ -z "${seen_denials[$text]:-}" ] || return 0
    seen_denials[$text]=yes
    if [[ $text =~ \{([^{}]*)\} ]]; then
        read -r -a permissions <<<"${BASH_REMATCH[1]}"
        printf -v permissions '%s,' "${permissions[@]:-?}"
        permissions=${permissions%,}
    fi
    type_in scontext "$text"
    kind=$value
    type_in tcontext "$text"
    kind="$kind $value"
    field tclass "$text"
    kind="$kind $value $permissions"
    if [ -z "${text_of[$kind]:-}" ]; then
        text_of[$kind]=$text number_of[$kind]=0
        kinds+=("$kind")
    fi
    number_of[$kind]=$((${number_of[$kind]} + 1))
}

# read_denials AGO: counts those of the last AGO seconds, or with "" of this boot; sets `messages` to the messages of the journal
# in which they were looked for
read_denials() {
    local file line since now
    local -a selection=(-b) lines
    read_file /proc/stat
    [[ $answer =~ (^|[[:space:]])btime\ ([0-9]+) ]] || failed "cannot be checked: /proc/stat does not tell when the machine started"
    since=$((BASH_REMATCH[2] - 1))
    if [ -n "$1" ]; then
        printf -v now '%(%s)T' -1
        since=$((now - $1)) selection+=("--since=-$1s")
    fi
    messages=$(journalctl --no-pager -q -o cat "${selection[@]}" _TRANSPORT=kernel _TRANSPORT=audit _TRANSPORT=driver) ||
        failed "cannot be checked: journalctl ended with status $?"
    mapfile -t lines <<<"$messages"
    for line in "${lines[@]}"; do
        [[ ! $line =~ avc:\ +denied ]] || add_denial "$line"
    done
    # Rotated ones as well.
    for file in /var/log/audit/audit.log*; do
        [ -e "$file" ] || continue
        [ -r "$file" ] || failed "cannot be checked: $file cannot be read"
        while IFS= read -r line || [ -n "$line" ]; do
            if ! [[ $line =~ audit\(([0-9]{1,12})\. ]] || [ "${BASH_REMATCH[1]}" -lt "$since" ]; then continue; fi
            first_message=${first_message:-$line}
            [[ ! $line =~ avc:\ +denied ]] || add_denial "$line"
        done <"$file"
    done
}

# show_denials MOST: one line for each of the first kinds
show_denials() {
    local kind shown=0 times
    for kind in ${kinds[@]+"${kinds[@]}"}; do
        shown=$((shown + 1))
        [ "$shown" -le "$1" ] || break
        times=${number_of[$kind]}
        printf '%s%s\n' "${text_of[$kind]}" "$([ "$times" = 1 ] || echo " ($times times)")"
    done
    [ "${#kinds[@]}" -le "$1" ] || echo "and $((${#kinds[@]} - $1)) more kinds"
}
