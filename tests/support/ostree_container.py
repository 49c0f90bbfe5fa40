#!/usr/bin/python3
"""An importer of ostree's container format, as strict as those of rpm-ostree and bootc, and independent of edgegpu.

Usage: ostree_container.py LAYOUT REPOSITORY   (an OCI image layout; an archive repository, which is made)
Rebuilds the commit, checks every digest, diff id and object on the way, and prints the commit's checksum."""
import gzip
import hashlib
import json
import pathlib
import re
import struct
import subprocess
import sys
import tarfile
import zlib

REPOSITORY = "sysroot/ostree/repo/"
OBJECT = re.compile(r"objects/([0-9a-f]{2})/([0-9a-f]{62})\.(commit|commitmeta|dirtree|dirmeta|file|file-xattrs|file-xattrs-link)$")


class Malformed(Exception):
    """The image is not in the format."""


def require(good, *what):
    if not good:
        raise Malformed(" ".join(map(str, what)))


def gvariant(fixed, target, xattrs):
    """A tuple of numbers, a string and an array of bytes, which are at no alignment: one framing offset, where the string ends."""
    body = fixed + target.encode() + b"\0"
    end = len(body)
    for size in (1, 2, 4):
        if len(body) + len(xattrs) + size < 1 << 8 * size:
            return body + xattrs + end.to_bytes(size, "little")
    raise Malformed("too large")


def framed(header):
    return struct.pack(">II", len(header), 0) + header


class Layout:
    """An OCI image layout with one image; every blob is checked when it is read."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        require(json.loads((self.path / "oci-layout").read_text()) == {"imageLayoutVersion": "1.0.0"}, "oci-layout")
        index = json.loads((self.path / "index.json").read_text())
        require(len(index["manifests"]) == 1, "index.json")
        self.descriptor = index["manifests"][0]
        self.manifest = json.loads(self.blob(self.descriptor))
        self.config = json.loads(self.blob(self.manifest["config"]))
        self.labels = self.config["config"]["Labels"]
        self.layers = self.manifest["layers"]
        require(len(self.layers) == len(self.config["rootfs"]["diff_ids"]) == len(self.config["history"]), "numbers of layers")
        blobs = {self.descriptor["digest"], self.manifest["config"]["digest"], *(layer["digest"] for layer in self.layers)}
        found = {"sha256:" + path.name for path in (self.path / "blobs/sha256").iterdir()}
        require(blobs == found, "blobs", blobs ^ found)

    def blob(self, descriptor):
        content = (self.path / "blobs/sha256" / descriptor["digest"].removeprefix("sha256:")).read_bytes()
        require("sha256:" + hashlib.sha256(content).hexdigest() == descriptor["digest"], "digest of", descriptor)
        require(len(content) == descriptor["size"], "size of", descriptor)
        return content

    def archive(self, number):
        """The tar archive of a layer."""
        compressed = self.blob(self.layers[number])
        require(compressed[4:8] == bytes(4) and compressed[3] == 0, "a time or a name in the header of gzip")
        content = gzip.decompress(compressed)
        # One member: not all importers go on behind the first.
        inflater = zlib.decompressobj(wbits=31)
        require(len(inflater.decompress(compressed)) == len(content) and not inflater.unused_data, "several members of gzip")
        require("sha256:" + hashlib.sha256(content).hexdigest() == self.config["rootfs"]["diff_ids"][number], "diff id", number)
        return content


class Importer:
    """Writes objects to an archive repository; `view` is what an ordinary container sees: path → facts."""

    def __init__(self, layout, repository):
        self.layout, self.repository = layout, pathlib.Path(repository)
        self.commit, self.view, self.written = None, {}, set()

    def run(self):
        final = self.layout.labels["ostree.final-diffid"]
        require(final == self.layout.config["rootfs"]["diff_ids"][-1], "ostree.final-diffid", final)
        subprocess.run(["ostree", f"--repo={self.repository}", "init", "--mode=archive"], check=True)
        for number in range(len(self.layout.layers)):
            self.layer(number)
        require(self.layout.labels["ostree.commit"] == self.commit, "ostree.commit")
        return self.commit

    def layer(self, number):
        with tarfile.open(fileobj=FileOfBytes(self.layout.archive(number))) as archive:
            self.xattrs, self.next_xattrs, self.members, self.at = {}, None, {}, 0
            for member in archive:
                require(not member.name.startswith("/") and ".." not in member.name.split("/"), "path", member.name)
                require(member.mtime == 0 and not member.uname and not member.gname, "time or names of owners of", member.name)
                require(not member.pax_headers, "pax headers of", member.name)
                name = member.name.removeprefix("./")
                content = archive.extractfile(member).read() if member.isreg() else b""
                require(member.isdir() or name not in self.members, "twice:", name)
                self.members[name] = (member, content)
                if name.startswith(REPOSITORY) and not member.isdir():
                    self.in_repository(number, name.removeprefix(REPOSITORY), member, content)
                else:
                    self.in_tree(name, member, content)
            require(self.next_xattrs is None, "attributes without a file")

    def in_tree(self, name, member, content):
        facts = (member.mode, member.uid, member.gid)
        if member.isdir():
            require(same_directory(self.view.get(name), facts), "a directory that differs between layers:", name)
            self.view[name] = ("directory", *facts)
            return
        require(name not in self.view, "twice:", name)
        require(member.isreg() and not content or member.islnk(), "neither link nor empty:", name)
        if member.islnk():
            require(member.linkname in self.members, "a link to nothing:", name)
            target, content = self.members[member.linkname]
            require(not target.islnk() and facts == (target.mode, target.uid, target.gid), "another mode or owner than its object:", name)
            member = target
        self.view[name] = (("link", member.linkname) if member.issym() else ("file", hashlib.sha256(content).hexdigest())) + facts

    def in_repository(self, number, name, member, content):
        if name == "config":
            require(content == b"[core]\nrepo_version=1\nmode=bare-split-xattrs\n", "config", content)
            return
        match = OBJECT.match(name)
        require(match, "not an object:", name)
        checksum, kind = match[1] + match[2], match[3]
        self.at += 1
        if kind.startswith("file-xattrs"):
            self.attributes(kind, checksum, member, content)
        elif kind == "file":
            self.file(checksum, member, content)
        else:
            require(number == 0, "metadata in a layer of files:", name)
            require((kind == "commit") == (self.at == 1), "the commit is not the first object")
            require(kind != "commitmeta" or self.at == 2, "detached metadata not behind the commit")
            require(kind == "commitmeta" or hashlib.sha256(content).hexdigest() == checksum, "checksum of", name)
            self.commit = checksum if kind == "commit" else self.commit
            self.write(checksum, kind, content)

    def attributes(self, kind, checksum, member, content):
        if kind == "file-xattrs":
            require(hashlib.sha256(content).hexdigest() == checksum, "checksum of attributes", checksum)
            self.xattrs[checksum] = content
            return
        require(member.islnk() and self.next_xattrs is None, "link to attributes", checksum)
        target = OBJECT.match(member.linkname.removeprefix(REPOSITORY))
        require(target and target[3] == "file-xattrs", "link to attributes", member.linkname)
        self.next_xattrs = (checksum, self.xattrs[target[1] + target[2]])

    def file(self, checksum, member, content):
        require(self.next_xattrs and self.next_xattrs[0] == checksum, "no attributes before", checksum)
        xattrs, self.next_xattrs = self.next_xattrs[1], None
        require(member.isreg() or member.issym(), "type of", checksum)
        mode = member.mode | (0o120000 if member.issym() else 0o100000)
        target = member.linkname if member.issym() else ""
        numbers = struct.pack(">IIII", member.uid, member.gid, mode, 0)
        digest = hashlib.sha256(framed(gvariant(numbers, target, xattrs)) + content).hexdigest()
        require(digest == checksum, "checksum of", checksum, "is", digest)
        deflater = zlib.compressobj(1, wbits=-15)
        header = framed(gvariant(struct.pack(">Q", len(content)) + numbers, target, xattrs))
        self.write(checksum, "filez", header + (deflater.compress(content) + deflater.flush() if member.isreg() else b""))

    def write(self, checksum, kind, content):
        require((checksum, kind) not in self.written, "object in two layers:", checksum, kind)
        self.written.add((checksum, kind))
        path = self.repository / "objects" / checksum[:2] / f"{checksum[2:]}.{kind}"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)


def same_directory(seen, facts):
    return seen is None or seen == ("directory", *facts)


class FileOfBytes:
    """What tarfile needs of a file, without a copy."""

    def __init__(self, content):
        self.content, self.position = memoryview(content), 0

    def read(self, size=-1):
        end = len(self.content) if size < 0 else min(self.position + size, len(self.content))
        piece = bytes(self.content[self.position:end])
        self.position = end
        return piece

    def seek(self, position, whence=0):
        self.position = position + (0, self.position, len(self.content))[whence]
        return self.position

    def tell(self):
        return self.position


def main():
    try:
        importer = Importer(Layout(sys.argv[1]), sys.argv[2])
        print(importer.run())
    except Malformed as wrong:
        sys.exit(f"malformed: {wrong}")


if __name__ == "__main__":
    main()
