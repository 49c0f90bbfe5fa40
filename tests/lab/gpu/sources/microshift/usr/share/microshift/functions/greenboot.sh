# Stand-in for MicroShift's greenboot functions, for edgegpu's lab. Meant to be sourced.

# Succeeds where the unit is enabled, so that a check can pass quietly where MicroShift is not used.
is_enabled() {
    [ "$(systemctl is-enabled "$1" 2>/dev/null)" = enabled ]
}
