# shellcheck shell=bash
# Are the bundles where MicroShift looks for them? ROOTS: directories whose kustomization.yaml it
# applies, as the commit has them.
number=0 bad=''
while read -r root; do
    file=$root/kustomization.yaml
    if [ ! -s "$file" ]; then
        bad="$bad, $file is missing"
        continue
    fi
    names=$(sed -n '/^resources:/,/^[^- #]/s/^[[:space:]]*- *//p' "$file")
    while read -r name; do
        name=${name%%[[:space:]]#*}
        name=${name#[\"\']}
        name=${name%[\"\']}
        case $name in '' | *://*) continue ;; esac
        number=$((number + 1))
        if [ -d "$root/$name" ]; then
            [ -s "$root/$name/kustomization.yaml" ] || bad="$bad, $root/$name has no kustomization.yaml"
        elif [ ! -s "$root/$name" ]; then
            bad="$bad, $root/$name is missing"
        fi
    done <<<"$names"
done <<<"$ROOTS"
[ -z "$bad" ] || failed "${bad#, }"
passed "MicroShift finds $(counted "$number" bundle) in ${ROOTS//$'\n'/, }"
