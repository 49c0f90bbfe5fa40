#!/bin/bash
# For dracut: edgegpu-boot-link.service, before the unit with which OSTree prepares the root.
# shellcheck disable=SC2154 # dracut sets the directories

check() {
    [[ -e ${dracutsysrootdir-}$systemdsystemunitdir/ostree-prepare-root.service ]] || return 1
}

depends() {
    echo ostree
}

install() {
    local wants=$systemdsystemconfdir/ostree-prepare-root.service.wants
    inst_multiple sh mount mkdir ln readlink
    inst_script "$moddir/boot-link" /usr/libexec/edgegpu-boot-link
    inst_simple "$moddir/edgegpu-boot-link.service" "$systemdsystemunitdir/edgegpu-boot-link.service"
    mkdir -p "$initdir$wants"
    ln_r "$systemdsystemunitdir/edgegpu-boot-link.service" "$wants/edgegpu-boot-link.service"
}
