"""A made-up modular repository of Enterprise Linux 8's shape, its oddities included.

Every stream's packages are versioned after the stream: m:2 has packages of version 2. Where a
document is said to be bad, its `buildorder` is one that libmodulemd refuses.
"""
import hashlib
from xml.sax.saxutils import escape

from universe import Package, kernel, write_repository

BAD_BUILDORDER = 18446744073709551615


def document(name, stream, rpms=(), version=1, context="c0ffee00", arch="x86_64", requires=None,
             profiles=None, bad=False, quote=True, extra=()):
    """A modulemd document, version 2. `rpms`: artifacts. `requires`: a mapping, or a list of them
    (one dependency block each)."""
    stream = f'"{stream}"' if quote else stream
    lines = ["---", "document: modulemd", "version: 2", "data:", f"  name: {name}",
             f"  stream: {stream}", f"  version: {version}", f"  context: {context}", f"  arch: {arch}",
             f"  summary: {name}", "  description: >-", "    Made up", "    for a test", "  license:",
             "    module: [MIT]"]
    blocks = requires if isinstance(requires, list) else [{"platform": ["el9"], **(requires or {})}]
    lines.append("  dependencies:")
    for block in blocks:
        lines += ["  - buildrequires: {platform: [el9]}", "    requires:"]
        lines += [f"      {module}: [{', '.join(map(_quoted, streams))}]" for module, streams in block.items()]
    if profiles:
        lines.append("  profiles:")
        for profile, names in profiles.items():
            lines += [f"    {profile}:", f"      rpms: [{', '.join(names)}]"]
    lines += extra
    lines += ["  components:", "    rpms:", f"      {name}:", "        rationale: made up",
              f"        buildorder: {BAD_BUILDORDER if bad else 1}"]
    if rpms:
        lines += ["  artifacts:", "    rpms:", *(f"    - {rpm}" for rpm in rpms)]
    return "\n".join([*lines, "..."]) + "\n"


def defaults(name, stream=None, profiles=None, extra=()):
    """A modulemd-defaults document, version 1."""
    lines = ["---", "document: modulemd-defaults", "version: 1", "data:", f"  module: {name}"]
    if stream is not None:
        lines.append(f'  stream: "{stream}"')
    if profiles is not None:
        lines.append("  profiles:")
        lines += [f"    {_quoted(key)}: [{', '.join(value)}]" for key, value in profiles.items()]
    lines += extra
    return "\n".join([*lines, "..."]) + "\n"


def _quoted(text):
    return f'"{text}"'


def comps(groups):
    """comps.xml: group → packages."""
    parts = []
    for name, packages in groups.items():
        listed = "".join(f'<packagereq type="mandatory">{escape(p)}</packagereq>' for p in packages)
        parts.append(f"<group><id>{name}</id><name>{name}</name><description/><default>true</default>"
                     f"<uservisible>true</uservisible><packagelist>{listed}</packagelist></group>")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<comps>{"".join(parts)}</comps>\n'


def write(directory, packages, modules="", groups=None):
    """Writes a repository with modules.yaml and comps.xml."""
    write_repository(directory, packages)
    repodata = directory / "repodata"
    records = []
    files = {"modules": ("modules.yaml", modules), "group": ("comps.xml", comps(groups) if groups else "")}
    for kind, (name, text) in files.items():
        if not text:
            continue
        data = text if isinstance(text, bytes) else text.encode()
        (repodata / name).write_bytes(data)
        records.append(f'<data type="{kind}"><checksum type="sha256">{hashlib.sha256(data).hexdigest()}</checksum>'
                       f'<location href="repodata/{name}"/><timestamp>1700000000</timestamp>'
                       f"<size>{len(data)}</size></data>\n")
    repomd = (repodata / "repomd.xml").read_text(encoding="utf-8")
    (repodata / "repomd.xml").write_text(repomd.replace("</repomd>", "".join(records) + "</repomd>"),
                                         encoding="utf-8")


class World:
    """Packages and documents of one repository."""

    def __init__(self):
        self.packages = []
        self.documents = []
        self.groups = {}

    def stream(self, name, stream, packages, version=1, release="1.module", package_version=None, **document_keys):
        """A document, and its packages, of the stream's version unless `package_version` is another."""
        own = [Package(package, package_version or stream, release) for package in packages]
        self.packages += own
        rpms = [f"{p.name}-{p.evr}.{p.arch}" for p in own]
        self.documents.append(document(name, stream, rpms, version, **document_keys))
        return self

    def text(self, *more):
        self.documents += more
        return self

    def package(self, *packages):
        self.packages += packages
        return self

    def write(self, directory):
        write(directory, self.packages, "".join(self.documents), self.groups)


def base():
    """What is no part of any module."""
    world = World().package(*kernel("1"))
    world.package(Package("bash", "5"), Package("nodejs", "99"), Package("plain-helper", "1"),
                  Package("uses-nodejs", "1", requires=[("nodejs", "", "")]),
                  Package("provides-ruby", "1", provides=[("ruby", "=", "0:50-1")]),
                  Package("uses-ruby", "1", requires=[("ruby", "", "")]))
    world.groups = {"tools": ["bash", "plain-helper"], "ruby": ["bash"], "Web-Server": ["plain-helper"]}
    return world


def appstream():
    """Streams with and without defaults, dependencies, contexts, versions, odd profiles."""
    world = World()
    common = {"common": ["nodejs", "npm"], "minimal": ["nodejs"], "development": ["nodejs", "npm", "nodejs-devel"]}
    for stream in ("18", "20", "22"):
        world.stream("nodejs", stream, ["nodejs", "npm", "nodejs-devel"], 1, profiles=common, release="1.module")
        world.stream("nodejs", stream, ["nodejs", "npm", "nodejs-devel"], 2, profiles=common, release="2.module")
    world.text(defaults("nodejs", None, {"18": ["common"], "20": ["common", "minimal"]}))
    # A default stream with a default profile; streams that depend on others.
    for stream in ("5.24", "5.26", "5.30"):
        world.stream("perl", stream, ["perl", "perl-libs"],
                     profiles={"common": ["perl"], "minimal": ["perl-libs"]})
    world.text(defaults("perl", "5.26", {"5.26": ["common"], "5.24": ["common", "minimal"], "5.30": ["absent"]}))
    for stream, perl in (("13", ["5.26"]), ("15", ["5.30"]), ("16", []), ("17", ["-5.26"])):
        world.stream("postgresql", stream, ["postgresql", "postgresql-server"], requires={"perl": perl},
                     profiles={"server": ["postgresql-server"], "client": ["postgresql"]})
    world.text(defaults("postgresql", "13", {s: ["server"] for s in ("13", "15", "16", "17")}))
    # Stream names that look like numbers.
    world.stream("ruby", "1.1", ["ruby"], profiles={"common": ["ruby"]}, quote=False)
    world.stream("ruby", "1.10", ["ruby"], profiles={"common": ["ruby"]}, quote=False)
    world.text(defaults("ruby", "1.10", {"1.10": ["common"], "1.1": ["common"]}))
    # Profiles: none, empty, of packages outside the module, of packages that nobody has.
    world.stream("bare", "1", ["bare"])
    world.stream("hollow", "1", ["hollow"], profiles={"default": []})
    world.text(defaults("hollow", "1", {"1": ["default"]}))
    world.stream("borrower", "1", ["borrower"], profiles={"default": ["borrower", "plain-helper"]})
    world.text(defaults("borrower", "1", {"1": ["default"]}))
    world.stream("hopeful", "1", ["hopeful"], profiles={"default": ["hopeful", "never-built"]})
    world.text(defaults("hopeful", "1", {"1": ["default"]}))
    world.stream("unset", "1", ["unset"], profiles={"default": ["unset"], "common": ["unset"]})
    # One stream in two contexts that need different streams of another module.
    world.stream("web", "1", ["web"], profiles={"common": ["web"]}, requires={"perl": ["5.24"]}, context="aaaaaaaa",
                 release="1.module.a")
    world.stream("web", "1", ["web"], profiles={"common": ["web"]}, requires={"perl": ["5.30"]}, context="bbbbbbbb",
                 release="1.module.b")
    world.text(defaults("web", None, {"1": ["common"]}))
    # Two alternatives; another platform; another architecture; a cycle; nothing that fulfils it.
    world.stream("choosy", "1", ["choosy"], profiles={"common": ["choosy"]}, requires={"nodejs": ["18", "20"]})
    world.text(defaults("choosy", None, {"1": ["common"]}))
    world.stream("legacy", "1", ["legacy"], profiles={"common": ["legacy"]}, requires=[{"platform": ["el8"]}])
    world.text(defaults("legacy", "1", {"1": ["common"]}))
    world.stream("foreign", "1", ["foreign"], profiles={"common": ["foreign"]}, arch="s390x")
    world.stream("ring-a", "1", ["ring-a"], profiles={"common": ["ring-a"]}, requires={"ring-b": ["1"]})
    world.stream("ring-b", "1", ["ring-b"], profiles={"common": ["ring-b"]}, requires={"ring-a": ["1"]})
    world.text(defaults("ring-a", None, {"1": ["common"]}))
    world.stream("orphan", "1", ["orphan"], profiles={"common": ["orphan"]}, requires={"gone": ["1"]})
    world.text(defaults("orphan", None, {"1": ["common"]}))
    # No defaults document at all, one stream; names with every character that is allowed.
    world.stream("mod_auth-x+y.z", "rhel-9_0", ["mod-auth"], package_version="9", profiles={"common": ["mod-auth"]})
    world.text(defaults("mod_auth-x+y.z", None, {"rhel-9_0": ["common"]}))
    world.text("---\ndocument: modulemd-translations\nversion: 1\ndata:\n  module: nodejs\n  stream: \"18\"\n"
               "  modified: 202001010000\n  translations:\n    nl:\n      summary: knoop\n      description: knoop\n"
               "      profiles: {}\n...\n")
    return world
