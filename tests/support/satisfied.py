"""Whether a set of packages satisfies every dependency in it: no solver, just a look at each."""
import re

OPERATORS = {"<": lambda c: c < 0, "<=": lambda c: c <= 0, "=": lambda c: c == 0,
             ">=": lambda c: c >= 0, ">": lambda c: c > 0}


def _segments(text):
    return re.findall(r"\d+|[a-zA-Z]+", text)


def _compare_text(left, right):
    """rpmvercmp without tilde and caret, which made-up packages do not have."""
    for a, b in zip(_segments(left), _segments(right)):
        if a.isdigit() != b.isdigit():
            return 1 if a.isdigit() else -1
        key = (int(a), int(b)) if a.isdigit() else (a, b)
        if key[0] != key[1]:
            return 1 if key[0] > key[1] else -1
    return len(_segments(left)) - len(_segments(right))


def compare(left, right):
    """Compares "epoch:version-release"; a side without release fits any release."""
    parts = []
    for evr in (left, right):
        epoch, _, rest = evr.rpartition(":")
        version, _, release = rest.partition("-")
        parts.append((int(epoch or 0), version, release))
    (e1, v1, r1), (e2, v2, r2) = parts
    if e1 != e2:
        return e1 - e2
    order = _compare_text(v1, v2)
    return order or (_compare_text(r1, r2) if r1 and r2 else 0)


def _ranges_meet(operator, evr, provided_operator, provided):
    if not operator or not provided_operator:
        return True
    assert provided_operator == "=", "made-up packages provide exact versions"
    return OPERATORS[operator](compare(provided, evr))


def fulfils(package, dependency):
    """Whether one package fulfils a plain dependency."""
    name, operator, evr = dependency
    if name.startswith("/") and name in package.files:
        return True
    return any(name == provided and _ranges_meet(operator, evr, op, version)
               for provided, op, version in package.all_provides())


def holds(packages, dependency):
    """Whether a set fulfils a dependency, which may be rich."""
    if isinstance(dependency, str):
        left, word, right = dependency.strip("()").split()
        a, b = (any(fulfils(p, (name, "", "")) for p in packages) for name in (left, right))
        return {"or": a or b, "and": a and b, "if": a or not b}[word]
    return any(fulfils(p, dependency) for p in packages)


def violations(packages, requests):
    """What is wrong with a solution, a line each."""
    found = []
    names = [p.name for p in packages]
    found += [f"two versions of {name}" for name in sorted(set(names)) if names.count(name) > 1]
    found += [f"{name} was asked for" for name in requests
              if not any(fulfils(p, (name, "", "")) for p in packages)]
    for package in packages:
        others = [p for p in packages if p is not package]
        found += [f"{package.nevra} requires {d}" for d in package.requires if not holds(packages, d)]
        found += [f"{package.nevra} conflicts with {d}" for d in package.conflicts if holds(others, d)]
        for name, operator, evr in package.obsoletes:
            found += [f"{package.nevra} obsoletes {other.nevra}" for other in others if other.name == name
                      and (not operator or OPERATORS[operator](compare(other.evr, evr)))]
    return found
