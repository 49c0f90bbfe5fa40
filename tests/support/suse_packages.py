"""RPM packages of SUSE's shape, made here: SUSE's own need a subscription. The kernel is the lab's, the modules are the
lab's stand-ins for NVIDIA's, for another version of it with the same kABI, and names, dependencies, places and scriptlets are
those of SUSE's and NVIDIA's packages (suse-module-tools, kernel-source, the OBS preamble of the KMP)."""
import pathlib
import shutil
import subprocess

from gpulab import catalog, inputs, kmod
from labtool import rpm

DRIVER = "550.163.01"
KMP = "nvidia-open-driver-G06-signed-kmp-default"
FAMILY = "nvidia-open-driver-G06-signed-kmp"
# What is needed of the kernel's modules; a whole one would be packed for minutes.
KERNEL_PARTS = ("vmlinuz", "System.map", "config", "symvers.gz", "modules.builtin", "modules.builtin.modinfo", "modules.order",
                "kernel/drivers/gpu/drm/drm*", "kernel/drivers/virtio/*", "kernel/drivers/block/virtio_blk.ko", "kernel/fs/ext4/*",
                "kernel/fs/jbd2/*", "kernel/fs/mbcache.ko", "kernel/lib/*", "kernel/crypto/crc32c*", "kernel/arch/x86/crypto/crc32c*")

# As suse-module-tools has them; the real programs fail here, because no package database exists while scriptlets run.
WEAK_MODULES = "#!/bin/bash\necho 'weak-modules2 ran' >&2\nexit 1\n"
KERNEL_POST = """#!/bin/sh
op=${0##*-}
while [ $# -gt 1 ]; do
    case $1 in
    --kernelrelease) kernelrelease=$2 ;;
    --flavor) flavor=$2 ;;
    --image) image=$2 ;;
    *) break ;;
    esac
    shift 2
done
script_rc=0
if [ "$op" = post ]; then
    ln -sf "../usr/lib/modules/$kernelrelease-$flavor/$image" "/boot/$image-$kernelrelease-$flavor" || script_rc=$?
    /usr/lib/module-init-tools/weak-modules2 --add-kernel "$kernelrelease-$flavor" || script_rc=$?
    if [ -f /etc/fstab ] && [ ! -e /.buildenv ] && [ -x /usr/lib/bootloader/bootloader_entry ]; then
        /usr/lib/bootloader/bootloader_entry add "$flavor" "$kernelrelease-$flavor" "$image-$kernelrelease-$flavor" "" || script_rc=$?
    fi
fi
exit $script_rc
"""
KMP_POST = """#!/bin/sh
# inkmp-script of suse-module-tools: the name of the KMP is asked of the package database on a device.
/usr/lib/module-init-tools/weak-modules2 --add-kmp "$1" || exit 1
"""
BOOTLOADER = "#!/bin/sh\necho 'the boot loader was written' >&2\nexit 1\n"

SPEC = """Name: {name}
Version: {version}
Release: {release}
Summary: {name}, of SUSE's shape
License: MIT
{header}
%description
Made for a test.
{scriptlets}
%files
{files}
"""


class Maker:
    """Builds packages into `repository`."""

    def __init__(self, lab, work):
        self.lab, self.work = pathlib.Path(lab), work
        self.repository = work / "suse"
        self.repository.mkdir()

    def package(self, name, version, release="1", *, header=(), scriptlets="", files=None, tree=None):
        """One package; `files`: path → content or (content, mode)."""
        root = tree or self.work / f"root-{name}"
        root.mkdir(exist_ok=True)
        for path, content in (files or {}).items():
            content, mode = content if isinstance(content, tuple) else (content, 0o644)
            file = root / path.lstrip("/")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content if isinstance(content, bytes) else content.encode())
            file.chmod(mode)
        shared = [f"/{path.relative_to(root)}" for path in root.rglob("*") if path.is_dir() and len(path.relative_to(root).parts) < 4]
        spec = SPEC.format(name=name, version=version, release=release, header="\n".join(header), scriptlets=scriptlets,
                           files="\n".join(rpm.file_list(root, skip_dirs=shared)))
        rpm.build_spec(self.lab, spec, root, self.repository)

    def finish(self):
        rpm.sign(self.lab, self.repository.glob("*.rpm"))
        rpm.createrepo(self.lab, self.repository)


def module_symbols(modules):
    """The kernel's symbols that these modules need: name → checksum."""
    needed = {}
    for module in modules:
        listed = subprocess.run(["modprobe", "--dump-modversions", module], check=True, text=True, capture_output=True).stdout
        for line in listed.splitlines():
            checksum, symbol = line.split()
            needed[symbol] = f"{int(checksum, 16):08x}"
    return needed


def exported(symvers):
    """What a kernel exports: name → checksum."""
    found = {}
    for line in symvers.splitlines():
        checksum, symbol = line.split("\t")[:2]
        found[symbol] = f"{int(checksum, 16):08x}"
    return found


def add_kernel(maker, uname, evr, needed):
    """kernel-default with the lab's kernel `uname`; provides the symbols of `needed` as it has them."""
    root = maker.work / "root-kernel"
    root.mkdir()
    package = maker.lab / f"repos/baseos/kernel-core-{evr}.x86_64.rpm"
    with subprocess.Popen(["rpm2cpio", package], stdout=subprocess.PIPE) as archive:
        subprocess.run(["cpio", "-idm", "--quiet", *(f"./usr/lib/modules/{uname}/{part}" for part in KERNEL_PARTS)],
                       stdin=archive.stdout, cwd=root, check=True)
    symvers = subprocess.run(["zcat", root / f"usr/lib/modules/{uname}/symvers.gz"], check=True, text=True,
                             capture_output=True).stdout
    has = exported(symvers)
    release, flavour = uname.rsplit("-", 1)
    version, rest = release.split("-", 1)
    script = "/usr/lib/module-init-tools/kernel-scriptlets/rpm-post"
    maker.package("kernel-default", version, f"{rest}.1", tree=root, header=(
        f"Provides: kernel = {version}-{rest}.1", f"Provides: kernel-uname-r = {release}.{flavour}", "Provides: multiversion(kernel)",
        *(f"Provides: ksym(default:{symbol}) = {has[symbol]}" for symbol in sorted(needed) if symbol in has),
        "Requires(post): suse-kernel-rpm-scriptlets"),
        scriptlets=f"%post\n{script} --kernelrelease {release} --flavor {flavour} --image vmlinuz \"$@\"")


def add_kmp(maker, uname, build, needed):
    """The KMP: modules for an update of the kernel before `uname`, in its updates directory. The lab has no two kernels
    of one kABI, as SUSE's updates are: the version that the modules say is changed."""
    built_for = uname.replace("6.1.0-", "6.0.0-")
    modules = {}
    for module in catalog.KERNEL_MODULES:
        content = (build / f"{module}.ko").read_bytes()
        changed = content.replace(f"vermagic={uname} ".encode(), f"vermagic={built_for} ".encode())
        if built_for == uname or changed == content:
            raise RuntimeError(f"{module}.ko does not say that it is for {uname}")
        modules[f"/usr/lib/modules/{built_for}/updates/{module}.ko"] = changed
    short = built_for.rsplit("-", 1)[0].replace("-", "_")
    version = f"{DRIVER}_k{short}"
    maker.package(KMP, version, "150600.3.7", files=modules, header=(
        f"Provides: {FAMILY} = {version}", "Provides: multiversion(kernel)", "Provides: kmod(nvidia.ko)",
        f"Provides: {FAMILY.removesuffix('-kmp')} = {DRIVER}",
        *(f"Requires: ksym(default:{symbol}) = {checksum}" for symbol, checksum in sorted(needed.items())),
        f"Requires: kernel-firmware-nvidia-gspx-G06 = {DRIVER}", "Requires: perl-Bootloader",
        "Requires(post): suse-kernel-rpm-scriptlets",
        "Supplements: modalias(kernel-default:pci:v000010DEd000020B7sv*sd*bc03sc0[02]i00*)"),
        scriptlets=f"%post\n/usr/lib/module-init-tools/kernel-scriptlets/inkmp-post {KMP}-{version}-150600.3.7 \"$@\"")


def add_tools(maker):
    program = "#!/bin/sh\nexit 0\n", 0o755
    folder = "/usr/lib/module-init-tools"
    maker.package("suse-module-tools", "16.1.8", header=("BuildArch: noarch",), files={
        f"{folder}/weak-modules2": (WEAK_MODULES, 0o755), f"{folder}/kernel-scriptlets/rpm-post": (KERNEL_POST, 0o755),
        f"{folder}/kernel-scriptlets/inkmp-post": (KMP_POST, 0o755)})
    maker.package("suse-module-tools-scriptlets", "16.1.8", header=(
        "BuildArch: noarch", "Provides: suse-kernel-rpm-scriptlets", "Requires: suse-module-tools"), files={
            "/usr/share/suse-module-tools/README": "see suse-module-tools\n"})
    maker.package("perl-Bootloader", "1.8", header=("BuildArch: noarch",), files={
        "/usr/lib/bootloader/bootloader_entry": (BOOTLOADER, 0o755)})
    maker.package("transactional-update", "6.1.3", header=("BuildArch: noarch", "Requires: rsync", "Requires: podman"), files={
        "/usr/sbin/transactional-update": program, "/usr/etc/transactional-update.conf": "REBOOT_METHOD=auto\n"})
    maker.package("SL-Micro-release", "6.1", header=("BuildArch: noarch", "Provides: product() = SL-Micro"), files={
        "/etc/products.d/SL-Micro.prod": "<product><name>SL-Micro</name><version>6.1</version></product>\n"},
        scriptlets="%post\nln -sf SL-Micro.prod /etc/products.d/baseproduct")
    maker.package("vendor-opt", "1", header=("BuildArch: noarch",), files={"/opt/vendor/tool": program})


def add_user_space(maker):
    exact = f"Requires: nvidia-compute-G06 = {DRIVER}"
    maker.package("kernel-firmware-nvidia-gspx-G06", DRIVER, header=("BuildArch: noarch",), files={
        f"/usr/lib/firmware/nvidia/{DRIVER}/gsp_tu10x.bin": bytes(range(256)) * 4096})
    maker.package("nvidia-compute-G06", DRIVER, files={f"/usr/lib64/libcuda.so.{DRIVER}": b"\x7fELF stand-in"})
    maker.package("nvidia-compute-utils-G06", DRIVER, header=(exact,), files={"/usr/bin/nvidia-smi": ("#!/bin/sh\nexit 0\n", 0o755)})


def add_crio(maker):
    """CRI-O, crun and the container toolkit, with the files that the lab's have; SUSE's option for the driver, by which nodes
    belong to root:video."""
    sources = pathlib.Path(__file__).resolve().parents[1] / "lab/gpu/sources/cri-o"
    program = "#!/bin/sh\nexit 0\n", 0o755
    files = {f"/{path.relative_to(sources)}": (path.read_text(), 0o755 if path.parent.name == "bin" else 0o644)
             for path in sorted(sources.rglob("*")) if path.is_file()}
    maker.package("cri-o", "1.32.1", header=("Requires: crun",), files=files)
    maker.package("crun", "1.20", files={"/usr/bin/crun": program})
    maker.package("nvidia-container-toolkit", "1.17.8", files={
        "/usr/bin/nvidia-container-runtime": program, "/usr/bin/nvidia-ctk": program,
        "/etc/nvidia-container-runtime/config.toml": '[nvidia-container-runtime]\nruntimes = ["runc", "crun"]\n'})
    maker.package("nvidia-common-G06", DRIVER, header=("BuildArch: noarch",), files={
        "/usr/lib/modprobe.d/50-nvidia-default.conf":
            "options nvidia NVreg_DeviceFileUID=0 NVreg_DeviceFileGID=483 NVreg_DeviceFileMode=0660\n"})


def make_repository(lab, work):
    """A signed repository; returns its path and the kernel's uname."""
    maker = Maker(lab, work)
    kernel = inputs.read_oldest_kernel(lab, inputs.read_dist(lab))
    scratch = work / "modules"
    scratch.mkdir()
    build = kmod.compile_modules(kmod.kernel_build_tree(kernel, scratch), DRIVER, scratch)
    own = exported((build / "Module.symvers").read_text(encoding="utf-8"))
    needed = {symbol: checksum for symbol, checksum in
              module_symbols(build / f"{module}.ko" for module in catalog.KERNEL_MODULES).items() if symbol not in own}
    add_kernel(maker, kernel.uname, kernel.evr, needed)
    add_kmp(maker, kernel.uname, build, needed)
    add_tools(maker)
    add_user_space(maker)
    add_crio(maker)
    maker.finish()
    shutil.rmtree(scratch)
    return maker.repository, kernel.uname

