"""Made-up package universes: repository metadata without RPMs, enough to resolve.

A dependency is a tuple (name, operator, "epoch:version-release"), operator and version empty where
there is none, or a string: a rich one, "(a or b)", "(a and b)" or "(a if b)" over plain names.
"""
import gzip
import hashlib
import random
from dataclasses import dataclass, field
from xml.sax.saxutils import escape, quoteattr

FLAGS = {"<": "LT", "<=": "LE", "=": "EQ", ">=": "GE", ">": "GT"}


@dataclass
class Package:
    name: str
    version: str = "1"
    release: str = "1"
    epoch: int = 0
    arch: str = "x86_64"
    provides: list = field(default_factory=list)
    requires: list = field(default_factory=list)
    conflicts: list = field(default_factory=list)
    obsoletes: list = field(default_factory=list)
    recommends: list = field(default_factory=list)
    supplements: list = field(default_factory=list)
    files: list = field(default_factory=list)

    @property
    def evr(self):
        return f"{self.epoch}:{self.version}-{self.release}"

    @property
    def nevra(self):
        """As edgegpu and dnf print it: epoch 0 is left out."""
        epoch = f"{self.epoch}:" if self.epoch else ""
        return f"{self.name}-{epoch}{self.version}-{self.release}.{self.arch}"

    def all_provides(self):
        return [(self.name, "=", self.evr), *self.provides]


def _entry(dependency):
    if isinstance(dependency, str):
        return f"<rpm:entry name={quoteattr(dependency)}/>"
    name, operator, evr = dependency
    if not operator:
        return f"<rpm:entry name={quoteattr(name)}/>"
    epoch, _, rest = evr.rpartition(":")
    version, _, release = rest.partition("-")
    rel = f' rel="{release}"' if release else ""
    return (f'<rpm:entry name={quoteattr(name)} flags="{FLAGS[operator]}" epoch="{epoch or 0}" '
            f'ver="{version}"{rel}/>')


def in_primary(path):
    """Which paths createrepo_c repeats in primary metadata."""
    return path.startswith("/etc/") or "bin/" in path or path == "/usr/lib/sendmail"


def _package_xml(package, pkgid, files):
    parts = []
    for key in ("provides", "requires", "conflicts", "obsoletes", "recommends", "supplements"):
        values = package.all_provides() if key == "provides" else getattr(package, key)
        if values:
            parts.append(f"<rpm:{key}>{''.join(map(_entry, values))}</rpm:{key}>")
    parts += [f"<file>{escape(path)}</file>" for path in files]
    return (f'<package type="rpm"><name>{escape(package.name)}</name><arch>{package.arch}</arch>'
            f'<version epoch="{package.epoch}" ver="{package.version}" rel="{package.release}"/>'
            f'<checksum type="sha256" pkgid="YES">{pkgid}</checksum><summary>made up</summary>'
            '<description>Made up for a test of the resolver.</description>'
            '<packager>nobody</packager><url>https://example.invalid/</url>'
            '<time file="1700000000" build="1700000000"/>'
            '<size package="1000" installed="1000" archive="1000"/>'
            f'<location href="Packages/{escape(package.nevra)}.rpm"/><format>'
            '<rpm:license>MIT</rpm:license><rpm:vendor>nobody</rpm:vendor><rpm:group>x</rpm:group>'
            f'<rpm:buildhost>x</rpm:buildhost><rpm:sourcerpm>{escape(package.name)}-'
            f'{package.version}-{package.release}.src.rpm</rpm:sourcerpm>'
            f"{''.join(parts)}</format></package>\n")


def write_repository(directory, packages, more_files=None):
    """Writes `directory`/repodata. All files are in primary metadata too, so that no solver needs the
    file lists; unless `more_files` is given, a number of further files of each package: then primary
    metadata have those that createrepo_c puts there, and the files are compressed as it does."""
    repodata = directory / "repodata"
    repodata.mkdir(parents=True, exist_ok=True)
    primary = ['<?xml version="1.0" encoding="UTF-8"?>\n<metadata '
               'xmlns="http://linux.duke.edu/metadata/common" '
               f'xmlns:rpm="http://linux.duke.edu/metadata/rpm" packages="{len(packages)}">\n']
    lists = ['<?xml version="1.0" encoding="UTF-8"?>\n<filelists '
             f'xmlns="http://linux.duke.edu/metadata/filelists" packages="{len(packages)}">\n']
    for package in packages:
        pkgid = hashlib.sha256(package.nevra.encode()).hexdigest()
        paths = package.files
        if more_files is not None:
            paths = [*paths, *(f"/usr/share/doc/{package.name}/part-{i}.txt" for i in range(more_files))]
        primary.append(_package_xml(package, pkgid, [path for path in paths if more_files is None or in_primary(path)]))
        files = "".join(f"<file>{escape(path)}</file>" for path in paths)
        lists.append(f'<package pkgid="{pkgid}" name={quoteattr(package.name)} '
                     f'arch="{package.arch}"><version epoch="{package.epoch}" '
                     f'ver="{package.version}" rel="{package.release}"/>{files}</package>\n')
    primary.append("</metadata>\n")
    lists.append("</filelists>\n")
    records = []
    for kind, content in (("primary", "".join(primary)), ("filelists", "".join(lists))):
        data = content.encode()
        file = f"{kind}.xml"
        if more_files is not None:
            data, file = gzip.compress(data, mtime=0), file + ".gz"
        (repodata / file).write_bytes(data)
        records.append(f'<data type="{kind}"><checksum type="sha256">'
                       f"{hashlib.sha256(data).hexdigest()}</checksum>"
                       f'<location href="repodata/{file}"/><timestamp>1700000000</timestamp>'
                       f"<size>{len(data)}</size></data>\n")
    (repodata / "repomd.xml").write_text(
        '<?xml version="1.0" encoding="UTF-8"?>\n<repomd xmlns="http://linux.duke.edu/metadata/repo">'
        "<revision>1700000000</revision>\n" + "".join(records) + "</repomd>\n", encoding="utf-8")


def kernel(release):
    evr = f"0:5.14.0-{release}"
    return [Package("kernel-core", "5.14.0", release,
                    provides=[("kernel", "=", evr), ("kernel-uname-r", "=", f"5.14.0-{release}.x86_64")]),
            Package("kernel-devel", "5.14.0", release)]


def random_universe(seed):
    """About 60 packages that often contradict one another; returns packages and requests."""
    rng = random.Random(seed)
    names = [f"p{i}" for i in range(rng.randint(15, 30))]
    virtual = [f"v{i}" for i in range(6)]

    def dependency(targets):
        name = rng.choice(targets)
        if rng.random() < 0.55:
            return (name, "", "")
        return (name, rng.choice(["<", "<=", "=", ">=", ">"]), f"0:{rng.randint(1, 4)}")

    packages = kernel("1") + kernel("2")
    for name in names:
        for version in rng.sample(range(1, 5), rng.randint(1, 3)):
            package = Package(name, str(version), str(rng.randint(1, 2)))
            for _ in range(rng.choice([0, 1, 1, 2, 3])):
                package.requires.append(dependency(names + virtual))
            if rng.random() < 0.35:
                package.provides.append((rng.choice(virtual), "=", f"0:{rng.randint(1, 4)}"))
            if rng.random() < 0.15:
                package.conflicts.append(dependency(names))
            if rng.random() < 0.08:
                package.obsoletes.append(dependency(names))
            if rng.random() < 0.12:
                package.files.append(f"/opt/f{rng.randint(1, 4)}")
            if rng.random() < 0.08:
                package.requires.append((f"/opt/f{rng.randint(1, 4)}", "", ""))
            if rng.random() < 0.15:
                words = rng.sample(names, 2)
                package.requires.append(f"({words[0]} {rng.choice(['or', 'and', 'if'])} {words[1]})")
            if rng.random() < 0.06:
                package.requires.append(("kernel-core", "<", "0:5.14.0-2"))
            packages.append(package)
    return packages, rng.sample(names, rng.randint(1, 3))


def large_universe(seed, count, requested):
    """`count` packages of a distribution's shape in four repositories, and what to ask for.

    Libraries provide sonames and are required by them; updates hold newer versions of some;
    languages have stacks of versioned packages; a few features have several providers.
    """
    rng = random.Random(seed)
    repositories = {"baseos": [], "appstream": [], "updates": [], "nvidia": []}
    libraries = count // 4
    for i in range(libraries):
        package = Package(f"lib{i}", f"{rng.randint(1, 9)}.{rng.randint(0, 20)}", f"{rng.randint(1, 9)}.el9")
        package.provides.append((f"lib{i}.so.1()(64bit)", "", ""))
        for _ in range(min(i, rng.choice([0, 0, 1, 1, 2, 3]))):
            # Mostly the low layers are what everything needs.
            needed = int(i * rng.random() ** 3)
            package.requires.append((f"lib{needed}.so.1()(64bit)", "", ""))
        repositories["baseos" if i < libraries // 3 else "appstream"].append(package)
    programs = []
    for i in range(count - libraries - count // 10):
        name = f"prog{i}"
        package = Package(name, f"{rng.randint(1, 40)}.{rng.randint(0, 20)}", f"{rng.randint(1, 9)}.el9",
                          epoch=rng.choice([0, 0, 0, 0, 1]), files=[f"/usr/bin/{name}"])
        for _ in range(rng.randint(1, 6)):
            package.requires.append((f"lib{int(libraries * rng.random() ** 2)}.so.1()(64bit)", "", ""))
        if programs and rng.random() < 0.3:
            other = rng.choice(programs)
            package.requires.append((other.name, ">=", other.evr) if rng.random() < 0.5
                                    else (f"/usr/bin/{other.name}", "", ""))
        if rng.random() < 0.02:
            package.provides.append((f"feature{i % 50}", "", ""))
        if rng.random() < 0.05:
            package.recommends.append((f"prog{max(0, i - 1)}", "", ""))
        programs.append(package)
        repositories["appstream" if i % 5 else "baseos"].append(package)
    for i in range(count // 10):
        old = programs[i * 7 % len(programs)]
        if any(p.nevra == old.nevra for p in repositories["updates"][-1:]):
            continue
        newer = Package(old.name, old.version, f"{int(old.release.split('.')[0]) + 10}.el9", old.epoch,
                        requires=list(old.requires), provides=list(old.provides), files=list(old.files))
        repositories["updates"].append(newer)
    for release in ("100.el9", "110.el9", "120.el9", "130.el9"):
        repositories["updates"] += kernel(release)
    repositories["nvidia"] += driver_packages()
    names = sorted({p.name for p in programs})
    return repositories, rng.sample(names, requested)


def real_universe(seed):
    """About 19,000 packages in two repositories, shaped as an Enterprise Linux release in its middle
    years is, and what to ask for (about 360 packages come of it).

    Every name is there in several versions, sub-packages require exactly their own, sonames carry
    symbol versions, and everything requires the C library in several ways.
    """
    rng = random.Random(seed)
    repositories = {"baseos": [], "appstream": []}
    names = []
    symbols = [f"libc.so.6(GLIBC_2.{minor})(64bit)" for minor in (2, 3, 4, 14, 17, 28, 33, 34)]
    for i in range(3000):
        name, where = f"part{i}", "baseos" if i < 500 or rng.random() < 0.15 else "appstream"
        below = [max(0, int(i * rng.random() ** 2.6) - 1) for _ in range(rng.choice((1, 2, 2, 3, 4, 6)))]
        release = rng.randint(1, 9)
        for version in range(rng.choice((1, 1, 2, 3, 4, 5, 5))):
            repositories[where] += _family(rng, name, f"{rng.randint(1, 9)}.{i % 20}", f"{release + version}.el9",
                                           sorted(set(below)) if i else [], symbols)
        names.append(name)
    repositories["baseos"] += kernel("100.el9") + kernel("110.el9")
    libc = Package("c-library", "2.34", "9.el9", provides=[
        ("libc.so.6()(64bit)", "", ""), ("rtld(GNU_HASH)", "", ""), *((symbol, "", "") for symbol in symbols)])
    shell = Package("shell", "5.1", "1.el9", requires=[("libc.so.6()(64bit)", "", "")], files=["/bin/sh", "/usr/bin/sh"])
    repositories["baseos"] += [libc, shell]
    return repositories, rng.sample(names[200:], 26)


def _family(rng, name, version, release, below, symbols):
    """A program and its library in one version, perhaps with a -devel package."""
    evr = f"0:{version}-{release}"
    needs = [("libc.so.6()(64bit)", "", ""), ("rtld(GNU_HASH)", "", ""), (rng.choice(symbols), "", ""), (rng.choice(symbols), "", "")]
    for number in below:
        needs += [(f"libpart{number}.so.1()(64bit)", "", ""), (f"libpart{number}.so.1(V_1)(64bit)", "", "")]
    library = name.replace("part", "libpart")
    family = [
        Package(name, version, release, provides=[(f"{name}(x86-64)", "=", evr), (f"config({name})", "=", evr)],
                requires=[*needs, ("/bin/sh", "", ""), (f"{name}-libs(x86-64)", "=", evr), (f"config({name})", "=", evr)],
                files=[f"/usr/bin/{name}", f"/etc/{name}.conf", *(f"/usr/share/{name}/{i}" for i in range(12))]),
        Package(f"{name}-libs", version, release, requires=needs, provides=[
            (f"{name}-libs(x86-64)", "=", evr), (f"{library}.so.1()(64bit)", "", ""),
            (f"{library}.so.1(V_1)(64bit)", "", ""), (f"{library}.so.1(V_2)(64bit)", "", "")],
            files=[f"/usr/lib64/{library}.so.1"])]
    if rng.random() < 0.1:
        family.append(Package(f"{name}-devel", version, release, provides=[(f"pkgconfig({name})", "=", f"0:{version}")],
                              requires=[(f"{name}-libs(x86-64)", "=", evr), ("/usr/bin/sh", "", "")],
                              files=[f"/usr/include/{name}/{i}.h" for i in range(20)]))
    return family


def driver_packages():
    packages = []
    for version, kernels in (("550.1", ("100", "110")), ("570.1", ("100",)), ("570.2", ("100", "120"))):
        evr = f"3:{version}-1"
        packages += [
            Package("nvidia-driver-cuda", version, "1", 3,
                    requires=[("nvidia-kmod-common", "=", f"3:{version}"), ("nvidia-driver-firmware", "", "")]),
            Package("nvidia-kmod-common", version, "1", 3, "noarch",
                    requires=[("nvidia-kmod", "=", f"3:{version}")]),
            Package("nvidia-driver-firmware", version, "1", 3, "noarch"),
        ]
        for release in kernels:
            packages.append(Package(
                f"kmod-nvidia-{version}-5.14.0-{release}", version, "3.el9", 3,
                provides=[("nvidia-kmod", "=", f"3:{version}"),
                          ("kernel-modules", "=", f"0:5.14.0-{release}.el9.x86_64")],
                requires=[f"(kernel-core if kernel-core)"]))
    return packages
