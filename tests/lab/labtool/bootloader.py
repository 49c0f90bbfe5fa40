"""GRUB and shim under RHEL's names: what is kept of Debian's packages and where it lies."""

import pathlib
import shutil

from labtool import debs

# The directory on the EFI system partition. Debian's signed GRUB looks for its configuration in /EFI/debian, wherever
# it was started from.
VENDOR = "debian"

# RHEL's programs of these packages that a device or a builder of images has a use for; the rest makes rescue disks, boots
# Macs or needs FUSE and FreeType.
TOOLS = {
    "bin": ("grub-editenv", "grub-file", "grub-mkimage", "grub-mkpasswd-pbkdf2", "grub-mkrelpath", "grub-script-check"),
    "sbin": ("grub-install", "grub-mkconfig", "grub-probe", "grub-reboot", "grub-set-default"),
}

# What grub-mkconfig adds to a menu made by ostree: nothing. It runs at each deployment, and Debian's scripts look for
# kernels and operating systems that such a device does not have; its settings are in /boot/grub2/grub.cfg.
OSTREE_SCRIPT = "etc/grub.d/15_ostree"
OSTREE_PROGRAM = "usr/libexec/libostree/grub2-15_ostree"


def _take(lab, paths, package, tree, files):
    """Copies `files` (path in the .deb → path in the tree) and the licence out of a Debian package."""
    tree = pathlib.Path(tree)
    part = tree.with_name(f"{tree.name}-{package}")
    debs.unpack(lab, paths[package], part)
    for source, target in files.items():
        (tree / target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(part / source, tree / target)
    copyright_ = part / f"usr/share/doc/{package}/copyright"
    if copyright_.is_file():
        licence = tree / f"usr/share/licenses/{package}/copyright"
        licence.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(copyright_, licence)
    shutil.rmtree(part)


def grub_efi(lab, paths, tree):
    """grub2-efi-x64: GRUB with Debian's signature, for the EFI system partition."""
    _take(lab, paths, "grub-efi-amd64-signed", tree,
          {"usr/lib/grub/x86_64-efi-signed/grubx64.efi.signed": f"boot/efi/EFI/{VENDOR}/grubx64.efi"})


def shim(lab, paths, tree):
    """shim-x64: shim with Microsoft's signature, its helpers with Debian's; what fallback makes a boot entry of."""
    vendor, removable = f"boot/efi/EFI/{VENDOR}", "boot/efi/EFI/BOOT"
    signed = "usr/lib/shim/shimx64.efi.signed"
    for target in (f"{vendor}/shimx64.efi", f"{removable}/BOOTX64.EFI"):
        _take(lab, paths, "shim-signed", tree, {signed: target})
    _take(lab, paths, "shim-helpers-amd64-signed", tree,
          {"usr/lib/shim/mmx64.efi.signed": f"{vendor}/mmx64.efi", "usr/lib/shim/fbx64.efi.signed": f"{removable}/fbx64.efi"})
    # File, label, arguments, description: UTF-16, with a byte order mark.
    entry = "shimx64.efi,edgegpu lab,,This is the boot entry for edgegpu lab\n"
    (pathlib.Path(tree) / vendor / "BOOTX64.CSV").write_bytes(b"\xff\xfe" + entry.encode("utf-16-le"))


def ostree_grub2(lab, paths, tree):
    """ostree-grub2: the script by which grub-mkconfig lists ostree's deployments."""
    _take(lab, paths, "ostree-boot", tree, {OSTREE_PROGRAM: OSTREE_PROGRAM})
    script = pathlib.Path(tree) / OSTREE_SCRIPT
    script.parent.mkdir(parents=True)
    script.symlink_to(f"/{OSTREE_PROGRAM}")


def drop_ostree_grub2(tree):
    """ostree-boot without what is in ostree-grub2."""
    tree = pathlib.Path(tree)
    for path in (OSTREE_SCRIPT, OSTREE_PROGRAM):
        (tree / path).unlink()
    shutil.rmtree(tree / "etc/grub.d")


def adapt_tools(tree):
    """grub2-tools: the programs that are kept, under both names, and no script in /etc/grub.d."""
    tree = pathlib.Path(tree)
    for folder, kept in TOOLS.items():
        for program in (tree / "usr" / folder).iterdir():
            if program.name in kept:
                program.with_name(program.name.replace("grub-", "grub2-", 1)).symlink_to(program.name)
            else:
                program.unlink()
    for folder in ("etc/grub.d", "etc/default/grub.d", "usr/share/grub/default", "usr/share/bash-completion", "var"):
        shutil.rmtree(tree / folder, ignore_errors=True)
    (tree / "etc/grub.d").mkdir()
    for file in [*tree.glob("usr/share/grub/*.pf2"), *tree.glob("usr/share/grub/*.h")]:
        file.unlink()


def adapt_pc_modules(tree):
    """grub2-pc-modules: grub-bios-setup in the path, where RHEL has it, too."""
    tree = pathlib.Path(tree)
    sbin = tree / "usr/sbin"
    sbin.mkdir(parents=True)
    (tree / "usr/lib/grub/i386-pc/grub-bios-setup").rename(sbin / "grub-bios-setup")
    (sbin / "grub2-bios-setup").symlink_to("grub-bios-setup")
    (tree / "usr/lib/grub/i386-pc/grub-ntldr-img").unlink()
