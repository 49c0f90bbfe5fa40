#!/bin/sh
# A health check of edgegpu's rehearsal, for greenboot: only commit @COMMIT@ is good.
link=$(tr ' ' '\n' </proc/cmdline | sed -n 's/^ostree=//p' | head -n 1)
case $(readlink -f "/sysroot$link") in
*/@COMMIT@.*) exit 0 ;;
esac
echo "edgegpu test: this commit is to be taken back"
exit 1
