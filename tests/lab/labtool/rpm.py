"""Build, sign and index RPM packages with the lab's key.

Everything here works on a *lab directory* (by default build/lab) with this layout:

    gnupg/             home of the lab's GPG key (made once)
    RPM-GPG-KEY-lab    the public half, armoured
    rpmmacros          macros for rpmbuild and rpmsign (payload, signing, dependency generators)
    repos/NAME/        one repository: *.rpm and repodata/ with repomd.xml.asc

A caller outside this package needs `sys.path.insert(0, "tests/lab")` and then
`from labtool import rpm`.
"""

import os
import pathlib
import re
import shutil
import stat
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor

KEY_UID = "edgegpu lab <lab@example.invalid>"

# Every time stamp in the lab is this or older, so that the same .debs give the same payloads.
SOURCE_DATE_EPOCH = 1700000000

# What gpg is told the time is: a signature of the same package by the same key is the same bytes.
FIXED_CLOCK = ["--faked-system-time", f"{SOURCE_DATE_EPOCH}!"]

PAYLOAD_ZSTD = "w3.zstdio"
PAYLOAD_XZ = "w2.xzdio"

MACROS = """\
%_gpg_name {uid}
%_gpg_path {gnupg}
%_gpg_digest_algo sha256
%_gpg_sign_cmd_extra_args --faked-system-time {epoch}!
%__gpg /usr/bin/gpg
%_binary_payload {zstd}
%_source_payload {zstd}
%_buildhost lab.example.invalid
%use_source_date_epoch_as_buildtime 1
%clamp_mtime_to_source_date_epoch 1
%source_date_epoch_from_changelog 0
%_build_id_links none
%debug_package %{{nil}}
%__os_install_post %{{nil}}
%_rpmfilename %%{{NAME}}-%%{{VERSION}}-%%{{RELEASE}}.%%{{ARCH}}.rpm
%_binary_filedigest_algorithm 8
%_missing_doc_files_terminate_build 0
%__brp_mangle_shebangs %{{nil}}
%__elf_exclude_path ^/usr/lib/modules/
%__perl_requires %{{nil}}
%__pkgconfig_path ^/usr/(lib/x86_64-linux-gnu|lib|share)/pkgconfig/.*\\.pc$
%__pythondist_path ^/usr/lib/python3/dist-packages/[^/]+\\.(dist-info|egg-info)$
%__pythondist_provides {tools}/pythondist --provides --majorver-provides
%__pythondist_requires %{{nil}}
%__requires_exclude ^(/bin/dash|/usr/bin/perl|/usr/bin/pkg-config|/usr/local/bin/.*|libatm[.]so.*)$
%__transaction_systemd_inhibit %{{nil}}
%dist .el12
%vendor edgegpu lab
%packager edgegpu lab
"""


class LabError(Exception):
    """A step of making the lab failed; the text says which and shows its output."""


def build_env(lab):
    """The environment in which the lab's tools run: fixed locale, time zone, clock and key."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "LANG"))}
    env.update(
        LC_ALL="C.UTF-8",
        TZ="UTC",
        SOURCE_DATE_EPOCH=str(SOURCE_DATE_EPOCH),
        GNUPGHOME=str(pathlib.Path(lab).resolve() / "gnupg"),
    )
    return env


def run(lab, command, **kwargs):
    """Runs `command` in the lab's environment; raises LabError with its output when it fails."""
    done = subprocess.run(
        [str(c) for c in command],
        env=kwargs.pop("env", None) or build_env(lab),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        **kwargs,
    )
    if done.returncode != 0:
        shown = " ".join(str(c) for c in command)[:300]
        raise LabError(f"{shown}: exit status {done.returncode}\n{done.stdout[-4000:]}")
    return done.stdout


def setup_signing(lab):
    """Makes the lab's key, its exported public half and `rpmmacros`, unless they are there.

    The key bears the lab's fixed date, so that it is valid for signatures of that date.
    """
    lab = pathlib.Path(lab).resolve()
    home = lab / "gnupg"
    public = lab / "RPM-GPG-KEY-lab"
    if not (public.exists() and key_date(lab) == SOURCE_DATE_EPOCH):
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True, mode=0o700)
        os.chmod(home, 0o700)
        run(lab, ["gpg", "--batch", "--quiet", *FIXED_CLOCK, "--passphrase", "",
                  "--quick-generate-key", KEY_UID, "rsa3072", "sign", "never"])
        armoured = run(lab, ["gpg", "--batch", "--armor", "--export", KEY_UID])
        write_atomic(public, armoured)
    write_atomic(
        lab / "rpmmacros",
        MACROS.format(uid=KEY_UID, gnupg=home, zstd=PAYLOAD_ZSTD, epoch=SOURCE_DATE_EPOCH,
                      tools=pathlib.Path(__file__).resolve().parent),
    )


def key_date(lab):
    """When the lab's key was made, in seconds since 1970; None where there is no key."""
    if not (pathlib.Path(lab) / "gnupg").is_dir():
        return None
    listed = run(lab, ["gpg", "--batch", "--quiet", "--no-auto-check-trustdb", "--with-colons",
                       "--list-secret-keys"])
    dates = [line.split(":")[5] for line in listed.splitlines() if line.startswith("sec:")]
    return int(dates[0]) if len(dates) == 1 and dates[0].isdigit() else None


def write_atomic(path, text):
    """Writes `text` to `path` so that a reader sees the old file or the whole new one."""
    path = pathlib.Path(path)
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    part.chmod(0o644)
    os.replace(part, path)


def clamp_times(tree):
    """Gives everything under `tree` that is newer than SOURCE_DATE_EPOCH that time."""
    for folder, names, files in os.walk(tree, topdown=False):
        for name in names + files:
            path = os.path.join(folder, name)
            if os.lstat(path).st_mtime > SOURCE_DATE_EPOCH:
                os.utime(path, (SOURCE_DATE_EPOCH,) * 2, follow_symlinks=False)


def file_list(tree, attributes=None, skip_dirs=()):
    """The lines of a %files section that owns all of `tree`, sorted by path.

    `attributes` maps a path ("/usr/bin/sudo") to what stands before it in the section
    ("%attr(4111,root,root)", "%config(noreplace)", "%ghost", ...). Modes are otherwise those on
    disk and the owner is root. Directories in `skip_dirs` (owned by another package, such as
    `filesystem`) are left out.
    """
    attributes = attributes or {}
    lines = ["%defattr(-,root,root,-)"]
    seen = []
    for folder, names, files in os.walk(tree):
        names.sort()
        for name in names + files:
            seen.append("/" + os.path.relpath(os.path.join(folder, name), tree))
    for path in sorted(seen):
        full = os.path.join(tree, path[1:])
        is_dir = stat.S_ISDIR(os.lstat(full).st_mode)
        extra = attributes.get(path, "")
        if is_dir and path in skip_dirs and not extra:
            continue
        if is_dir:
            extra = ("%dir " + extra).strip()
        quoted = path.replace("%", "%%")
        if any(c in path for c in " \t'*?[]{}"):
            quoted = f'"{quoted}"'
        lines.append(f"{extra} {quoted}".strip())
    return lines


def build_spec(lab, spec_text, buildroot, rpms_dir, payload=None):
    """Builds the binary packages of `spec_text` and returns their paths, unsigned.

    A package for all architectures says `BuildArch: noarch` itself (rpmbuild's --target would
    forget the macros loaded from `rpmmacros`).

    `buildroot` is a finished tree, one for all packages of the spec: the spec needs no %prep,
    %build or %install, only a header, %files and scriptlets. It is used up (rpmbuild removes
    it). `rpms_dir` receives the .rpm files. `payload` is an rpm payload setting
    (PAYLOAD_ZSTD when None). Raises LabError with rpmbuild's output.
    """
    lab = pathlib.Path(lab).resolve()
    rpms_dir = pathlib.Path(rpms_dir).resolve()
    rpms_dir.mkdir(parents=True, exist_ok=True)
    buildroot = pathlib.Path(buildroot).resolve()
    buildroot.mkdir(parents=True, exist_ok=True)
    clamp_times(buildroot)
    with tempfile.TemporaryDirectory(prefix="rpmbuild-", dir=lab) as top:
        spec = pathlib.Path(top, "lab.spec")
        spec.write_text(spec_text, encoding="utf-8")
        out = pathlib.Path(top, "out")
        run(lab, [
            "rpmbuild", "-bb", "--quiet", "--noclean",
            f"--load={lab / 'rpmmacros'}",
            "--define", f"_topdir {top}",
            "--define", f"_rpmdir {out}",
            "--define", f"_binary_payload {payload or PAYLOAD_ZSTD}",
            "--buildroot", buildroot, spec,
        ])
        made = []
        for rpm in sorted(out.glob("*.rpm")):
            os.replace(rpm, rpms_dir / rpm.name)
            made.append(rpms_dir / rpm.name)
    shutil.rmtree(buildroot, ignore_errors=True)
    if not made:
        raise LabError("rpmbuild made no package:\n" + spec_text[:400])
    return made


def sign(lab, rpms, jobs=2):
    """Signs the given packages in place with the lab's key."""
    lab = pathlib.Path(lab).resolve()
    rpms = sorted(str(r) for r in rpms)
    # Two rpmsign processes that both find no agent would race to start one.
    run(lab, ["gpgconf", "--launch", "gpg-agent"])
    chunks = [rpms[i::jobs] for i in range(jobs) if rpms[i::jobs]]
    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(
            lambda c: run(lab, ["rpmsign", "--addsign", f"--load={lab / 'rpmmacros'}"] + c),
            chunks))


def createrepo(lab, repo, comps=None, updateinfo=None, modules=None, checksum="sha256"):
    """(Re)makes the metadata of the repository directory `repo` and signs repomd.xml.

    `comps`, `updateinfo` and `modules` are paths of comps.xml, updateinfo.xml and modules.yaml,
    or None. `checksum` is the kind of all checksums, of packages and of metadata.
    """
    repo = pathlib.Path(repo).resolve()
    shutil.rmtree(repo / "repodata", ignore_errors=True)
    # The metadata says when each file was written.
    for package in repo.glob("*.rpm"):
        os.utime(package, (SOURCE_DATE_EPOCH,) * 2)
    command = ["createrepo_c", "--quiet", "--workers", "2", "--no-database", "--set-timestamp-to-revision",
               "--revision", str(SOURCE_DATE_EPOCH), "--general-compress-type", "gz",
               "--checksum", checksum, "--repomd-checksum", checksum]
    if comps:
        command += ["--groupfile", comps]
    run(lab, command + [repo])
    for path, kind in ((updateinfo, "updateinfo"), (modules, "modules")):
        if path:
            run(lab, ["modifyrepo_c", "--mdtype", kind, "--compress-type", "gz",
                      "--checksum", checksum, path, repo / "repodata"])
    # modifyrepo_c says when it wrote a file.
    repomd = repo / "repodata" / "repomd.xml"
    text = repomd.read_text(encoding="utf-8")
    write_atomic(repomd, re.sub(r"<timestamp>\d+</timestamp>", f"<timestamp>{SOURCE_DATE_EPOCH}</timestamp>", text))
    sign_repomd(lab, repo)


def sign_repomd(lab, repo):
    """Writes repodata/repomd.xml.asc, the detached signature that dnf's repo_gpgcheck reads."""
    repomd = pathlib.Path(repo) / "repodata" / "repomd.xml"
    asc = repomd.with_name("repomd.xml.asc")
    asc.unlink(missing_ok=True)
    run(lab, ["gpg", "--batch", "--quiet", *FIXED_CLOCK, "--local-user", KEY_UID, "--armor",
              "--detach-sign", "--output", asc, repomd])
