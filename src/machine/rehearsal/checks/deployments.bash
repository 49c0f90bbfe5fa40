# shellcheck shell=bash
# Are the deployments of COMMITS (one per line) on the machine, so that it can go back?
status=$(ostree admin status 2>&1)
printf '%s\n' "$status"
while read -r commit; do
    grep -q -- " $commit\\." <<<"$status" || failed "the deployment of commit ${commit:0:12} is gone"
done <<<"$COMMITS"
passed "the machine has $(counted "$(wc -l <<<"$COMMITS")" deployment) to start"
