"""Four greenboots that differ in what a red check leads to: specs and build roots. Which does what was read in the sources of
github.com/fedora-iot/greenboot and github.com/fedora-iot/greenboot-rs; tests/integration/greenboot_test compares."""

from . import stage

# The version in repository `microshift`: what blueprints get that name none. The others are in repository `health`.
DEFAULT = "0.15.8"
RUST = "0.16.4"

SCRIPTS = "/usr/lib/greenboot /etc/greenboot"
REMOUNT = "PrivateMounts=yes"

# What the bash versions differ in.
BASH = {
    "0.14.0": {
        # A required check failed: are the others of its directory left out, and all other directories?
        "SKIPS_DIRECTORY": "", "SKIPS_DIRECTORIES": "yes",
        "READS_DISABLED": "", "DISABLED": "",
        # Where green.d and red.d are looked for.
        "SCRIPTS": "/etc/greenboot",
        # GRUB's variables where /boot is mounted read-only.
        "REMOUNTS": "", "PRIVATE_MOUNTS": "", "COUNTER_REQUIRES": "",
        "SET_SUCCESS": "ExecStart=/usr/bin/grub2-editenv - set boot_success=1\nExecStart=/usr/bin/grub2-editenv - unset boot_counter",
        "SUCCESS_INSTALL": "RequiredBy", "COUNTER_BLOCK": "",
        # "": rpm-ostree; "only": bootc where there is one, even if it does not manage this system; "first": then rpm-ostree.
        "ASKS_BOOTC": "",
    },
    "0.15.6": {
        "SKIPS_DIRECTORY": "", "SKIPS_DIRECTORIES": "",
        "READS_DISABLED": "yes", "DISABLED": "DISABLED_HEALTHCHECKS=()",
        "SCRIPTS": SCRIPTS,
        "REMOUNTS": "yes", "PRIVATE_MOUNTS": REMOUNT, "COUNTER_REQUIRES": "RequiresMountsFor=/boot",
        "SET_SUCCESS": "ExecStart=/usr/libexec/greenboot/greenboot-grub2-set-success",
        # A file that GRUB does not read: after a good update the counter stays.
        "SUCCESS_INSTALL": "WantedBy", "COUNTER_BLOCK": "/boot/grubenv",
        "ASKS_BOOTC": "only",
    },
    "0.15.8": {
        "SKIPS_DIRECTORY": "yes", "SKIPS_DIRECTORIES": "yes",
        "READS_DISABLED": "yes", "DISABLED": "DISABLED_HEALTHCHECKS=()",
        "SCRIPTS": SCRIPTS,
        "REMOUNTS": "yes", "PRIVATE_MOUNTS": REMOUNT, "COUNTER_REQUIRES": "RequiresMountsFor=/boot",
        "SET_SUCCESS": "ExecStart=/usr/libexec/greenboot/greenboot-grub2-set-success",
        "SUCCESS_INSTALL": "WantedBy", "COUNTER_BLOCK": "/boot/grub2/grubenv",
        "ASKS_BOOTC": "first",
    },
}

VERSIONS = (*BASH, RUST)


def fill(version, root):
    """Fills `root` with one version; returns the values of its spec."""
    if version == RUST:
        stage.expand_sources("greenboot-rs", root, {})
        return {}
    values = dict(BASH[version], VERSION=version, RELEASE="2" if version == DEFAULT else "1")
    stage.expand_sources("greenboot", root, values)
    if not values["COUNTER_BLOCK"]:
        (root / "usr/libexec/greenboot/greenboot-grub2-set-success").unlink()
    return values


def greenboot_package(version, root):
    """Fills `root` for one version; returns the spec."""
    return stage.read_spec("greenboot-rs" if version == RUST else "greenboot", fill(version, root))
