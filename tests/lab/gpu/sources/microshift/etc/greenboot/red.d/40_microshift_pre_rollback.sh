#!/bin/bash
# Stand-in for MicroShift's pre-rollback script, for edgegpu's lab.
echo "MicroShift pre-rollback (stand-in)"
