"""Container images as OCI image layouts, made of files in memory; each gives the same bytes every time."""
import gzip
import hashlib
import io
import json
import pathlib
import tarfile

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"


def directory(name, mode=0o755):
    return name, tarfile.DIRTYPE, mode, b"", ""


def file(name, content, mode=0o644):
    return name, tarfile.REGTYPE, mode, content if isinstance(content, bytes) else content.encode(), ""


def link(name, target):
    return name, tarfile.SYMTYPE, 0o777, b"", target


def hard_link(name, target):
    return name, tarfile.LNKTYPE, 0o644, b"", target


def layer(*members):
    """A tar archive; owners are root, times 0."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, kind, mode, content, target in members:
            info = tarfile.TarInfo(name)
            info.type, info.mode, info.size, info.linkname = kind, mode, len(content), target
            archive.addfile(info, io.BytesIO(content))
    return raw.getvalue()


class Layout:
    """An OCI image layout. Images are added under tags; descriptors are returned for indexes."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        (self.path / "blobs/sha256").mkdir(parents=True)
        (self.path / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
        self.manifests = []
        self._write_index()

    def _write_index(self):
        (self.path / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": self.manifests}))

    def _blob(self, content, media_type):
        digest = hashlib.sha256(content).hexdigest()
        (self.path / "blobs/sha256" / digest).write_bytes(content)
        return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": len(content)}

    def _document(self, value, media_type):
        return self._blob(json.dumps({"schemaVersion": 2, "mediaType": media_type, **value}).encode(), media_type)

    def _tag(self, descriptor, tag):
        if tag:
            self.manifests = [one for one in self.manifests if one["annotations"]["org.opencontainers.image.ref.name"] != tag]
            self.manifests.append({**descriptor, "annotations": {"org.opencontainers.image.ref.name": tag}})
            self._write_index()

    def image(self, layers, tag="", architecture="amd64", command=("/bin/sh",)):
        config = {"architecture": architecture, "os": "linux", "created": "2024-01-01T00:00:00Z",
                  "config": {"Cmd": list(command), "Env": ["PATH=/bin"]},
                  "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(one).hexdigest()}" for one in layers]},
                  "history": [{"created_by": "test"} for _ in layers]}
        descriptor = self._document({"config": self._blob(json.dumps(config).encode(), CONFIG),
                                     "layers": [self._blob(gzip.compress(one, mtime=0), LAYER) for one in layers]}, MANIFEST)
        self._tag(descriptor, tag)
        return {**descriptor, "platform": {"os": "linux", "architecture": architecture}}

    def index(self, images, tag):
        descriptor = self._document({"manifests": images}, INDEX)
        self._tag(descriptor, tag)
        return descriptor
