"""A machine with a GPU for tests of gpu-health: as recorded facts, and as directories; and the program that judges it."""
import copy
import json
import os
import pathlib
import re
import shutil
import subprocess

import jsonschema

import lab_image as lab

PROGRAM = lab.EDGEGPU.parent / "gpu-health"
SCHEMA = jsonschema.Draft7Validator(json.loads((lab.SOURCE / "docs/schemas/gpu-health.json").read_text()))
DRIVER = "580.159.04"
ADDRESS = "0000:65:00.0"
STEPS = ("presence", "binding", "module", "version", "firmware", "kernel-log", "nodes", "library", "nvml", "cdi")
FIRMWARE = [f"/usr/lib/firmware/nvidia/{DRIVER}/gsp_{chip}.bin" for chip in ("ga10x", "tu10x")]
LIBRARIES = [f"/usr/lib64/{name}.so.{DRIVER}" for name in ("libnvidia-ml", "libcuda")]


def healthy():
    """What --record gives of a machine on which nothing is wrong."""
    return {
        "format": 1, "commit": "a" * 64, "boot_id": "1", "kernel": "6.1.0",
        "stack": {"driver": DRIVER, "flavor": "open", "kernel": "6.1.0", "firmware": FIRMWARE, "libraries": LIBRARIES,
                  "modules": [{"name": "nvidia", "path": "/usr/lib/modules/6.1.0/extra/nvidia.ko", "version": DRIVER}],
                  "packages": []},
        "functions": [{"address": ADDRESS, "id": "10de:2335", "device_class": "0x030200", "driver": "nvidia",
                       "link_width": 16, "max_link_width": 16, "max_link_generation": 5}],
        "module": {"path": "/usr/lib/modules/6.1.0/extra/nvidia.ko", "exists": True, "vermagic": "6.1.0 SMP mod_unload ",
                   "kernel_vermagic": "6.1.0 SMP mod_unload ", "version": DRIVER, "flavor": "open"},
        "driver": {"loaded": True, "version": DRIVER, "companions": ["nvidia_modeset", "nvidia_uvm"],
                   "nvrm": f"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  {DRIVER}  Release Build"},
        "proc_gpus": [{"address": ADDRESS, "model": "NVIDIA H200", "minor": 0, "firmware": DRIVER}],
        "firmware": [{"path": path, "exists": True, "size": 63 << 20} for path in FIRMWARE],
        "nodes": [{"path": f"/dev/{name}", "exists": True, "is_character_device": True, "major": major, "minor": minor,
                   "expected_major": major, "expected_minor": minor, "mode": 0o666, "open_error": ""}
                  for name, major, minor in (("nvidia0", 195, 0), ("nvidiactl", 195, 255), ("nvidia-uvm", 511, 0))],
        "libraries": [{"name": pathlib.Path(path).name.replace(DRIVER, "1"), "path": path, "version": DRIVER} for path in LIBRARIES],
        "nvml": {"end": "ended", "driver_version": DRIVER, "library_version": f"13.{DRIVER}",
                 "gpus": [{"address": "00000000:65:00.0", "name": "NVIDIA H200", "uuid": "GPU-0", "memory": 150 << 30,
                           "recovery_action": 0, "uncorrected_volatile": 0, "remap_pending": False, "remap_failed": False}]},
        "runs": {step: {"milliseconds": 1} for step in STEPS},
    }


def changed(**members):
    """A healthy machine but for these members; dictionaries are merged."""
    facts = healthy()
    for name, value in members.items():
        if isinstance(value, dict):
            facts[name] = {**facts.get(name, {}), **value}
        else:
            facts[name] = value
    return copy.deepcopy(facts)


def said(*lines):
    return [{"microseconds": 1000 * number, "text": line} for number, line in enumerate(lines)]


def dead():
    """A card that fell off the bus: it is in sysfs, and no longer answers."""
    function = {**healthy()["functions"][0], "silent": True}
    return changed(functions=[function], kernel_log=said(
        f"NVRM: Xid (PCI:{ADDRESS[:-2]}): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
        f"NVRM: GPU {ADDRESS}: GPU has fallen off the bus."),
        nvml={"code": 15, "function": "nvmlDeviceGetHandleByIndex_v2", "gpus": []})


def nouveau():
    """The image lets nouveau take the card."""
    function = {**healthy()["functions"][0], "driver": "nouveau"}
    return changed(functions=[function], driver={"loaded": False, "version": "", "nvrm": "", "rivals": ["nouveau"], "companions": []},
                   proc_gpus=[], nvml={"end": "not_run", "driver_version": "", "library_version": "", "gpus": []}, nodes=[])


def unclear():
    """The driver cannot start the GPU's own processor: the card, or the image."""
    return changed(kernel_log=said("NVRM: GPU0 kgspInitRm_IMPL: cannot bootstrap riscv/gsp: 0x62",
                                   "NVRM: Cannot initialize GSP firmware RM",
                                   f"NVRM: GPU {ADDRESS}: RmInitAdapter failed! (0x62:0x40:2167)"),
                   nvml={"code": 999, "function": "nvmlDeviceGetHandleByIndex_v2", "gpus": []})


class Bench:
    """A machine's directories for state and reports, and checks."""

    def __init__(self, checks, name):
        self.checks = checks
        self.work = lab.work_directory(name)
        self.state, self.run_directory, self.textfile = self.work / "state", self.work / "run", self.work / "textfile"
        self.settings = self.work / "settings.json"
        self.set()

    def set(self, **members):
        self.settings.write_text(json.dumps({"textfile": str(self.textfile), **members}))

    def forget(self):
        for path in (self.state, self.run_directory, self.textfile):
            shutil.rmtree(path, ignore_errors=True)

    def write(self, facts):
        path = self.work / "facts.json"
        path.write_text(facts if isinstance(facts, str) else json.dumps(facts))
        return path

    def command(self, *arguments, program=PROGRAM):
        return [program, "--state", self.state, "--run", self.run_directory, "--settings", self.settings,
                "--tables", self.work / "tables", *arguments]

    def judge(self, name, facts, status, *arguments):
        """Judges facts, and checks what belongs to each verdict: the status, the report, the greeting, the metrics."""
        done = run(*self.command("--facts", self.write(facts), *arguments))
        if not self.checks.equal(f"{name}: status", done.returncode, status):
            print(done.stdout, done.stderr, sep="\n")
        self.check_reports(name)
        return done

    def report(self):
        return json.loads((self.run_directory / "edgegpu/gpu-health.json").read_text())

    def check_reports(self, name):
        report = self.report()
        self.checks.equal(f"{name}: the report satisfies docs/schemas/gpu-health.json",
                          [error.message for error in SCHEMA.iter_errors(report)], [])
        greeting = self.run_directory / "motd.d/edgegpu-gpu-health"
        self.checks.equal(f"{name}: people are greeted with it", greeting.exists(), report["verdict"] != "healthy")
        wrong = metric_faults((self.textfile / "edgegpu_gpu_health.prom").read_text())
        self.checks.equal(f"{name}: the metrics", wrong, [])


def run(*command, **options):
    options.setdefault("timeout", 120)
    return subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                          errors="replace", env={"PATH": os.environ["PATH"]}, **options)


NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\"n])*"'
SAMPLE = re.compile(rf"({NAME})(\{{{LABEL}(?:,{LABEL})*\}})? (-?[0-9.]+)")


def metric_faults(text):
    """What `promtool check metrics` would say of a text in Prometheus' format."""
    wrong, described, seen, last = [], {}, set(), None
    if not text.endswith("\n"):
        wrong.append("no newline at the end")
    for line in text.splitlines():
        comment = re.fullmatch(rf"# (HELP|TYPE) ({NAME}) (.+)", line)
        if comment:
            if (comment[1], comment[2]) in described:
                wrong.append(f"twice: {line}")
            described[comment[1], comment[2]] = comment[3]
            last = comment[2]
            continue
        sample = SAMPLE.fullmatch(line)
        if not sample or sample[1] != last or described.get(("TYPE", last)) != "gauge" or ("HELP", last) not in described:
            wrong.append(line)
        elif (sample[1], sample[2]) in seen:
            wrong.append(f"twice: {line}")
        else:
            seen.add((sample[1], sample[2]))
    for kind, name in described:
        if not any(sample == name for sample, _ in seen):
            wrong.append(f"{kind} of {name} without a sample")
    return wrong
