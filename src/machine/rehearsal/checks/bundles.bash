# shellcheck shell=bash
# Are the bundles where MicroShift looks for them? ROOTS: directories whose kustomization.yaml it
# applies, as the commit has them.
number=0 bad=''

# judge ROOT NAME: what a kustomization.yaml lists
judge() {
    local name=$2
    name=${name%%[[:space:]]#*}
    name=${name%"${name##*[![:space:]]}"}
    name=${name#[\"\']}
    name=${name%[\"\']}
    case $name in '' | *://*) return ;; esac
    number=$((number + 1))
    if [ -d "$1/$name" ]; then
        [ -s "$1/$name/kustomization.yaml" ] || bad="$bad, $1/$name has no kustomization.yaml"
    elif [ ! -s "$1/$name" ]; then
        bad="$bad, $1/$name is missing"
    fi
}

while read -r root; do
    file=$root/kustomization.yaml
    if [ ! -s "$file" ] || [ ! -r "$file" ]; then
        bad="$bad, $file is missing"
        continue
    fi
    inside=''
    while IFS= read -r line || [ -n "$line" ]; do
        if [[ $line == resources:* ]]; then
            inside=yes
        elif [[ $line =~ ^[^[:space:]#-] ]]; then
            inside=''
        elif [ -n "$inside" ] && [[ $line =~ ^[[:space:]]*-[[:space:]]+(.*)$ ]]; then
            judge "$root" "${BASH_REMATCH[1]}"
        fi
    done <"$file"
done <<<"$ROOTS"
[ -z "$bad" ] || failed "${bad#, }"
passed "MicroShift finds $(counted "$number" bundle) in ${ROOTS//$'\n'/, }"
