"""What has to be true of a disk after a power cut, whenever it came: the boot loader starts the old or the new system, each of
them whole, and nothing else of the disk has changed."""
import functools
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zlib

from rehearsal import ROOT

sys.path.insert(0, str(ROOT / "tests/integration"))
import lab_image as lab  # noqa: E402

LIST = ROOT / "build/ext4_list"
ENVIRONMENT = {**os.environ, "LC_ALL": "C.UTF-8", "PATH": os.environ.get("PATH", "") + ":/usr/sbin:/sbin"}
BOOT_LINK = "/usr/lib/dracut/modules.d/97edgegpu-boot-link/boot-link"
# What it looks at.
LINKS = re.compile(r"/ostree(?:/boot\.[^/]*(?:/.*)?|/deploy(?:/[^/]+(?:/deploy(?:/[^/]+(?:/usr)?)?)?)?)?")
EMPTY = hashlib.sha256(b"").hexdigest()


def run(*argv):
    return subprocess.run([str(word) for word in argv], check=False, env=ENVIRONMENT, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def data_of(image):
    """What there is besides holes in a FAT file system, its dirty bit left out."""
    found, at = {}, 0
    with open(image, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        while at < size:
            try:
                at = os.lseek(file.fileno(), at, os.SEEK_DATA)
            except OSError:
                break
            end = os.lseek(file.fileno(), at, os.SEEK_HOLE)
            found[at] = bytearray(os.pread(file.fileno(), end - at, at))
            at = end
    found[0][65] = 0
    return found


class Broken(Exception):
    """A file system that cannot be read as a whole."""


def listing(image, *options):
    """Path → (type, mode, owner, group, content or target, attributes)."""
    done = subprocess.run([str(LIST), *options, str(image)], check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        raise Broken(done.stderr.decode(errors="replace").strip())
    found = {}
    fields = done.stdout.decode("utf-8", "surrogateescape").split("\0")
    for at in range(0, len(fields) - 9, 10):
        path, kind, mode, owner, group, _, _, content, attributes, _ = fields[at:at + 10]
        found[path] = (kind, mode, owner, group, content, attributes)
    return found


def text_of(image, path):
    """A file's content as the boot loader reads it: without journal, and without checksums of metadata."""
    return subprocess.run(["debugfs", "-n", "-R", f"cat {path}", str(image)], check=False, env=ENVIRONMENT, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout.decode("utf-8", "replace")


def resolved(entries, path, links=40):
    """The path without symbolic links, in a file system's listing."""
    done = ""
    parts = path.strip("/").split("/")
    while parts:
        part = parts.pop(0)
        if part in ("", "."):
            continue
        if part == "..":
            done = done.rpartition("/")[0]
            continue
        entry = entries.get(f"{done}/{part}")
        if entry is None:
            return None
        if entry[0] == "l":
            links -= 1
            if links == 0:
                return None
            if entry[4].startswith("/"):
                done = ""
            parts = entry[4].strip("/").split("/") + parts
        else:
            done = f"{done}/{part}"
    return done


class Commit:
    """What a deployment of a commit has below /usr, and the objects that a repository needs for it."""

    def __init__(self, repo, checksum, digests):
        """`digests`: of objects, for the next commit."""
        self.checksum = checksum
        self.usr, self.objects = {}, {("commit", checksum): None}
        for line in lab.run("ostree", f"--repo={repo}", "ls", "-RCX", checksum).splitlines():
            match = lab.LISTED.match(line)
            path, _, content = match["path"].partition(" -> ") if match["type"] == "l" else (match["path"], "", "")
            kind = {"-": "f"}.get(match["type"], match["type"])
            if kind == "f":
                if match["object"] not in digests:
                    digests[match["object"]] = self.digest(repo, match["object"])
                content = digests[match["object"]]
            mode = "777" if kind == "l" else f"{int(match['mode'], 8) & 0o7777:o}"
            entry = (kind, mode, match["uid"], match["gid"], content, lab.label_of(match))
            if path == "/usr" or path.startswith("/usr/"):
                self.usr[path] = entry
            if kind == "d":
                self.objects[("dirtree", match["object"])] = self.objects[("dirmeta", match["meta"])] = None
            else:
                self.objects[("file", match["object"])] = entry
        module = next(path for path in self.usr if re.fullmatch(r"/usr/lib/modules/[^/]+/vmlinuz", path))
        self.kernel = (self.usr[module][4], self.usr[module.replace("vmlinuz", "initramfs.img")][4])

    @staticmethod
    def digest(repo, checksum):
        """Of the content, without what is before it in an object of an archive."""
        data = (pathlib.Path(repo) / "objects" / checksum[:2] / f"{checksum[2:]}.filez").read_bytes()
        return hashlib.sha256(zlib.decompress(data[8 + int.from_bytes(data[:4], "big"):], -15)).hexdigest()


@functools.cache
def label(attributes):
    for attribute in attributes.split(";"):
        if attribute.startswith("security.selinux="):
            return bytes.fromhex(attribute.partition("=")[2]).rstrip(b"\0").decode()
    return ""


def as_committed(entry):
    return (*entry[:5], label(entry[5]))


class Judge:
    """`parts` are names and images of the disk's partitions; `first` and `last` those of the disk before and after the upgrade."""

    def __init__(self, old, new, first, last):
        self.commits = {old.checksum: old, new.checksum: new}
        self.old, self.new = old, new
        self.known, self.spoilt, self.emptied = {}, False, 0
        self.esp = data_of(first["efi-system"])
        names = run("mdir", "-/", "-b", "-i", first["efi-system"]).stdout.decode(errors="replace").split()
        self.esp_files = {name: run("mtype", "-i", first["efi-system"], name).stdout for name in names if not name.endswith("/")}
        root_before, root_after = listing(first["root"]), listing(last["root"])
        self.stateroot = next(path for path in root_before if re.fullmatch(r"/ostree/deploy/[^/]+", path))
        # What is the same before and after has to be the same at every moment between.
        self.constant = {"root": {path: entry for path, entry in root_before.items() if root_after.get(path) == entry}}
        before, after = listing(first["boot"]), listing(last["boot"])
        self.constant["boot"] = {path: entry for path, entry in before.items() if after.get(path) == entry}
        self.first, self.final = root_before, root_after
        # A deployment's kernel arguments are those of its image, or, until its first start, of the one before (docs/upgrades.md).
        self.arguments = {arguments for image in (first["boot"], last["boot"]) for _, _, _, arguments in self.menu(image)}

    @staticmethod
    def menu(image):
        """[(source, kernel, initramfs, arguments without ostree=)] of the boot loader's menu and of ostree's entries."""
        found = []
        menu = text_of(image, "/loader/grub.cfg")
        for entry in re.findall(r"^menuentry .*?^}", menu, re.M | re.S):
            kernel = re.search(r"^linux\S*\s+(\S+)\s*(.*)$", entry, re.M)
            initramfs = re.search(r"^initrd\S*\s+(\S+)", entry, re.M)
            found.append(("menu", kernel and kernel[1], initramfs and initramfs[1], kernel[2] if kernel else ""))
        names = run("debugfs", "-n", "-R", "ls -p /loader/entries", image).stdout.decode("utf-8", "replace")
        for name in re.findall(r"/([^/\n]+\.conf)/", names):
            lines = dict(line.partition(" ")[::2] for line in text_of(image, f"/loader/entries/{name}").splitlines())
            found.append(("entry", lines.get("linux"), lines.get("initrd"), lines.get("options", "")))
        return found

    def judge(self, parts):
        """(problems, checksum of what the menu starts, "mended" or "stuck"). File systems are repaired as the device would do it, and then
        are as they were again, unless `spoilt` is set."""
        self.spoilt = False
        with tempfile.TemporaryDirectory() as undo:
            try:
                return self.look_at(parts, undo)
            finally:
                for name in os.listdir(undo):
                    # It cannot where e2fsck found nothing that it understands.
                    self.spoilt |= run("e2undo", f"{undo}/{name}", parts[name]).returncode != 0

    def look_at(self, parts, undo):
        problems = []
        try:
            loader = listing(parts["boot"], "--as-boot-loader")
        except Broken as broken:
            return [f"/boot, as the boot loader reads it: {broken}"], None
        is_dirty = b"needs_recovery" in run("dumpe2fs", "-h", parts["boot"]).stdout
        menus = {"as the boot loader reads it": (loader, self.menu(parts["boot"]))}
        problems += self.check_environment(parts["boot"], "as the boot loader reads it")
        for name in ("boot", "root"):
            problems += self.check_file_system(name, parts[name], f"{undo}/{name}")
        try:
            boot, root = listing(parts["boot"]), listing(parts["root"])
        except Broken as broken:
            return [*problems, str(broken)], None
        problems += self.check_environment(parts["boot"], "after the journal")
        menus["after the journal"] = (boot, self.menu(parts["boot"]))
        self.known = {}
        firsts, found = zip(*(self.check_menu(files, menu, root) for files, menu in menus.values()))
        starts = firsts[0] or firsts[1]
        # GRUB reads no journals. libostree before 2025.2 (ostreedev/ostree#3392) gives /boot/loader its new target, which is in the
        # journal then, and removes what the old one needs from the root file system; and what is in the journal gets to its place
        # block by block. docs/reliability.md says what follows from that.
        if found[0] and not found[1] and is_dirty:
            starts, mending = self.mend(loader, menus["as the boot loader reads it"][1], root)
            problems += mending
        else:
            problems += [f"/boot, {how}: {problem}" for how, of in zip(menus, found) for problem in of]
        problems += [problem for of in self.known.values() for problem in of]
        problems += self.check_constant("root", root) + self.check_constant("boot", boot)
        problems += self.check_objects(root, self.old) + self.check_refs(parts["root"], root) + self.check_state(root)
        problems += self.check_esp(parts["efi-system"])
        return problems, starts

    @staticmethod
    def check_file_system(name, image, undo):
        """What a device does before it mounts: the journal, and no questions. Then there must be nothing to repair."""
        preen = run("e2fsck", "-p", "-z", undo, image)
        if preen.returncode not in (0, 1):
            return [f"{name}: e2fsck -p: {preen.returncode}: {preen.stdout.decode(errors='replace')[-500:]}"]
        full = run("e2fsck", "-f", "-n", image)
        return [f"{name}: e2fsck: {full.stdout.decode(errors='replace')[-500:]}"] if full.returncode != 0 else []

    def check_environment(self, image, how):
        """GRUB's own program, which greenboot calls, cuts the file off before it writes it again: it can be empty. edgegpu-update and
        boot-counting mend that before they need it (update_test, gpu_health_image_test)."""
        text = text_of(image, "/grub2/grubenv")
        empty = not text and re.search(rb"Project: +\d+ +Size: 0\n", run("debugfs", "-n", "-R", "stat /grub2/grubenv", image).stdout) is not None
        self.emptied += empty
        good = empty or (len(text) == 1024 and text.startswith("# GRUB Environment Block\n"))
        return [] if good else [f"grubenv, {how}: {len(text)} bytes: {text[:60]!r}"]

    def check_menu(self, files, menu, root):
        """(what starts by default, problems)."""
        problems, starts = [], []
        for source in ("menu", "entry"):
            if not any(found == source for found, *_ in menu):
                problems.append(f"no {source}")
        for source, kernel, initramfs, arguments in menu:
            name = f"{source} {arguments[-90:]}"
            target = re.search(r"(?:^| )ostree=(\S+)", arguments)
            place = resolved(root, target[1]) if target else None
            match = re.fullmatch(rf"{re.escape(self.stateroot)}/deploy/([0-9a-f]{{64}})\.\d+", place or "")
            commit = self.commits.get(match[1]) if match else None
            if commit is None:
                problems.append(f"{name}: no deployment of either commit: {place}")
                continue
            seen = tuple(files.get(resolved(files, path or "/-") or "", [""] * 6)[4] for path in (kernel, initramfs))
            if seen != commit.kernel:
                problems.append(f"{name}: kernel or initramfs are not those of commit {commit.checksum[:10]}")
            if self.without_path(arguments) not in {self.without_path(known) for known in self.arguments}:
                problems.append(f"{name}: arguments that neither image has: {arguments}")
            if place not in self.known:
                self.known[place] = self.check_deployment(root, place, commit)
            if source == "menu":
                starts.append(commit.checksum)
        return (starts or [None])[0], problems

    def mend(self, files, menu, root):
        """("mended" or "stuck", problems): whether edgegpu-boot-link, if the commits have it, gives the default entry a deployment with
        its kernel and initramfs."""
        _, kernel, initramfs, arguments = next((entry for entry in menu if entry[0] == "menu"), ("", "", "", ""))
        wanted = re.search(r"(?:^| )ostree=(\S+)", arguments)
        # With a path that is there, something else is wrong: the journal's blocks are on their way.
        if not wanted or resolved(root, wanted[1]) or not all(BOOT_LINK in commit.usr for commit in self.commits.values()):
            return "stuck", []
        with tempfile.TemporaryDirectory() as top:
            for path, entry in sorted(root.items()):
                if entry[0] == "d" and LINKS.fullmatch(path):
                    os.makedirs(top + path, exist_ok=True)
                elif entry[0] == "l" and LINKS.fullmatch(path):
                    os.symlink(entry[4], top + path)
            line = pathlib.Path(top, "cmdline")
            line.write_text(arguments)
            said = run("dash", ROOT / "src/customise/initramfs/boot-link/boot-link", top, line).stdout.decode(errors="replace").strip()
            place = os.path.realpath(top + wanted[1])[len(os.path.realpath(top)):]
        match = re.fullmatch(rf"{re.escape(self.stateroot)}/deploy/([0-9a-f]{{64}})\.\d+", place)
        commit = self.commits.get(match[1]) if match and match[0] in root else None
        if commit is None or tuple(files.get(resolved(files, path or "/-") or "", [""] * 6)[4] for path in (kernel, initramfs)) != commit.kernel:
            return "stuck", [f"edgegpu-boot-link does not mend {arguments}: {said}"]
        return "mended", self.check_deployment(root, place, commit)

    @staticmethod
    def without_path(arguments):
        return tuple(sorted(word for word in arguments.split() if not word.startswith("ostree=")))

    def check_deployment(self, root, place, commit):
        """That /usr is the commit's, and that /etc was merged whole."""
        there = {path[len(place):]: as_committed(entry) for path, entry in root.items() if path.startswith(place + "/usr/")}
        there["/usr"] = as_committed(root.get(place + "/usr", [""] * 6))
        wrong = [path for path in commit.usr.keys() | there.keys() if commit.usr.get(path) != there.get(path)]
        problems = [f"{place}{path}: {there.get(path)}, not {commit.usr.get(path)}" for path in wrong[:5]]
        if root.get(place + ".origin", [""] * 6)[4] in ("", EMPTY):
            problems.append(f"{place}.origin is missing or empty")
        etc = {path[len(place):] for path in root if path.startswith(place + "/etc/")}
        final = {path[len(place):] for path in self.final if path.startswith(place + "/etc/")}
        demanded = {path[4:] for path in commit.usr if path.startswith("/usr/etc/")} & (final or etc)
        problems += [f"{place}{path} is missing" for path in sorted(demanded - etc)[:5]]
        contents = {entry[4] for path, entry in root.items() if "/etc/" in path and not path.startswith(place + "/etc/")}
        contents |= {entry[4] for path, entry in self.final.items() if "/etc/" in path}
        contents |= {entry[4] for path, entry in self.constant["root"].items()}
        problems += [f"{place}{path} is empty" for path in sorted(etc) if self.is_cut_off(place + path, root[place + path])]
        if commit is self.new:
            problems += [f"{place}{path} has a content that no image has" for path in sorted(etc)
                         if root[place + path][0] == "f" and root[place + path][4] not in contents
                         and not path.startswith("/etc/edgegpu/kernel-arguments")][:5]
        return problems

    def check_constant(self, name, entries):
        lost = [path for path, entry in self.constant[name].items() if entries.get(path) != entry]
        return [f"{name}: {path} has changed: {entries.get(path)}" for path in lost[:5]]

    @staticmethod
    def check_objects(root, commit):
        problems = []
        for (kind, checksum), expected in commit.objects.items():
            entry = root.get(f"/ostree/repo/objects/{checksum[:2]}/{checksum[2:]}.{kind}")
            good = entry is not None and (as_committed(entry) == expected if kind == "file" else entry[4] == checksum)
            if not good:
                problems.append(f"object {checksum}.{kind} of {commit.checksum[:10]}: {entry}")
        return problems[:5]

    def check_refs(self, image, root):
        """A commit that a ref names and that is not marked as partial has everything."""
        problems = []
        for path in [path for path, entry in root.items() if path.startswith("/ostree/repo/refs/") and entry[0] == "f"]:
            named = text_of(image, path).strip()
            if named not in self.commits:
                problems.append(f"{path} names {named!r}")
            elif f"/ostree/repo/state/{named}.commitpartial" not in root:
                problems += [f"{path}: {problem}" for problem in self.check_objects(root, self.commits[named])]
        return problems

    def check_state(self, root):
        """Of what edgegpu's programs keep on the device, nothing is cut off."""
        return [f"{path} is empty" for path, entry in root.items() if "/var/lib/edgegpu/" in path and self.is_cut_off(path, entry)]

    def is_cut_off(self, path, entry):
        """A file that is empty, and never is before or after the upgrade."""
        ends = {known[path][4] for known in (self.first, self.final) if path in known}
        return entry[0] == "f" and entry[4] == EMPTY and bool(ends) and EMPTY not in ends

    def check_esp(self, image):
        """Devices mount it, which sets its dirty bit; beyond that, it is as it was."""
        if data_of(image) == self.esp:
            return []
        with tempfile.NamedTemporaryFile() as copy:
            shutil.copyfile(image, copy.name)
            run("fsck.vfat", "-a", copy.name)
            done = run("fsck.vfat", "-n", copy.name)
        problems = [f"the EFI system partition: {done.stdout.decode(errors='replace')}"] if done.returncode != 0 else []
        names = run("mdir", "-/", "-b", "-i", image).stdout.decode(errors="replace").split()
        files = {name: run("mtype", "-i", image, name).stdout for name in names if not name.endswith("/")}
        return problems + [f"the EFI system partition: {name}" for name in files.keys() | self.esp_files.keys()
                           if files.get(name) != self.esp_files.get(name)]
