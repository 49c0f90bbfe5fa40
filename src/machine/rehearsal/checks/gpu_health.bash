# shellcheck shell=bash disable=SC2154 # common.bash sets it
# What does gpu-health say about this boot? It writes its report at its end, for which WAIT seconds are left. Red has failed; an
# alarm, by which the image stays, is for the reader. The report is read as gpu-health writes it: a member a line.
report=/run/edgegpu/gpu-health.json

# plain TEXT: sets `answer` to the text of a JSON string
plain() {
    answer=${1//'\"'/'"'}
    answer=${answer//'\n'/ }
    answer=${answer//\\\\/\\}
}

end=$((SECONDS + WAIT))
while [ ! -e "$report" ] && [ "$SECONDS" -lt "$end" ]; do
    sleep 2
done
if [ ! -e "$report" ]; then
    explain "$UNIT" 50
    failed "gpu-health has not told anything within $WAIT s: there is no $report"
fi
read_file "$report"
text=$answer

format='' verdict='' red='' reason='' boot='' last='' section='' key='' value='' literal='' indent=0
step='' said='' blamed='' what='' action=''
lines=() findings=()
while IFS= read -r line; do
    last=$line
    case $line in
        '  "'*'": [') section=${line#'  "'} section=${section%'": ['} ;;
        '  ]' | '  ],') section='' ;;
        '    }' | '    },')
            [ "$section" != steps ] || lines+=("$step: ${said:-nothing to tell}")
            [ "$section" != findings ] || findings+=("$blamed: $what${action:+; what to do: $action}")
            step='' said='' blamed='' what='' action=''
            ;;
    esac
    [[ $line =~ ^(\ +)\"([a-z_]+)\":\ (.*)$ ]] || continue
    key=${BASH_REMATCH[2]} value=${BASH_REMATCH[3]%,} indent=${#BASH_REMATCH[1]}
    literal=$value
    if [[ $value == '"'*'"' ]]; then
        value=${value#'"'}
        plain "${value%'"'}"
        value=$answer
    fi
    case $indent-$section-$key in
        2--format) format=$value ;;
        2--verdict) verdict=$value ;;
        2--red) red=$literal ;;
        2--reason) reason=$value ;;
        2--boot_id) boot=$value ;;
        6-steps-step) step=$value ;;
        6-steps-text) said=$value ;;
        6-steps-error) said=${said:-$value} ;;
        6-findings-verdict) blamed=$value ;;
        6-findings-text) what=$value ;;
        6-findings-action) action=$value ;;
        6-findings-note) [ "$literal" != true ] || blamed=note ;;
    esac
done <<<"$text"

known=' healthy image hardware machine unclear '
if [ "$format" != edgegpu-gpu-health/1 ] || [ "$last" != '}' ] || [[ $known != *" $verdict "* ]] || [ -z "$verdict" ] || [ -z "$reason" ] ||
    { [ "$red" != true ] && [ "$red" != false ]; }; then
    printf '%s\n' "$text"
    failed "cannot be checked: $report is not what gpu-health writes"
fi
if [ -n "$boot" ]; then
    read_file /proc/sys/kernel/random/boot_id
    [ "$boot" = "$answer" ] || failed "gpu-health has told nothing in this boot: $report is of another one"
fi
for line in "${lines[@]}"; do note "$line"; done
for line in "${findings[@]}"; do note "$line"; done
if [ "$red" = true ]; then
    explain "$UNIT" 50
    failed "gpu-health: red ($verdict): $reason"
fi
[ "$verdict" != healthy ] || passed "gpu-health: healthy: $reason"
passed "gpu-health: alarm ($verdict), and the image stays: $reason"
