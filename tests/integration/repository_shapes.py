"""Repositories in memory, and the ways in which they differ from what createrepo_c makes: for
repository_shapes_test."""
import gzip
import hashlib
import pathlib
import re
import subprocess
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]
import universe  # noqa: E402
from universe import Package  # noqa: E402

APP = [*universe.kernel("1"), Package("app", requires=[("lib", "", "")], files=["/usr/bin/app"]), Package("lib")]
DATA = Package("data", files=["/usr/share/data/file"])
READER = Package("app", requires=[("/usr/share/data/file", "", "")])
COMPS = ('<?xml version="1.0" encoding="UTF-8"?>\n<comps><group><id>tools</id><name>Tools</name><default>false</default>'
         '<uservisible>true</uservisible><packagelist><packagereq type="mandatory">lib</packagereq></packagelist>'
         "</group></comps>\n").encode()
UPDATEINFO = ('<?xml version="1.0" encoding="UTF-8"?>\n<updates>'
              '<update from="x" status="final" type="security" version="1"><id>ODD-1</id><title>t</title>'
              '<severity>Catastrophic!</severity><issued date="yesterday"/><pkglist><collection><package '
              'name="kernel-core" version="5.14.0" release="2" epoch="0" arch="x86_64"/></collection></pkglist></update>'
              '<update type="security"><id></id><references/><pkglist/></update><update/></updates>\n').encode()
LOCATION = 'href="Packages/'


def zstd(data):
    return subprocess.run(["zstd", "-q", "-c"], input=data, stdout=subprocess.PIPE, check=True).stdout


class Repo:
    """A repository in memory: what it is made of can be changed before it is written."""

    def __init__(self, *packages, edit=None, **settings):
        self.packages = packages
        self.edit = edit
        self.settings = settings

    def write(self, place):
        universe.write_repository(place, self.packages)
        self.repodata = place / "repodata"
        # type → [name, content]
        self.files = {kind: [f"{kind}.xml", (self.repodata / f"{kind}.xml").read_bytes()]
                      for kind in ("primary", "filelists")}
        self.algorithm = "sha256"
        self.head = '<?xml version="1.0" encoding="UTF-8"?>\n<repomd xmlns="http://linux.duke.edu/metadata/repo">\n'
        self.revision = "<revision>1700000000</revision>\n"
        self.tail = "</repomd>\n"
        self.finish = lambda repomd: repomd
        self.record = lambda kind, record: record
        for path in self.repodata.iterdir():
            path.unlink()
        if self.edit:
            self.edit(self)
        records = []
        for kind, (name, data) in self.files.items():
            if data is not None:
                (self.repodata / name).write_bytes(data)
            records.append(self.record(kind, (
                f'<data type="{kind}"><checksum type="{self.algorithm}">'
                f"{hashlib.new(self.algorithm, data or b'').hexdigest()}</checksum>"
                f'<location href="repodata/{name}"/><timestamp>1700000000</timestamp>'
                f"<size>{len(data or b'x')}</size></data>\n")))
        repomd = self.finish(self.head + self.revision + "".join(records) + self.tail)
        (self.repodata / "repomd.xml").write_bytes(repomd if isinstance(repomd, bytes) else repomd.encode())

    def replace(self, kind, old, new):
        content = self.files[kind][1]
        assert old.encode() in content, old
        self.files[kind][1] = content.replace(old.encode(), new.encode())


def replacing(old, new, kind="primary"):
    return lambda repo: repo.replace(kind, old, new)


def with_checksums(algorithm, metadata=None):
    """Package ids of another algorithm, and those of the metadata files."""
    def edit(repo):
        for entry in repo.files.values():
            text = re.sub(r'pkgid="([0-9a-f]{64})"',
                          lambda m: f'pkgid="{hashlib.new(algorithm, m[1].encode()).hexdigest()}"', entry[1].decode())
            text = re.sub(r'type="sha256" pkgid="YES">([0-9a-f]{64})<', lambda m: (
                f'type="{algorithm}" pkgid="YES">{hashlib.new(algorithm, m[1].encode()).hexdigest()}<'), text)
            entry[1] = text.encode()
        repo.algorithm = metadata or algorithm
    return edit


def compressed(extension, compress):
    def edit(repo):
        for entry in repo.files.values():
            entry[0] += extension
            entry[1] = compress(entry[1])
    return edit


def adding(**files):
    """More records: type=(name, content); content None: a file that is not there."""
    return lambda repo: repo.files.update({kind.replace("__", "-"): list(file) for kind, file in files.items()})


def changing_records(pattern, replacement):
    def edit(repo):
        repo.record = lambda kind, record: re.sub(pattern, replacement, record)
    return edit


def without(kind):
    return lambda repo: repo.files.pop(kind)


def finishing(change):
    def edit(repo):
        repo.finish = change
    return edit


def both(*edits):
    def edit(repo):
        for one in edits:
            one(repo)
    return edit


def crlf(repo):
    for entry in repo.files.values():
        entry[1] = entry[1].replace(b"\n", b"\r\n")
    repo.finish = lambda repomd: repomd.replace("\n", "\r\n")


def byte_order_mark(repo):
    for entry in repo.files.values():
        entry[1] = b"\xef\xbb\xbf" + entry[1]
    repo.finish = lambda repomd: "\ufeff" + repomd


def truncated(repo):
    compressed(".gz", gzip.compress)(repo)
    repo.files["primary"][1] = repo.files["primary"][1][:-40]


def only_zchunk(repo):
    repo.files = {f"{kind}_zck": [f"{name}.zck", b"\0ZCK1" + data] for kind, (name, data) in repo.files.items()}


def zchunk_as_primary(repo):
    repo.files["primary"] = ["primary.xml.zck", b"\0ZCK1" + repo.files["primary"][1]]


def no_revision(repo):
    repo.revision = ""


def odd_namespace(repo):
    repo.head = '<?xml version="1.0"?>\n<repomd xmlns="urn:something:else" xmlns:rpm="urn:x">\n'


def prefixed(repo):
    repo.head = repo.head.replace("<repomd xmlns=", "<r:repomd xmlns:r=")
    repo.tail = "</r:repomd>\n"
    repo.revision = "<r:revision>1</r:revision>"
    repo.record = lambda kind, record: re.sub(r"<(/?)(\w)", r"<\1r:\2", record)


def one(edit, packages=APP):
    return {"repo": Repo(*packages, edit=edit)}


def two(first, second, one_setting=None, other_setting=None):
    return {"one": Repo(*APP, first, **(one_setting or {})), "two": Repo(second, **(other_setting or {}))}


THING = Package("thing")


def other_content(repo):
    """The same NEVRAs with other checksums."""
    with_checksums("sha512", "sha256")(repo)
