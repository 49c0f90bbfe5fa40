"""A repository with an rpm that keeps its packages in Berkeley DB, as that of EL 8 does.

It is the lab's rpm, which reads such a database, with the defaults of rpm 4.14 and a stand-in for its rpmdb, which writes it
(tests/stand_in/rpmdb.cpp): newer than the lab's, so that images get it.
"""
import pathlib
import shutil
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tests/lab"))
from labtool import convert, rpm  # noqa: E402

MACROS = "%_db_backend bdb\n%_dbpath /var/lib/rpm\n"
VERSION = ("1", "4.14.3", "1")


def query(package, what):
    done = subprocess.run(["rpm", "-qp", "--nosignature", "--nodigest", what, package], text=True, stdout=subprocess.PIPE,
                          check=True)
    return done.stdout.splitlines()


def make(lab, repository, rpmdb):
    """Makes the repository, signed with the lab's key; `rpmdb` is the stand-in."""
    lab, repository = pathlib.Path(lab), pathlib.Path(repository)
    original = next((lab / "repos/baseos").glob("rpm-4.*.x86_64.rpm"))
    tree = repository.parent / "rpm-tree"
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    subprocess.run(f"rpm2cpio '{original}' | cpio -id --quiet", shell=True, cwd=tree, check=True)
    shutil.copy(rpmdb, tree / "usr/bin/rpmdb")
    macros = tree / "usr/lib/rpm/macros.d"
    for file in macros.iterdir():
        file.unlink()
    (macros / "macros.el8").write_text(MACROS)
    header = [f"Requires: {needed}" for needed in query(original, "--requires") if not needed.startswith("rpmlib(")]
    # What other packages of the lab ask for.
    header += [f"Provides: {offered}" for offered in query(original, "--provides") if offered.startswith("rpm")]
    text = convert.spec("rpm", VERSION, "rpm with Berkeley DB", "", header, rpm.file_list(tree))
    rpm.sign(lab, rpm.build_spec(lab, text, tree, repository))
    rpm.createrepo(lab, repository)
