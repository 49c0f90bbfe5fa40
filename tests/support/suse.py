"""Made-up packages of SUSE's shape: kernels by flavour, kernel module packages (KMP) with NVIDIA's driver, and
its user space. Names, versions and dependencies are those of SUSE's and NVIDIA's repositories."""
import pathlib
import re
import subprocess

from universe import Package

TABLE = pathlib.Path(__file__).resolve().parents[2] / "src/gpu/gpu_table.inc"
SP6, SP7 = "150600", "150700"
FAMILIES = {"signed": "nvidia-open-driver-{}-signed-kmp", "cuda": "nvidia-open-driver-{}-signed-cuda-kmp",
            "closed": "nvidia-driver-{}-kmp", "open": "nvidia-open-driver-{}-kmp", "gfx": "nvidia-gfx{}-kmp",
            "opengfx": "nvidia-open-gfx{}-kmp"}
# Symbols that kernels export and modules need, with checksums; "new" is the kABI of another service pack.
SYMBOLS = {"old": {"printk": "92997ed8", "pci_enable_device": "1f2a9cd0"},
           "new": {"printk": "92997ed8", "pci_enable_device": "77777777"}}


def pattern(device, subclass="0[02]", vendor="10DE", subsystem="sv*sd*"):
    """As SUSE's macros write it from a list of supported PCI ids."""
    return f"pci:v0000{vendor}d0000{device.upper()}{subsystem}bc03sc{subclass}i00*"


def supported_by_open_modules():
    """The PCI ids that NVIDIA's open kernel modules support, from the table that edgegpu is built with."""
    rows = re.findall(r"\{0x([0-9a-f]{4}), \d+, \d+, GpuModules::(\w+),", TABLE.read_text(encoding="utf-8"))
    return [device for device, modules in rows if modules in ("open", "either")]


def module_aliases(rpm):
    """The aliases of nvidia.ko, from a package with the objects that it is linked from."""
    with subprocess.Popen(["rpm2cpio", rpm], stdout=subprocess.PIPE) as archive:
        data = subprocess.run(["cpio", "-i", "--to-stdout", "--quiet", "*/nvidia.o"], stdin=archive.stdout,
                              capture_output=True, check=True).stdout
    return [alias.decode() for alias in re.findall(rb"alias=(pci:[^\0]+)", data)]


def alias(device, subclass="02", subsystem="sv000010DEsd00001533"):
    """As the kernel has it for a card in a machine."""
    return f"pci:v000010DEd0000{device.upper()}{subsystem}bc03sc{subclass}i00"


def _symbols(flavour, kabi):
    return [(f"ksym({flavour}:{name})", "=", f"0:{checksum}") for name, checksum in SYMBOLS[kabi].items()]


def kernel(release=f"{SP6}.23.25.1", flavour="default", version="6.4.0", kabi="old"):
    name, evr, uname = f"kernel-{flavour}", f"0:{version}-{release}", release.rsplit(".", 1)[0]
    return [Package(name, version, release, provides=[
        ("kernel", "=", evr), ("kernel-uname-r", "=", f"0:{version}-{uname}-{flavour}"), ("multiversion(kernel)", "", ""),
        *(_symbols(flavour, kabi) if kabi else [])], recommends=[("kernel-firmware-all", "", "")]),
        Package(f"{name}-devel", version, release, requires=[("kernel-devel", "", "")])]


def kmp(devices=("20b7",), kind="signed", generation="G06", flavour="default", driver="550.90.07", built_for=f"{SP6}.21",
        version="6.4.0", kabi="old", supplements=None, firmware="gspx", requires=()):
    """A KMP and its firmware."""
    family = FAMILIES[kind].format(generation)
    full = f"{driver}_k{version}_{built_for.replace('-', '_')}"
    provided = [(family, "=", f"0:{full}"), ("multiversion(kernel)", "", ""), ("kmod(nvidia.ko)", "", ""),
                (family.removesuffix("-kmp"), "=", f"0:{driver}")]
    needs = [("perl-Bootloader", "", ""), *requires, *(_symbols(flavour, kabi) if kabi else [])]
    made = []
    if firmware:
        needs.append((f"kernel-firmware-nvidia-{firmware}-{generation}", "=", f"0:{driver}"))
        made.append(Package(f"kernel-firmware-nvidia-{firmware}-{generation}", driver, "1"))
    if supplements is None:
        supplements = [f"modalias(kernel-{flavour}:{pattern(device)})" for device in devices]
    made.append(Package(f"{family}-{flavour}", full, f"{SP6}.3.7", provides=provided, requires=needs,
                        supplements=[*supplements, f"(kernel-{flavour} and {family.removesuffix('-kmp')}-all)"]))
    return made


def user_space(driver="550.90.07", generation="G06"):
    exact = (f"nvidia-compute-{generation}", "=", f"0:{driver}")
    return [Package(f"nvidia-compute-{generation}", driver, "1"),
            Package(f"nvidia-compute-utils-{generation}", driver, "1", requires=[exact], recommends=[("nvidia-persistenced", "", "")]),
            Package(f"nvidia-gl-{generation}", driver, "1", requires=[exact]),
            Package(f"nvidia-video-{generation}", driver, "1", requires=[exact])]


def base():
    return [Package("perl-Bootloader", "1.8", "1"), Package("kernel-firmware-all", "20240728", "1", arch="noarch"),
            Package("kernel-devel", "6.4.0", "1", arch="noarch"),
            Package("nvidia-persistenced", "550.90.07", "1"), Package("glibc", "2.38", "1"),
            Package("podman", "5.2", "1", requires=[("glibc", "", "")], recommends=[("crun", "", "")]), Package("crun", "1.1", "1"),
            Package("patterns-base-base", "20241218", "1", provides=[("pattern()", "=", "0:base")],
                    requires=[("glibc", "", "")], recommends=[("podman", "", "")]),
            Package("lang", "1", "1"), Package("lang-de", "1", "1", supplements=["locale(lang:de)"]),
            Package("mouse-driver", "1", "1", supplements=["modalias(usb:v046DpC52B*)"]),
            Package("raid-driver-kmp-default", "1_k6.4.0_150600.21", "1",
                    supplements=["modalias(kernel-default:pci:v00001000d00000097sv*sd*bc*sc*i*)"])]
