"""Sources of Go modules from the module proxy (GOPROXY, if it is set), each of one version with one hash: what has another
hash is not used. Nothing of them is kept in this tree."""
import json
import os
import pathlib
import subprocess

ENVIRONMENT = {**os.environ, "GO111MODULE": "on", "GOWORK": "off", "GOTOOLCHAIN": "local", "GOFLAGS": "-modcacherw",
               "CGO_ENABLED": "0"}


class ModuleProblem(Exception):
    pass


def download(module, expected_hash, work):
    """The directory of the sources of "PATH@VERSION", whose hash is the one of go.sum; `work` is an empty directory."""
    try:
        done = subprocess.run(["go", "mod", "download", "-json", module], cwd=work, env=ENVIRONMENT, capture_output=True, text=True,
                              check=False)
    except FileNotFoundError as missing:
        raise ModuleProblem("no go in PATH") from missing
    try:
        found = json.loads(done.stdout)
    except ValueError:
        found = {}
    if done.returncode != 0 or "Dir" not in found:
        raise ModuleProblem(f"cannot download {module}: {found.get('Error') or done.stderr.strip()}")
    if found.get("Sum") != expected_hash:
        raise ModuleProblem(f"{module} has the hash {found.get('Sum')} instead of {expected_hash}: it is not used")
    return pathlib.Path(found["Dir"])


def build(module, source, work, program):
    """Compiles one file of Go against a downloaded module, with the versions of that module's go.mod and go.sum."""
    path, version = module.split("@")
    directory = pathlib.Path(work)
    (directory / "main.go").write_text(source, encoding="utf-8")
    (directory / "go.mod").write_text(f"module check\n\ngo 1.22\n\nrequire {path} {version}\n", encoding="utf-8")
    done = subprocess.run(["go", "build", "-mod=mod", "-o", program, "main.go"], cwd=directory, env=ENVIRONMENT, text=True,
                          capture_output=True, check=False)
    if done.returncode != 0:
        raise ModuleProblem(f"cannot compile against {module}: {done.stderr[-2000:]}")
    return program
