# shellcheck shell=bash disable=SC2154 # common.bash sets it
# Does the kernel know the NUMA node of each display adapter that stands for a GPU? CELLS: the nodes, one per line, in the
# order of the buses. DEVICES: the kernel's directory of PCI devices. Those adapters are of PCI class 0380; the machine's own screen is of class 0300.
seen='' number=0
for device in "$DEVICES"/*; do
    [ -e "$device/class" ] || continue
    read_file "$device/class"
    [ "$answer" = 0x038000 ] || continue
    read_file "$device/numa_node"
    printf '%s: node %s\n' "${device##*/}" "$answer"
    seen+=${seen:+$'\n'}$answer
    number=$((number + 1))
done
[ "$number" != 0 ] || failed "there is no such adapter"
[ "$seen" = "$CELLS" ] || failed "the nodes are ${seen//$'\n'/, }, and not ${CELLS//$'\n'/, }"
passed "the kernel knows the node of $(counted "$number" card): ${CELLS//$'\n'/, }"
