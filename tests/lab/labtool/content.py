"""Content of packages that is made: the bundle of CA certificates, crypto policies, a container image."""

import hashlib
import io
import json
import pathlib
import shutil
import tarfile

from labtool import debs, rpm

TRUST_HEADER = """\
[p11-kit-object-v1]
trusted: true
x-distrusted: false
modifiable: false
certificate-category: authority
"""


def ca_trust(tree):
    """Debian's CA certificates in RHEL's layout: one source for p11-kit, no extracted bundles yet."""
    tree = pathlib.Path(tree)
    source = tree / "usr/share/pki/ca-trust-source"
    certificates = sorted((tree / "usr/share/ca-certificates").rglob("*.crt"))
    for folder in (source / "anchors", source / "blocklist", tree / "etc/pki/ca-trust/source/anchors",
                   tree / "etc/pki/ca-trust/source/blocklist", tree / "etc/pki/tls/certs"):
        folder.mkdir(parents=True)
    (source / "ca-bundle.trust.p11-kit").write_text(
        "".join(TRUST_HEADER + path.read_text(encoding="ascii").strip() + "\n\n" for path in certificates))
    for path in ("usr/share/ca-certificates", "etc/ca-certificates"):
        shutil.rmtree(tree / path)
    for path in ("etc/ca-certificates.conf", "usr/sbin/update-ca-certificates"):
        (tree / path).unlink(missing_ok=True)
    # The last is where Debian's programs look.
    for link in ("etc/pki/tls/certs/ca-bundle.crt", "etc/pki/tls/cert.pem", "etc/ssl/certs/ca-certificates.crt"):
        (tree / link).parent.mkdir(parents=True, exist_ok=True)
        (tree / link).symlink_to("/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem")


# Policy → (lowest protocol, bits of RSA keys, ciphers that OpenSSH may use).
CRYPTO_POLICIES = {
    "LEGACY": ("TLSv1", 1024, "aes256-gcm@openssh.com,chacha20-poly1305@openssh.com,aes256-ctr,aes256-cbc,aes128-cbc"),
    "DEFAULT": ("TLSv1.2", 2048, "aes256-gcm@openssh.com,chacha20-poly1305@openssh.com,aes256-ctr,aes128-ctr"),
    "FUTURE": ("TLSv1.2", 3072, "aes256-gcm@openssh.com,chacha20-poly1305@openssh.com,aes256-ctr"),
    "FIPS": ("TLSv1.2", 2048, "aes256-gcm@openssh.com,aes256-ctr,aes128-gcm@openssh.com,aes128-ctr"),
}


def crypto_policies(tree):
    """The policies of the stand-in for crypto-policies and what it gives the programs, with DEFAULT chosen."""
    tree = pathlib.Path(tree)
    data, state = tree / "usr/share/crypto-policies", tree / "etc/crypto-policies"
    for folder in (data / "policies/modules", state / "back-ends", state / "state", state / "local.d",
                   state / "policies/modules"):
        folder.mkdir(parents=True, exist_ok=True)
    for module in ("AD-SUPPORT", "NO-SHA1", "OSPP", "SHA1"):
        (data / f"policies/modules/{module}.pmod").write_text("# Stand-in of edgegpu's lab.\n")
    for policy, (protocol, bits, ciphers) in CRYPTO_POLICIES.items():
        (data / f"policies/{policy}.pol").write_text(
            f"# Stand-in of edgegpu's lab.\nmin_tls_version = {protocol}\nmin_rsa_size = {bits}\n")
        (data / policy).mkdir()
        for name, text in {
                "opensslcnf": f"MinProtocol = {protocol}\nMaxProtocol = TLSv1.3\n",
                "openssl": f"@SECLEVEL={1 if bits < 2048 else 2 if bits < 3072 else 3}:DEFAULT\n",
                "openssh": f"Ciphers {ciphers}\nRequiredRSASize {bits}\n",
                "opensshserver": f"Ciphers {ciphers}\nRequiredRSASize {bits}\n",
                "gnutls": f"[overrides]\ndisabled-version = {'none' if protocol == 'TLSv1' else 'tls1.1'}\n",
                "nss": f"config=\"disallow=ALL allow=tls-version-min={protocol.lower()}:rsa-min={bits}\"\n",
        }.items():
            (data / policy / f"{name}.txt").write_text(text)
    for name in ("openssl", "opensslcnf", "openssh", "opensshserver", "gnutls", "nss"):
        (state / f"back-ends/{name}.config").symlink_to(f"/usr/share/crypto-policies/DEFAULT/{name}.txt")
    for path in (data / "default-config", state / "config", state / "state/current"):
        path.write_text("DEFAULT\n")
    shutil.copyfile(data / "policies/DEFAULT.pol", state / "state/CURRENT.pol")


def _compile(lab, source, output, *options):
    """Compiles one C file to the same bytes wherever it is made."""
    output.parent.mkdir(parents=True, exist_ok=True)
    rpm.run(lab, ["gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-s", "-Wl,--build-id=none", *options,
                  f"-ffile-prefix-map={source.parent}=.", "-o", output, source])
    output.chmod(0o755)


def compile_static(lab, source, output):
    """Compiles one C file to a static program."""
    _compile(lab, source, output, "-static")


def compile_library(lab, source, output):
    """Compiles one C file to a shared library whose soname is its file's name."""
    _compile(lab, source, output, "-shared", "-fPIC", f"-Wl,-soname,{output.name}")


# Programs of the container image that busybox answers for.
APPLETS = "cat chmod cp dd echo env false find grep head id ln ls mkdir mount ps rm sh sleep stat tail test touch true uname".split()


def _entry(name, kind, mode, size=0, link=""):
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode, entry.size, entry.linkname = kind, mode, size, link
    entry.mtime = rpm.SOURCE_DATE_EPOCH
    return entry


def _layer(files):
    """A layer's tar: directories, `files` (name → (mode, content)), and busybox's links."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for folder in ("bin", "dev", "etc", "proc", "root", "run", "sys", "tmp", "usr", "var"):
            tar.addfile(_entry(folder, tarfile.DIRTYPE, 0o1777 if folder == "tmp" else 0o755))
        for name, (mode, content) in sorted(files.items()):
            tar.addfile(_entry(name, tarfile.REGTYPE, mode, len(content)), io.BytesIO(content))
        for applet in APPLETS:
            tar.addfile(_entry(f"bin/{applet}", tarfile.SYMTYPE, 0o777, link="busybox"))
    return packed.getvalue()


def container_image(lab, busybox, probe, tree):
    """/usr/share/lab/busybox.tar: an image of busybox and devprobe as an OCI archive.

    `busybox` is Debian's busybox-static, `probe` the C source of devprobe.
    """
    scratch = pathlib.Path(tree).with_name("container-image-parts")
    debs.unpack(lab, busybox, scratch)
    compile_static(lab, probe, scratch / "devprobe")
    layer = _layer({
        "bin/busybox": (0o755, (scratch / "bin/busybox").read_bytes()),
        "bin/devprobe": (0o755, (scratch / "devprobe").read_bytes()),
        "etc/passwd": (0o644, b"root:x:0:0:root:/root:/bin/sh\n"),
        "etc/group": (0o644, b"root:x:0:\n"),
    })
    shutil.rmtree(scratch)
    blobs = {}

    def blob(media, content):
        content = content if isinstance(content, bytes) else json.dumps(content, sort_keys=True).encode()
        digest = hashlib.sha256(content).hexdigest()
        blobs[f"blobs/sha256/{digest}"] = content
        return {"mediaType": f"application/vnd.oci.image.{media}", "digest": f"sha256:{digest}", "size": len(content)}

    about_layer = blob("layer.v1.tar", layer)
    config = blob("config.v1+json", {
        "architecture": "amd64", "os": "linux", "created": "2023-11-14T22:13:20Z",
        "config": {"Env": ["PATH=/bin"], "Cmd": ["/bin/sh"]},
        "rootfs": {"type": "layers", "diff_ids": [about_layer["digest"]]},
        "history": [{"created": "2023-11-14T22:13:20Z", "created_by": "edgegpu lab"}]})
    manifest = blob("manifest.v1+json", {
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": config,
        "layers": [about_layer]})
    index = {"schemaVersion": 2, "manifests": [
        {**manifest, "annotations": {"org.opencontainers.image.ref.name": "localhost/lab/busybox:latest"}}]}
    blobs["index.json"] = json.dumps(index, sort_keys=True).encode()
    blobs["oci-layout"] = b'{"imageLayoutVersion": "1.0.0"}'
    target = pathlib.Path(tree) / "usr/share/lab/busybox.tar"
    target.parent.mkdir(parents=True)
    with tarfile.open(target, "w", format=tarfile.USTAR_FORMAT) as tar:
        for name, content in sorted(blobs.items()):
            tar.addfile(_entry(name, tarfile.REGTYPE, 0o644, len(content)), io.BytesIO(content))
