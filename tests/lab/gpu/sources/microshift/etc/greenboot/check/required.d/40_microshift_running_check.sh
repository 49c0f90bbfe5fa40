#!/bin/bash
# Stand-in for MicroShift's health check, for edgegpu's lab.
set -eu -o pipefail
# shellcheck source=/dev/null
source /usr/share/microshift/functions/greenboot.sh

if ! is_enabled microshift.service; then
    echo "MicroShift service is not enabled. Exiting..."
    exit 0
fi
for _ in $(seq 60); do
    if microshift healthcheck 2>/dev/null; then
        exit 0
    fi
    sleep 1
done
microshift healthcheck
