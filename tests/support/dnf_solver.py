"""dnf's solver in this process: many solves without starting dnf for each."""
import os

import dnf
import dnf.module.module_base
import libdnf.module

ERROR_IN_DEFAULTS = libdnf.module.ModulePackageContainer.ModuleErrorType_ERROR_IN_DEFAULTS


def solve(work, repositories, specs, streams=(), excludes=(), profiles=(), groups=(), settings=None, describe=None):
    """What dnf would install into an empty root.

    repositories: id → directory. specs: install specs. streams: "module:stream". profiles:
    "module:stream/profile". groups: what `dnf install` takes with "@" before it, modules or
    groups. settings: id → options of the repository.
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
        if groups:
            base.read_comps(arch_filter=True)
        if streams:
            _enable(modules, streams)
        if profiles:
            modules.install(list(profiles))
        if groups:
            _install_groups(base, modules, groups)
        for spec in specs:
            base.install(spec)
        base.resolve()
        return {describe(package, _nevra(package)) if describe else _nevra(package)
                for package in base.transaction.install_set}
    except (dnf.exceptions.Error, RuntimeError) as problem:
        return str(problem) or type(problem).__name__
    finally:
        base.close()


def _enable(modules, streams):
    """As `dnf module enable`: default streams that cannot be had, and nobody asked for, are no error."""
    try:
        modules.enable(list(streams))
    except dnf.exceptions.MarkingErrors as problem:
        solver = problem.module_depsolv_errors
        if problem.no_match_group_specs or problem.error_group_specs or solver and solver[1] != ERROR_IN_DEFAULTS:
            raise


def _install_groups(base, modules, groups):
    """As `dnf install @GROUP…`: modules first, what is none is a group."""
    unmatched = []
    try:
        modules.install(list(groups))
    except dnf.exceptions.MarkingErrors as problem:
        if problem.error_group_specs:
            raise
        unmatched = problem.no_match_group_specs
    if unmatched:
        base.env_group_install(list(unmatched), tuple(base.conf.group_package_types))


def _nevra(package):
    epoch = f"{package.epoch}:" if package.epoch else ""
    return f"{package.name}-{epoch}{package.version}-{package.release}.{package.arch}"
