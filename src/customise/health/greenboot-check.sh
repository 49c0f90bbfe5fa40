#!/bin/bash
# Only status 1 of gpu-health says that the image is to blame: a crash of the program never takes an upgrade back.
/usr/libexec/edgegpu/gpu-health --greenboot
[ $? -ne 1 ]
