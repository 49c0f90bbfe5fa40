"""Content of single packages that needs a program, and the repository's extra metadata."""

import os
import pathlib
import shutil
import tempfile
from xml.sax.saxutils import escape

from labtool import base, bootloader, content, convert, debs, kernel, rpm, selinux


def _rename_unit(tree, old, new):
    """Gives a unit RHEL's name and keeps Debian's as its alias."""
    units = pathlib.Path(tree) / "usr/lib/systemd/system"
    text = (units / old).read_text().replace(f"Alias={new}", f"Alias={old}")
    (units / old).unlink()
    (units / new).write_text(text)


def adapt(name, tree):
    """Changes to converted trees that a file laid over them cannot express."""
    tree = pathlib.Path(tree)
    if name == "openssh-server":
        _rename_unit(tree, "ssh.service", "sshd.service")
        shutil.copyfile(tree / "usr/share/openssh/sshd_config", tree / "etc/ssh/sshd_config")
    elif name == "chrony":
        _rename_unit(tree, "chrony.service", "chronyd.service")
        for file in ("chrony.conf", "chrony.keys"):
            shutil.copyfile(tree / "usr/share/chrony" / file, tree / "etc/chrony" / file)
    elif name == "ca-certificates":
        content.ca_trust(tree)
    elif name == "systemd":
        # The lab's presets stand alone; Debian's enables other things.
        (tree / "usr/lib/systemd/system-preset/90-systemd.preset").unlink(missing_ok=True)
        (tree / "var/log/journal").mkdir(parents=True, exist_ok=True)
        accounts = tree / "usr/lib/sysusers.d/basic.conf"
        lines = accounts.read_text().splitlines(keepends=True)
        accounts.write_text("".join(line for line in lines if "_apt" not in line))
    elif name == "grub2-tools":
        bootloader.adapt_tools(tree)
    elif name == "grub2-pc-modules":
        bootloader.adapt_pc_modules(tree)
    elif name == "ostree-boot":
        bootloader.drop_ostree_grub2(tree)
    elif name == "selinux-policy-devel":
        selinux.drop_container_interfaces(tree)
    elif name == "policycoreutils":
        # The autorelabel helper would look for Debian's grub on each boot.
        for unit in (tree / "usr/lib/systemd/system").rglob("selinux-autorelabel*"):
            unit.unlink()


def alternatives(lab, dpkg, tree):
    """`alternatives`: the update-alternatives program out of Debian's dpkg."""
    with tempfile.TemporaryDirectory(dir=lab) as part:
        debs.unpack(lab, dpkg, part)
        binary = pathlib.Path(tree) / "usr/libexec/alternatives"
        binary.parent.mkdir(parents=True)
        shutil.copyfile(pathlib.Path(part) / "usr/bin/update-alternatives", binary)
        binary.chmod(0o755)
    sbin = pathlib.Path(tree) / "usr/sbin"
    sbin.mkdir(parents=True)
    wrapper = sbin / "alternatives"
    wrapper.write_text("#!/bin/sh\n# State lives where RHEL's program keeps it.\n"
                       "exec /usr/libexec/alternatives --admindir /var/lib/alternatives "
                       "--log /dev/null --quiet \"$@\"\n")
    wrapper.chmod(0o755)
    (sbin / "update-alternatives").symlink_to("alternatives")


def netbase(lab, deb, tree):
    """services, protocols and their like for `setup`."""
    debs.unpack(lab, deb, tree)
    shutil.rmtree(pathlib.Path(tree) / "usr", ignore_errors=True)


def policy_specs(controls, version, tree, config_tree):
    """(name, spec text, tree) of selinux-policy and selinux-policy-targeted."""
    fields = controls["selinux-policy-default"]
    epoch, upstream, release = version
    evr = f"{epoch}:{upstream}-{release}{convert.DIST}"
    origin = f"Made from Debian's selinux-policy-default {fields['Version']} for edgegpu's lab."
    common = convert.spec(
        "selinux-policy", version, "SELinux policy configuration", origin,
        ["Requires: basesystem", "Requires: policycoreutils"],
        rpm.file_list(config_tree, {"/etc/selinux/config": "%config(noreplace)"}, base.OWNED),
        "", True)
    convert.fix_modes(tree)
    given = {}
    target = pathlib.Path(tree) / "etc/selinux/targeted"
    for path in sorted(target.rglob("*")):
        if path.is_file():
            given["/" + str(path.relative_to(tree))] = "%config(noreplace)"
    os.chmod(pathlib.Path(tree) / "var/lib/selinux/targeted", 0o755)
    targeted = convert.spec(
        "selinux-policy-targeted", version, "SELinux targeted policy", origin,
        [f"Requires: selinux-policy = {evr}", "Requires(pre): policycoreutils",
         "Requires: libselinux-utils", "Provides: selinux-policy-any = " + evr,
         "Provides: selinux-policy-base = " + evr],
        rpm.file_list(tree, given, base.OWNED), "", True)
    return [("selinux-policy", common, config_tree), ("selinux-policy-targeted", targeted, tree)]


def _advisory(kind, ident, title, severity, packages):
    lines = [f'<update from="lab@example.invalid" status="final" type="{kind}" version="1">',
             f"<id>{ident}</id><title>{escape(title)}</title>",
             '<issued date="2023-11-14 00:00:00"/><updated date="2023-11-14 00:00:00"/>',
             f"<severity>{severity}</severity><rights>lab</rights><release>edgegpu lab 12</release>",
             f"<summary>{escape(title)}</summary><description>{escape(title)}</description>",
             '<references><reference href="https://example.invalid/CVE-2023-0001" '
             'id="CVE-2023-0001" type="cve" title="CVE-2023-0001"/></references>'
             if kind == "security" else "<references/>",
             '<pkglist><collection short="lab-12"><name>lab 12</name>']
    for name, epoch, version, release, arch in packages:
        lines.append(f'<package name="{name}" epoch="{epoch}" version="{version}" '
                     f'release="{release}" arch="{arch}"><filename>'
                     f"{name}-{version}-{release}.{arch}.rpm</filename></package>")
    return "\n".join(lines + ["</collection></pkglist></update>"])


def updateinfo(kernels, controls):
    """updateinfo.xml: a security advisory for the newest kernel, a bug fix for openssh, and a security
    advisory for the bash that every image has."""
    version, release = kernel.evr(kernels[1])
    names = ("kernel", "kernel-core", "kernel-modules", "kernel-devel")
    fixed = [(n, "0", version, release + convert.DIST, "x86_64") for n in names]
    epoch, ssh_version, ssh_release = convert.split_version(controls["openssh-server"]["Version"])
    bash_epoch, bash_version, bash_release = convert.split_version(controls["bash"]["Version"])
    bash = [("bash", bash_epoch, bash_version, bash_release + convert.DIST, "x86_64")]
    ssh = [(n, epoch, ssh_version, ssh_release + convert.DIST, "x86_64")
           for n in ("openssh-server", "openssh-clients")]
    return "\n".join([
        '<?xml version="1.0" encoding="UTF-8"?>', "<updates>",
        _advisory("security", "LABSA-2023:0001", "Important: kernel security update", "Important",
                  fixed),
        _advisory("bugfix", "LABBA-2023:0002", "openssh bug fix update", "None", ssh),
        _advisory("security", "LABSA-2023:0003", "Moderate: bash security update", "Moderate", bash),
        "</updates>", ""])
