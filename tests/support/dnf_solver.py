"""dnf's solver in this process: many solves without starting dnf for each."""
import os

import dnf
import dnf.module.module_base


def solve(work, repositories, specs, streams=(), excludes=(), profiles=(), groups=(), settings=None, describe=None):
    """What dnf would install into an empty root.

    repositories: id → directory. specs: install specs. streams: "module:stream". profiles:
    "module:stream/profile". groups: ids of package groups. settings: id → options of the repository.
    Returns the set of NEVRAs as edgegpu writes them, or of what describe(package, nevra) makes of
    them, or the text of dnf's refusal.
    """
    (work / "log").mkdir(parents=True, exist_ok=True)
    os.environ["HOME"] = str(work)
    base = dnf.Base()
    conf = base.conf
    conf.installroot = str(work / "root")
    conf.cachedir = str(work / "cache")
    conf.persistdir = str(work / "persist")
    conf.logdir = str(work / "log")
    conf.reposdir = []
    conf.plugins = False
    conf.install_weak_deps = False
    conf.best = False
    # An image has one kernel; dnf would install two where each fits something.
    conf.installonlypkgs = []
    conf.gpgcheck = False
    conf.module_platform_id = "platform:el9"
    conf.excludepkgs = list(excludes)
    conf.substitutions["releasever"] = "9"
    conf.substitutions["arch"] = conf.substitutions["basearch"] = "x86_64"
    try:
        for ident, directory in repositories.items():
            base.repos.add_new_repo(ident, conf, baseurl=[f"file://{directory}"], gpgcheck=False,
                                    **(settings or {}).get(ident, {}))
        base.fill_sack(load_system_repo=False)
        modules = dnf.module.module_base.ModuleBase(base)
        if streams:
            modules.enable(list(streams))
        if profiles:
            modules.install(list(profiles))
        for spec in specs:
            base.install(spec)
        if groups:
            base.read_comps()
        for group in groups:
            found = base.comps.group_by_pattern(group)
            if found is None:
                return f"no group {group}"
            base.group_install(found.id, ("mandatory", "default"))
        base.resolve()
        return {describe(package, _nevra(package)) if describe else _nevra(package)
                for package in base.transaction.install_set}
    except (dnf.exceptions.Error, RuntimeError) as problem:
        return str(problem) or type(problem).__name__
    finally:
        base.close()


def _nevra(package):
    epoch = f"{package.epoch}:" if package.epoch else ""
    return f"{package.name}-{epoch}{package.version}-{package.release}.{package.arch}"
