"""Build root and spec of MicroShift's stand-in, with its compiled policy module."""

import bz2
import pathlib
import subprocess
import tempfile

from . import stage


def compile_policy(source, contexts):
    """The bytes of a policy package (.pp) made of a .te and a .fc file."""
    with tempfile.TemporaryDirectory(prefix="policy-") as scratch:
        module = pathlib.Path(scratch, f"{source.stem}.mod")
        package = module.with_suffix(".pp")
        for command in (["checkmodule", "-M", "-m", "-o", module, source],
                        ["semodule_package", "-o", package, "-m", module, "-f", contexts]):
            subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        return package.read_bytes()


def microshift_package(root):
    """Fills `root` for all of MicroShift's packages; returns the spec."""
    stage.expand_sources("microshift", root, {})
    policy = stage.SOURCES / "microshift-selinux"
    compiled = compile_policy(policy / "microshift.te", policy / "microshift.fc")
    stage.write_file(root / "usr/share/selinux/packages/targeted/microshift.pp.bz2", bz2.compress(compiled), root)
    return stage.read_spec("microshift", {})
