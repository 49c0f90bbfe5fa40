# shellcheck shell=bash disable=SC2154 # common.bash sets it
# Are the deployments of COMMITS (one per line) on the machine, so that it can go back: each with an entry of the boot loader
# that leads to it?
ostree admin status 2>&1
read_entries
number=0
while read -r commit; do
    number=$((number + 1))
    found=
    while read -r -a words; do
        for word in "${words[@]}"; do
            if [[ $word == ostree=/* ]]; then
                for deployment in /sysroot/ostree/deploy/*/deploy/"$commit".*/; do
                    [ ! "$deployment" -ef "/sysroot${word#ostree=}" ] || found=yes
                done
            fi
        done
    done <<<"$default_entry"$'\n'"$other_entries"
    [ -n "$found" ] || failed "the deployment of commit ${commit:0:12} is gone"
done <<<"$COMMITS"
passed "the machine has $(counted "$number" deployment) to start"
