#!/usr/bin/python3
"""Builds edgegpu and runs its tests; scripts/test calls it. Everything that the tests need is installed already."""
import argparse
import collections
import concurrent.futures
import itertools
import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

from support.process_guard import kill_descendants, run_guarded

ROOT = pathlib.Path(__file__).resolve().parents[1]
IN_NAMESPACE = ROOT / "tests/support/user_namespace.py"
SUITES = ("quick", "style", "tidy", "unit", "integration", "hostile", "e2e", "turn", "rehearsals")
DEFAULT = ("style", "tidy", "unit", "integration", "e2e")
GTESTS = ("unit", "integration")
# Processes of each beside each other; integration's build images, which use all processors by themselves.
SHARDS = {"unit": os.cpu_count() or 1, "integration": 1}
# Those of machines, which boot the release build.
MACHINES = ("e2e", "turn", "rehearsals")
SCRIPTS = {"integration", "hostile", *MACHINES}
# Those of tests/e2e that take many boots: a suite of their own, which is not in the default; "turn" is one of them a day.
REHEARSALS = ("rollback_test", "install_test", "encryption_test", "gpu_health_test", "rollout_boot_test",
              "layer_test", "vm_test", "vgpu_guest_test")
# Scripts that take a minute or more: the default runs one of each row a day, so that in as many days as a row is long each
# has run. The rows are ordered so that the days take about as long. clang-tidy reads one of TIDY_PARTS a day.
BY_TURNS = (("upgrade_test", "tutorial_test", "gpu_access_test", "podman_test", "powercut_test", "boot_link_test"),
            ("image_options_test", "kill_test", "oci_image_test", "ordinary_user_test", "dkms_test", "shared_cache_test",
             "cache_truth_test", "cache_sequences_test"),
            ("first_change_test", "builds_test", "hostile_packages_test", "installer_test"),
            ("image_test", "machine_test", "podman_build_test", "container_images_test"),
            ("accounts_test", "customizations_test", "gpu_health_image_test", "layered_bundles_test", "package_driver_test"),
            ("cache_owner_test", "checks_test", "embedded_images_test", "determinism_test"),
            ("rpm_database_test", "policy_test", "repository_test", "log_test", "offline_test",
             "parent_test"),
            ("publish_test", "channels_test", "delta_test", "promote_test", "upload_test", "upload_takeover_test",
             "pull_loop_test"),
            ("fsck_test", "kernel_arguments_test", "prune_test", "update_test", "rollout_test", "rollout_device_test"),
            ("fetch_only_test", "dnf_oracle_test", "vendor_packages_test", "commit_content_test",
             "suse_build_test", "suse_boot_test"))
TIDY_PARTS = tuple(f"{part}/6" for part in range(1, 7))
# Of those scripts that take longest. They go first: what is left for the end is short, and all lanes end together.
LONGEST = ("dkms_test", "oci_image_test", "cache_sequences_test", "cache_truth_test", "shared_cache_test", "kill_test",
           "image_options_test", "ordinary_user_test", "hostile_packages_test", "image_test", "builds_test", "first_change_test",
           "upgrade_test", "gpu_access_test", "install_test")
# Of tests/integration, what takes seconds and needs no lab: scripts of suite "quick".
QUICK = ("help_test", "source_rules_test")
# What scripts run: the program, what is installed beside it, those that images carry, the stand-ins for rpm-ostree, rpmdb
# and NVIDIA's libraries, programs of tests/programs, and a machine to control.
PROGRAMS = ("edgegpu", "made", "gpu-health", "gpu-probe", "stand_in_rpm_ostree", "stand_in_rpmdb", "stand_in_nvml",
            "stand_in_nvml_old", "stand_in_cuda", "gpu_workload", "write_deployment", "ext4_extract", "ext4_list",
            "machine_driver")
# No test takes as long, even with sanitizers and others beside it, but for machines where the processor is emulated.
LIMIT_S = 30 * 60
MACHINE_LIMIT_S = 90 * 60
SKIPPED = 77
# What a first run of the default has on the disk, builds and the lab included (15 GB were seen), and some more. ostree leaves so
# much of the file system free besides, also in tests.
SPACE_BYTES = 20 << 30
LEFT_FREE_PERCENT = 3


def parse():
    parser = argparse.ArgumentParser(
        prog="scripts/test", formatter_class=argparse.RawDescriptionHelpFormatter,
        description="""Sets everything up and runs the tests. The default is all but quick and hostile, which are parts of others, turn and rehearsals;
of scripts that take a minute or more it runs one of three to eight each day, and says which it leaves out;
of clang-tidy a sixth.

  quick        after a small change: style, unit and the quickest scripts with a build of its own (preset quick, build-quick/),
               which neither optimises nor has sanitizers
  style        clang-format, shellcheck, scripts/check-sources; needs nothing compiled
  tidy         clang-tidy on all translation units; beside the others, when they leave the processor idle
  unit         GoogleTests of one source file each
  integration  stages together on real RPMs, repositories and programs: GoogleTests and scripts
  hostile      one script of integration alone: packages that attack the builder
  e2e          the whole way, with boots in QEMU; beside integration
  turn         the rehearsal whose turn it is on this day: for what runs each night
  rehearsals   those of e2e that take many boots: a bad upgrade that is taken back, installation media, encrypted disks;
               half an hour and more where QEMU has to emulate the processor

GoogleTests are compiled and run with ASan and UBSan (preset asan, build-asan/), scripts run build/edgegpu.""",
        epilog="""Ends with "N passed, N failed, N skipped"; the exit status is 0 only if none failed. With CI set, a
test that is skipped has failed. Logs are in build/test-results.""")
    parser.add_argument("--preset", default="release", choices=("release", "asan"),
                        help="the build whose program the scripts run")
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=", ".join(SUITES))
    options = parser.parse_args()
    for suite in options.suites:
        if suite not in SUITES:
            parser.error(f"no suite '{suite}'; there are {', '.join(SUITES)}")
    options.by_turns = not options.suites
    options.suites = set(options.suites or DEFAULT)
    if "quick" in options.suites and (len(options.suites) > 1 or options.preset != "release"):
        parser.error("quick has a build of its own: name it alone")
    if "rehearsals" in options.suites:
        options.suites.discard("turn")
    for suite in options.suites & set(MACHINES):
        if options.preset != "release":
            parser.error(f"{suite} takes the release build: name other suites with --preset asan")
    return options


def build_directory(preset):
    return ROOT / ("build" if preset == "release" else f"build-{preset}")


class Results:
    """Counts, and prints a block of lines at a time: several lanes have results."""

    def __init__(self, directory):
        self.directory = directory
        self.directory.mkdir(parents=True, exist_ok=True)
        self.skip_is_failure = bool(os.environ.get("CI"))
        self._counts = {"passed": 0, "failed": 0, "skipped": 0}
        self._lock = threading.Lock()

    def say(self, text):
        with self._lock:
            print(text, flush=True)

    def add(self, text, passed=0, failed=0, skipped=0):
        if self.skip_is_failure and skipped:
            failed, skipped = failed + skipped, 0
        with self._lock:
            for name, count in (("passed", passed), ("failed", failed), ("skipped", skipped)):
                self._counts[name] += count
            print(text, flush=True)

    def finish(self):
        print(", ".join(f"{count} {name}" for name, count in self._counts.items()), flush=True)
        return 1 if self._counts["failed"] or not self._counts["passed"] else 0


def run_logged(argv, log, limit=LIMIT_S, **environment):
    """The program's exit status, 128 and the signal's number, or None after `limit` seconds; what it prints goes to
    the log."""
    with open(log, "wb") as output:
        # Tests must not wait for somebody's answer.
        program = subprocess.Popen([str(a) for a in argv], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=subprocess.STDOUT, env={**os.environ, **environment})
        try:
            status = program.wait(limit)
        except subprocess.TimeoutExpired:
            kill_descendants(program.pid)
            program.kill()
            program.wait()
            return None
    return status if status >= 0 else 128 - status


def text_of(log):
    return log.read_text(encoding="utf-8", errors="replace").splitlines()


def failure_text(name, status, log, limit=LIMIT_S):
    """What somebody who has only this output needs to know of a test that failed."""
    lines = text_of(log)
    marks = ("not ok", "FAIL", "[  FAILED  ]", "Traceback", "AssertionError")
    first = [line for line in lines if line.startswith(marks)][:20]
    how = f"not ended after {limit} s" if status is None else f"exit status {status}"
    return "\n".join([f"not ok {name} ({how}); what failed, and the end of {log.relative_to(ROOT)}:",
                      *("    " + line for line in first + lines[-25:])])


def when_idle(argv):
    """The command that runs this one with what others leave of the processor, also those of other sessions."""
    return ["setsid", "--wait", "sh", "-c", '{ echo 19 >/proc/self/autogroup; } 2>/dev/null; exec nice -n 19 "$@"',
            "when_idle", *argv]


def run_check(results, name, argv, limit=LIMIT_S):
    """A program whose exit status says all and whose whole output matters."""
    log, began = results.directory / f"{name}.log", time.monotonic()
    status = run_logged(argv, log, limit)
    if status == 0:
        results.add(f"ok {name} ({time.monotonic() - began:.0f} s)", passed=1)
    else:
        results.add("\n".join([f"not ok {name} (exit status {status}):", *("    " + line for line in text_of(log)[:200])]),
                    failed=1)


def gtest_report(path):
    """The tests that a GoogleTest program ran; None if it left no report."""
    try:
        return [test for group in json.loads(path.read_text())["testsuites"] for test in group["testsuite"]]
    except (OSError, ValueError, KeyError):
        return None


def run_gtest(results, suite, preset="asan", shards=1):
    """One GoogleTest program, as that many processes beside each other; its counts are taken from its own reports."""
    directory = build_directory(preset)
    # For those that mount; unit tests and scripts see to that themselves.
    wrapper = (IN_NAMESPACE,) if suite == "integration" else ()
    names = [suite] if shards == 1 else [f"{suite}-{shard}" for shard in range(shards)]
    reports, logs = ([results.directory / f"{name}.{kind}" for name in names] for kind in ("json", "log"))

    def run(shard):
        reports[shard].unlink(missing_ok=True)
        return run_logged([*wrapper, directory / f"{suite}_tests", "--gtest_brief=1", f"--gtest_output=json:{reports[shard]}"],
                          logs[shard], EDGEGPU=str(directory / "edgegpu"), GTEST_TOTAL_SHARDS=str(shards),
                          GTEST_SHARD_INDEX=str(shard))

    with concurrent.futures.ThreadPoolExecutor(shards) as pool:
        statuses = list(pool.map(run, range(shards)))
    parts = [gtest_report(report) for report in reports]
    tests = [test for part in parts for test in part or ()]
    failed = sum("failures" in test for test in tests)
    skipped = [f"{test['classname']}.{test['name']}" for test in tests if test["result"] == "SKIPPED"]
    passed = len(tests) - failed - len(skipped)
    # It may also have died, or found a leak after the last test.
    wrong = [shard for shard, part in enumerate(parts)
             if statuses[shard] != 0 or part is None or any("failures" in test for test in part)]
    lines = [f"{suite}: {passed} passed, {failed} failed, {len(skipped)} skipped", *(f"skipped {test}" for test in skipped)]
    lines += [failure_text(names[shard], statuses[shard], logs[shard]) for shard in wrong]
    if not tests and not wrong:
        lines.append(f"not ok {suite}: it has run no test")
    results.add("\n".join(lines), passed, max(failed, int(bool(wrong) or not tests)), len(skipped))


def clean(suite, name):
    """Removes what a test that passed has left: images are large. The consoles of machines stay."""
    if suite in MACHINES:
        remove = ["find", ROOT / "build/e2e" / name, "-depth", "(", "-type", "d", "-empty", "-o",
                  "!", "-type", "d", "!", "-name", "*.log", ")", "-delete"]
    else:
        remove = ["rm", "-rf", "--", ROOT / "build/tests" / name]
    # An ordinary user's tests leave files of ids that are only his in a namespace.
    subprocess.run([IN_NAMESPACE, *remove], stderr=subprocess.DEVNULL, check=False)


def run_script(results, suite, script, binary):
    log, began = results.directory / f"{script.name}.log", time.monotonic()
    limit = MACHINE_LIMIT_S if suite in MACHINES else LIMIT_S
    status = run_logged([script], log, limit, EDGEGPU=str(binary))
    if status == 0:
        results.add(f"ok {script.name} ({time.monotonic() - began:.0f} s)", passed=1)
        clean(suite, script.name.removesuffix("_test"))
    elif status == SKIPPED:
        reason = (text_of(log) or ["it does not say why"])[-1].removeprefix("skipped: ")
        end = ", which is a failure in continuous integration" if results.skip_is_failure else ""
        results.add(f"skipped {script.name}: {reason}{end}", skipped=1)
    else:
        results.add(failure_text(script.name, status, log, limit), failed=1)


def whose_turn(names):
    """The day of UTC: a day's runs agree, and with a run each night none is older than there are names."""
    return names[int(time.time() // 86400) % len(names)]


def left_out_today():
    """Of each row of BY_TURNS, all but one."""
    return {name for row in BY_TURNS for name in row if name != whose_turn(row)}


def rehearsals_of(suite):
    """Which of them belong to a suite of tests/e2e."""
    if suite == "turn":
        return (whose_turn(REHEARSALS),)
    return REHEARSALS if suite == "rehearsals" else ()


def scripts_of(suite):
    """The longest first."""
    def order(path):
        return LONGEST.index(path.name) if path.name in LONGEST else len(LONGEST), path.name

    directory, rehearsals = ROOT / "tests" / ("e2e" if suite in MACHINES else suite), rehearsals_of(suite)
    return sorted((path for path in directory.glob("*_test") if os.access(path, os.X_OK)
                   and (path.name in rehearsals if rehearsals else path.name not in REHEARSALS)), key=order)


def taken_from(queue):
    """Its jobs, until it is empty; several lanes take from one."""
    while True:
        try:
            yield queue.popleft()
        except IndexError:
            return


class Lane(threading.Thread):
    """Tests, as names and functions, one after the other, beside those of other lanes."""

    def __init__(self, results, name, jobs):
        super().__init__(name=name)
        self._results, self._jobs = results, jobs

    def run(self):
        began, name = time.monotonic(), ""
        try:
            for name, job in self._jobs:
                job()
        except BaseException as problem:  # or what is left of the lane would not be missed
            self._results.add(f"not ok lane {self.name}: it ended at {name}: {problem!r}", failed=1)
            return
        if name:
            self._results.say(f"lane {self.name} has ended after {time.monotonic() - began:.0f} s")


def compile_programs(preset, *targets):
    """Without them, nothing can be tested."""
    if subprocess.run([ROOT / "scripts/build", preset, *targets], cwd=ROOT, check=False).returncode != 0:
        sys.exit(f"scripts/test: {preset} does not compile")


def compile_gtests(results, suites):
    """Whether they have been compiled."""
    log, began = results.directory / "compile-asan.log", time.monotonic()
    status = run_logged(when_idle([ROOT / "scripts/build", "asan", *(f"{suite}_tests" for suite in suites)]), log, None)
    if status != 0:
        results.add(failure_text("GoogleTests, which do not compile", status, log), failed=1)
        return False
    results.say(f"GoogleTests are compiled ({time.monotonic() - began:.0f} s)")
    return True


def lanes(results, options):
    """Scripts of integration keep little more than one core busy, and so do the machines that boot. When these have
    ended, their lane takes from the others' queue. The compiler of the GoogleTests and clang-tidy, which can use any
    number of cores at any time, get what the scripts leave of the processor, and all of it when these have ended."""
    binary = build_directory(options.preset) / "edgegpu"

    def script(suite, path):
        return path.name, lambda: run_script(results, suite, path, binary)

    def scripts_of_today(suite):
        for path in scripts_of(suite):
            if options.by_turns and path.name in left_out:
                results.say(f"{path.name} is left out today (scripts/test {suite} runs it)")
            else:
                yield script(suite, path)

    queue, machines, left_out = collections.deque(), [], left_out_today()
    if "integration" in options.suites:
        queue.extend(scripts_of_today("integration"))
    elif "hostile" in options.suites:
        queue.append(script("integration", ROOT / "tests/integration/hostile_packages_test"))
    for suite in MACHINES:
        if suite in options.suites:
            machines.extend(scripts_of_today(suite))
    if "turn" in options.suites:
        results.say(f"it is the turn of {rehearsals_of('turn')[0]} (scripts/test rehearsals runs all of them)")

    def gtests():
        suites = [suite for suite in GTESTS if suite in options.suites]
        if suites:
            yield "their compilation", lambda: compile_gtests(results, suites) or suites.clear()
        for suite in list(suites):
            yield suite, lambda suite=suite: run_gtest(results, suite, shards=SHARDS[suite])

    def tidy():
        part = ("--part", whose_turn(TIDY_PARTS)) if options.by_turns else ()
        if "tidy" in options.suites:
            yield "clang-tidy", lambda: run_check(
                results, "clang-tidy", when_idle([ROOT / "scripts/check-tidy", *part]), None)

    return [Lane(results, "integration", taken_from(queue)),
            Lane(results, "e2e", itertools.chain(machines, taken_from(queue))),
            Lane(results, "GoogleTests", gtests()), Lane(results, "tidy", tidy())]


def style_lane(results):
    """It needs nothing compiled."""
    return Lane(results, "style", [
        (check, lambda check=check: run_check(results, check, [ROOT / "scripts/check-style", check]))
        for check in ("clang-format", "shellcheck", "sources")])


def quick_lanes(results):
    scripts = [(name, lambda name=name: run_script(results, "integration", ROOT / "tests/integration" / name,
                                                   build_directory("quick") / "edgegpu")) for name in QUICK]
    return [Lane(results, "unit", [("unit", lambda: run_gtest(results, "unit", "quick", SHARDS["unit"]))]),
            Lane(results, "scripts", scripts)]


def warn_of_space(results):
    """Tests fail in many ways where the disk is full, and few of them say so."""
    status = os.statvfs(ROOT)
    kept = status.f_blocks * status.f_frsize * LEFT_FREE_PERCENT // 100
    free = status.f_bavail * status.f_frsize
    if free < SPACE_BYTES + kept:
        results.say(f"warning: {free / 1e9:.0f} GB are free in {ROOT}: a first run takes up to {SPACE_BYTES / 1e9:.0f} GB, and ostree "
                    f"leaves {kept / 1e9:.0f} GB free: tests may fail for that alone")


def prepare(options, results):
    """Compiles the program that scripts run, and makes the lab, which keeps one core busy for minutes and needs
    nothing that is compiled."""
    lab_log = results.directory / "lab.log"
    lab = None
    if options.suites & SCRIPTS:
        with open(lab_log, "wb") as output:
            lab = subprocess.Popen([ROOT / "tests/lab/make-lab", "--output", "build/lab"], cwd=ROOT, stdout=output,
                                   stderr=subprocess.STDOUT)
        compile_programs(options.preset, *PROGRAMS)
    if lab is not None and lab.wait() != 0:
        print(lab_log.read_text(errors="replace"), file=sys.stderr)
        sys.exit("scripts/test: the lab cannot be made")


def run_suites(options):
    # nginx and depmod are not where an ordinary user finds programs.
    os.environ["PATH"] += ":/usr/local/sbin:/usr/sbin:/sbin"
    results = Results(ROOT / "build/test-results")
    quick = "quick" in options.suites
    if not quick:
        warn_of_space(results)
    running = [style_lane(results)] if quick or "style" in options.suites else []
    for lane in running:
        lane.start()
    if quick:
        compile_programs("quick", "edgegpu", "unit_tests")
    else:
        prepare(options, results)
    tests = quick_lanes(results) if quick else lanes(results, options)
    for lane in tests:
        lane.start()
    for lane in running + tests:
        lane.join()
    return results.finish()


def main():
    options = parse()

    def command():
        try:
            return run_suites(options)
        except SystemExit as problem:
            print(problem, file=sys.stderr)
            return 1

    status = run_guarded(command)
    if status > 128:
        print(f"scripts/test: ended by {signal.Signals(status - 128).name}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
