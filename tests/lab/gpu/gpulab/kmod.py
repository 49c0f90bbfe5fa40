"""Compiles the stand-in kernel modules and packages them unlinked, as NVIDIA's precompiled packages are."""

import os
import pathlib
import shutil
import subprocess
import tempfile

from . import catalog, stage

# Must be what the spec's %post runs: the detached signatures fit only a byte-identical link.
LD_FLAGS = "-r -m elf_x86_64 -z noexecstack --build-id=sha1"

KEY_SUBJECT = "/CN=edgegpu lab kernel modules"


def make_signing_key(lab):
    """The key and the certificate that sign the lab's modules; made once a lab."""
    folder = lab / "module-signing"
    key, certificate = folder / "signing_key.pem", folder / "signing_key.x509"
    if not (key.exists() and certificate.exists()):
        folder.mkdir(mode=0o700, exist_ok=True)
        subprocess.run(
            ["openssl", "req", "-new", "-x509", "-newkey", "rsa:2048", "-nodes", "-sha256", "-days", "36500", "-batch",
             "-subj", KEY_SUBJECT, "-keyout", key, "-outform", "DER", "-out", certificate],
            check=True, stderr=subprocess.DEVNULL)
    return key, certificate


def kernel_build_tree(kernel, work):
    """The flavour's headers as links in `work`/kernel, with references that point at where the headers really lie."""
    tree = work / "kernel"
    tree.mkdir()
    for entry in sorted(kernel.headers.iterdir()):
        if entry.name in ("scripts", "tools"):
            os.symlink(entry.resolve(), tree / entry.name)
        elif entry.name != "Makefile":
            os.symlink(entry, tree / entry.name)
    (tree / "Makefile").write_text(f"include {kernel.common}/Makefile\n", encoding="utf-8")
    return tree


def compile_modules(tree, version, work, source="kmod", modules=tuple(catalog.KERNEL_MODULES)):
    """Compiles modules; returns the directory with NAME.ko, NAME.o and NAME.mod.o, stripped of debug information."""
    build = work / version
    shutil.copytree(stage.SOURCES / source, build)
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "LANG", "MAKE"))}
    environment.update(LC_ALL="C", KBUILD_BUILD_TIMESTAMP="@1700000000")
    done = subprocess.run(
        ["make", "-s", "-C", tree, f"M={build}", f"DRIVER_VERSION={version}", "KCFLAGS=-g0", "modules"],
        env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"compiling the kernel modules of {version}: exit status {done.returncode}\n{done.stdout[-3000:]}")
    for module in modules:
        for suffix in (".o", ".mod.o", ".ko"):
            subprocess.run(["strip", "--strip-debug", build / (module + suffix)], check=True)
    return build


def sign_module(kernel, build, module, script, keys):
    """The bytes that %post appends to MODULE.ko: a PKCS#7 signature of what it links, and the kernel's trailer."""
    linked, signed = build / "linked.ko", build / "signed.ko"
    subprocess.run(["ld", *LD_FLAGS.split(), "-T", script, "-o", linked, build / f"{module}.o", build / f"{module}.mod.o"],
                   check=True)
    subprocess.run(["strip", "--strip-debug", linked], check=True)
    sign_file = (kernel.headers / "scripts").resolve() / "sign-file"
    subprocess.run([sign_file, "sha256", *keys, linked, signed], check=True)
    return signed.read_bytes()[linked.stat().st_size:]


def kmod_package(lab, kernel, version, root):
    """Compiles and stages the precompiled package of one driver version; returns the spec."""
    keys = make_signing_key(lab)
    objects = pathlib.PurePosixPath(f"/usr/lib64/nvidia/x86_64/{version}/{kernel.uname}")
    modules = f"/lib/modules/{kernel.uname}/extra/drivers/video/nvidia"
    script = kernel.headers / "arch/x86/module.lds"
    if not script.exists():
        script = kernel.headers / "scripts/module.lds"
    root.mkdir(parents=True)
    with tempfile.TemporaryDirectory(prefix="kmod-", dir=root.parent) as scratch:
        work = pathlib.Path(scratch)
        build = compile_modules(kernel_build_tree(kernel, work), version, work)
        for module in catalog.KERNEL_MODULES:
            target = root / str(objects)[1:]
            for suffix in (".o", ".mod.o"):
                stage.write_file(target / (module + suffix), (build / (module + suffix)).read_bytes(), root)
            stage.write_file(target / f"{module}.sig", sign_module(kernel, build, module, script, keys), root)
    stage.write_file(root / f"usr/share/nvidia-{kernel.uname}/module.lds", script.read_bytes(), root)
    stage.write_file(root / f"usr/share/nvidia-{kernel.uname}/signing_key.x509", keys[1].read_bytes(), root)
    return stage.read_spec("kmod-nvidia", {
        "VERSION": version,
        "KVER": kernel.name_part,
        "UNAME": kernel.uname,
        "KERNEL_EVR": kernel.evr,
        "MODULES": " ".join(catalog.KERNEL_MODULES),
        "OBJECT_DIR": objects,
        "MODULE_DIR": "/usr" + modules,
        "LD_FLAGS": LD_FLAGS,
        "GHOSTS": "\n".join(f"%ghost /usr{modules}/{m}.ko" for m in catalog.KERNEL_MODULES),
    })


def lab_gpu_package(kernel, root):
    """Compiles and stages the module that adds a PCI function like a GPU; returns the spec."""
    root.mkdir(parents=True)
    stage.expand_sources("lab-gpu", root, {})
    with tempfile.TemporaryDirectory(prefix="kmod-", dir=root.parent) as scratch:
        work = pathlib.Path(scratch)
        build = compile_modules(kernel_build_tree(kernel, work), "1.0", work, "lab-gpu-module", ("lab-gpu",))
        target = root / f"usr/lib/modules/{kernel.uname}/extra/lab-gpu/lab-gpu.ko"
        stage.write_file(target, (build / "lab-gpu.ko").read_bytes(), root)
    return stage.read_spec("lab-gpu", {"UNAME": kernel.uname, "KERNEL_EVR": kernel.evr})
