"""Turns the templates of specs/ and sources/ into spec texts and finished build roots."""

import os
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent.parent
SPECS = HERE / "specs"
SOURCES = HERE / "sources"

MARK = re.compile(r"@([A-Za-z][A-Za-z0-9_-]*)@")

LISTED = re.compile(r"^(?=.*%(?:dir|ghost)\b)(?:%\w+(?:\([^)]*\))?\s+)+(/\S+)$")


def substitute(text, values, name):
    """Replaces every @KEY@ of `text`; a KEY that `values` lacks is an error that names `name`."""

    def value_of(match):
        if match.group(1) not in values:
            raise KeyError(f"{name}: no value for {match.group(0)}")
        return str(values[match.group(1)])

    return MARK.sub(value_of, text)


def make_directory(path, top):
    """Makes `path` and its parents below `top` with mode 0755, whatever the umask."""
    path = pathlib.Path(path)
    if path == top or path.is_dir():
        return
    make_directory(path.parent, top)
    path.mkdir()
    path.chmod(0o755)


def write_file(path, content, top, executable=False):
    """Writes `content` (str or bytes) to `path` below `top` with mode 0644 or 0755."""
    make_directory(path.parent, top)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    path.chmod(0o755 if executable else 0o644)


def expand_sources(name, root, values):
    """Copies sources/NAME into `root`, filling in @KEY@ in file names and contents."""
    source = SOURCES / name
    root = pathlib.Path(root)
    root.mkdir(parents=True, exist_ok=True)
    for file in sorted(p for p in source.rglob("*") if p.is_file()):
        where = substitute(str(file.relative_to(source)), values, str(file))
        text = substitute(file.read_text(encoding="utf-8"), values, str(file))
        write_file(root / where, text, root, os.access(file, os.X_OK))


def read_spec(name, values):
    """The text of specs/NAME.spec.in filled in; root owns every file unless the spec says otherwise."""
    text = substitute((SPECS / f"{name}.spec.in").read_text(encoding="utf-8"), values, name)
    return re.sub(r"^(%files\b.*)$", r"\1\n%defattr(-,root,root,-)", text, flags=re.M)


def make_listed(spec_text, root):
    """Makes the directories and ghosts that %files lists, for git keeps no empty directory."""
    root = pathlib.Path(root)
    for line in spec_text.splitlines():
        match = LISTED.match(line)
        if not match:
            continue
        path = root / match.group(1)[1:]
        if "%dir" in line:
            make_directory(path, root)
        elif not path.exists():
            write_file(path, "", root)
