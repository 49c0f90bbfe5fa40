"""Split Debian's kernel packages the way RHEL does."""

import gzip
import pathlib
import re
import shutil
import subprocess

from labtool import convert, rpm

# Drivers that a small machine boots without; they go into kernel-modules.
EXTRA = ("kernel/sound", "kernel/drivers/staging", "kernel/drivers/media", "kernel/drivers/isdn",
         "kernel/drivers/net/wireless", "kernel/drivers/infiniband", "kernel/drivers/iio",
         "kernel/drivers/bluetooth", "kernel/net/bluetooth", "kernel/net/mac80211",
         "kernel/net/wireless", "kernel/drivers/input/touchscreen", "kernel/drivers/comedi")


def evr(uname):
    """6.1.0-47-amd64 as RPM's version and release (without %dist)."""
    version, number = re.fullmatch(r"([\d.]+)-(\d+)-amd64", uname).groups()
    return version, number


def trees(uname, image, headers, work):
    """Makes the trees of kernel-core, kernel-modules and kernel-devel from unpacked .debs.

    `image` (the linux-image) is used up; `headers` (linux-headers, common and kbuild in one
    tree) is copied. Returns {rpm name: tree}.
    """
    image, headers, work = pathlib.Path(image), pathlib.Path(headers), pathlib.Path(work)
    core, modules, devel = (work / f"{n}-{uname}" for n in ("core", "modules", "devel"))
    for tree in (core, modules, devel):
        shutil.rmtree(tree, ignore_errors=True)
        tree.mkdir(parents=True)
    folder = f"usr/lib/modules/{uname}"
    (core / "usr/lib/modules").mkdir(parents=True)
    shutil.move(image / "lib/modules" / uname, core / folder)
    for origin, goal in (("vmlinuz", "vmlinuz"), ("System.map", "System.map"), ("config", "config")):
        shutil.move(image / "boot" / f"{origin}-{uname}", core / folder / goal)
    (core / folder / "vmlinuz").chmod(0o755)
    listed = (headers / f"usr/src/linux-headers-{uname}/Module.symvers").read_bytes()
    (core / folder / "symvers.gz").write_bytes(gzip.compress(listed, mtime=0))
    licence = core / "usr/share/licenses/kernel-core/copyright"
    licence.parent.mkdir(parents=True)
    shutil.copyfile(image / f"usr/share/doc/linux-image-{uname}/copyright", licence)
    for extra in EXTRA:
        if (core / folder / extra).is_dir():
            goal = modules / folder / extra
            goal.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(core / folder / extra, goal)
    _devel(uname, headers, devel)
    return {"kernel-core": core, "kernel-modules": modules, "kernel-devel": devel}


def _devel(uname, headers, devel):
    """/usr/src/kernels/K: usable with make -C, as `/lib/modules/K/build` points to it."""
    common = re.sub(r"-amd64$", "-common", uname)
    source = devel / "usr/src/kernels" / uname
    source.parent.mkdir(parents=True)
    for origin, goal in ((uname, source), (common, source / "common")):
        subprocess.run(["cp", "-a", headers / f"usr/src/linux-headers-{origin}", goal], check=True)
    makefile = source / "Makefile"
    makefile.write_text(makefile.read_text().replace(
        f"/usr/src/linux-headers-{common}", f"/usr/src/kernels/{uname}/common"))
    for path in sorted(source.rglob("*")):
        if path.is_symlink():
            goal = path.readlink()
            if "linux-kbuild" in str(goal):
                path.unlink()
                path.symlink_to("/usr/lib/linux-kbuild-" + str(goal).split("linux-kbuild-", 1)[1])
    link = devel / "usr/lib/modules" / uname
    link.mkdir(parents=True)
    (link / "build").symlink_to(f"/usr/src/kernels/{uname}")
    (link / "source").symlink_to(f"/usr/src/kernels/{uname}/common")


def symbols(symvers, exporters):
    """Provides of the kernel's exported symbols with their checksums, as RHEL's kernel-core has them.

    `symvers` is a Module.symvers (checksum, symbol, exporter, ... between tabs), `exporters` the
    beginnings of the exporters that count.
    """
    found = []
    for line in pathlib.Path(symvers).read_text(encoding="ascii").splitlines():
        checksum, symbol, exporter = line.split("\t")[:3]
        if exporter.startswith(tuple(exporters)):
            found.append(f"Provides: kernel({symbol}) = {checksum}")
    return sorted(found)


def specs(uname, deb_version, made, exported=()):
    """The spec texts of the kernel's packages as (name, tree, text); a meta package has no tree.

    `exported`: what symbols() found. RPM's generators are off: they have nothing for modules, and
    kernel-devel's scripts are not to be requirements.
    """
    version, release = evr(uname)
    # RPM allows one dash in a version, Debian's release strings have two.
    provided = f"{version}-{release}.amd64"
    vr = f"{version}-{release}{convert.DIST}"
    origin = f"Converted from Debian's linux-image-{uname} {deb_version} for edgegpu's lab."
    ghosts = [f"%ghost /usr/lib/modules/{uname}/modules.{n}" for n in
              ("alias", "alias.bin", "builtin.alias.bin", "builtin.bin", "dep", "dep.bin",
               "devname", "softdep", "symbols", "symbols.bin")]
    skip = {"/usr", "/usr/lib", "/usr/lib/modules", "/usr/src", "/usr/src/kernels", "/usr/share", "/usr/share/licenses"}
    parts = {
        "kernel-core": (
            "The Linux kernel",
            # Kernel modules ask for `kernel = V-R`, which the core offers: the meta package is optional.
            ["Provides: installonlypkg(kernel)", f"Provides: kernel = {vr}",
             f"Provides: kernel-x86_64 = {vr}", f"Provides: kernel-uname-r = {provided}",
             f"Provides: kernel-core-uname-r = {provided}", f"Provides: kernel-modules-core = {vr}",
             f"Provides: kernel-modules-core-uname-r = {provided}", "Requires: basesystem",
             "Requires(posttrans): kmod", f"Recommends: kernel-modules = {vr}", *exported],
            f"%posttrans\ndepmod -a {uname}\n", ghosts),
        "kernel-modules": (
            "Kernel modules beyond the core",
            ["Provides: installonlypkg(kernel-module)", f"Provides: kernel-modules-uname-r = {provided}",
             f"Provides: kernel-modules-x86_64 = {vr}", f"Requires: kernel-uname-r = {provided}",
             f"Requires: kernel-modules-core-uname-r = {provided}", f"Provides: kernel-modules-extra = {vr}",
             f"Provides: kernel-modules-extra-uname-r = {provided}", "Requires(posttrans): kmod"],
            f"%posttrans\ndepmod -a {uname}\n", []),
        "kernel-devel": (
            "What building kernel modules needs",
            ["Provides: installonlypkg(kernel)", f"Provides: kernel-devel-x86_64 = {vr}",
             f"Provides: kernel-devel-uname-r = {provided}",
             "Requires: kernel-kbuild", "Requires: make", "Requires: gcc", "Requires: basesystem"],
            "", []),
    }
    result = []
    for name, (summary, header, scripts, extra) in parts.items():
        files = rpm.file_list(made[name], {}, skip) + extra
        text = convert.spec(name, ("0", version, release), summary, origin, header, files, scripts,
                            automatic=False)
        result.append((name, made[name], text))
    header = ["Provides: installonlypkg(kernel)", f"Requires: kernel-core-uname-r = {provided}",
              f"Requires: kernel-modules-core-uname-r = {provided}",
              f"Requires: kernel-modules-uname-r = {provided}"]
    text = convert.spec("kernel", ("0", version, release), "The Linux kernel (meta package)",
                        origin, header, [])
    result.append(("kernel", None, text))
    header = ["Provides: installonlypkg(kernel)", f"Requires: kernel-core = {vr}",
              f"Requires: kernel-devel = {vr}"]
    text = convert.spec("kernel-devel-matched", ("0", version, release),
                        "Ties kernel-devel to the kernel (meta package)", origin, header, [])
    result.append(("kernel-devel-matched", None, text))
    return result
