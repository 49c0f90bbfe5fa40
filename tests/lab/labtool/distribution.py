"""Make the lab's `baseos` repository: converted packages, kernels, policy, the lab's own."""

import json
import os
import pathlib
import shutil
from concurrent.futures import ThreadPoolExecutor

from labtool import base, convert, debs, kernel, metadata, rpm, selinux


class Distribution:
    """One run: where things are, what was resolved, which jobs are to be done."""

    def __init__(self, lab, sources, config, jobs):
        self.lab, self.sources = pathlib.Path(lab).resolve(), pathlib.Path(sources)
        self.config, self.jobs = config, jobs
        self.work = self.lab / "work"
        self.rpms = self.lab / "repos" / "baseos.part"
        self.kernels = debs.kernels(self.lab)
        extra = [f"linux-{kind}-{k}" for k in self.kernels for kind in ("image", "headers")]
        self.packages = debs.resolve(self.lab, config["seeds"], extra)
        self.paths, self.controls, self.translator = {}, {}, None

    def make(self):
        """Builds everything and publishes repos/baseos."""
        shutil.rmtree(self.work, ignore_errors=True)
        shutil.rmtree(self.rpms, ignore_errors=True)
        self.work.mkdir(parents=True)
        self.rpms.mkdir(parents=True)
        self.paths = debs.download(self.lab, self.lab / "debs", self.packages)
        self.controls = {n: debs.control(p) for n, p in self.paths.items()}
        self.translator = convert.Translator(self.config, self._convertible())
        tasks = [(self._kernel, k) for k in self.kernels] + [(self._policy, None)]
        tasks += [(self._own, f) for f in sorted((self.sources / "packages").iterdir())
                  if (f / "package").is_file() and f.name != "container-selinux"]
        tasks += [(self._converted, n) for n in self._groups()]
        with ThreadPoolExecutor(self.jobs) as pool:
            running = [pool.submit(task, argument) for task, argument in tasks]
            try:
                for done in running:
                    done.result()
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
        rpm.sign(self.lab, self.rpms.glob("*.rpm"), self.jobs)
        self._metadata()
        final = self.lab / "repos" / "baseos"
        shutil.rmtree(final, ignore_errors=True)
        os.rename(self.rpms, final)
        self._kernels_json()
        shutil.rmtree(self.work, ignore_errors=True)

    def _convertible(self):
        special = ("linux-image-", "linux-headers-")
        return {n: c for n, c in self.controls.items() if not n.startswith(special)}

    def _groups(self):
        """{rpm name: [Debian names]} of what is converted package by package."""
        skip = set(self.config["left_out"]) | set(self.config["handled_elsewhere"])
        groups = {}
        for name in sorted(self._convertible()):
            if name not in skip:
                groups.setdefault(self.translator.rpm_name(name), []).append(name)
        for merged, parts in self.config["merge"].items():
            if merged in groups:
                groups[merged].sort(key=lambda n: parts.index(n) if n in parts else 99)
        self.groups = groups
        return groups

    def _build(self, name, text, tree):
        payload = rpm.PAYLOAD_XZ if name in self.config["payload"]["xz"] else None
        rpm.build_spec(self.lab, text, tree, self.rpms, payload)

    def _converted(self, name):
        parts = self.groups[name]
        tree = self.work / f"deb-{name}"
        conffiles = []
        for part in parts:
            debs.unpack(self.lab, self.paths[part], tree)
            conffiles += debs.conffiles(self.lab, self.paths[part])
        convert.merge_usr(tree)
        convert.prune(tree, parts)
        metadata.adapt(name, tree)
        folder = self.sources / "packages" / name
        base.apply_directory(folder, tree)
        convert.fix_modes(tree)
        header, scripts = base.extras(folder)
        controls = [self.controls[p] for p in parts]
        header = convert.header(self.translator, name, controls) + header
        if not any(h.startswith("Requires: ") for h in header):
            header.append("Requires: filesystem")
        given = convert.attributes(self.config, name, tree, conffiles)
        for path in self.config["attributes"].get(name, {}):
            full = tree / path[1:]
            if not os.path.lexists(full):
                full.parent.mkdir(parents=True, exist_ok=True)
                full.mkdir() if path.startswith("/var/") else full.write_text("")
        files = rpm.file_list(tree, given, base.OWNED)
        summary, description = convert.describe(controls[0])
        noarch = all(c["Architecture"] == "all" for c in controls)
        version = convert.split_version(controls[0]["Version"])
        self._build(name, convert.spec(name, version, summary, description, header, files, scripts,
                                       noarch), tree)

    def _own(self, folder):
        tree = self.work / f"own-{folder.name}"
        tree.mkdir()
        if folder.name == "filesystem":
            base.filesystem_tree(tree)
        elif folder.name == "alternatives":
            metadata.alternatives(self.lab, self.paths["dpkg"], tree)
        elif folder.name == "setup":
            metadata.netbase(self.lab, self.paths["netbase"], tree)
        base.apply_directory(folder, tree)
        if folder.name != "filesystem":
            convert.fix_modes(tree)
        self._build(folder.name, base.own_spec(self.config, folder, tree), tree)

    def _kernel(self, uname):
        image = self.work / f"image-{uname}"
        headers = self.lab / "devel" / uname
        shutil.rmtree(headers, ignore_errors=True)
        debs.unpack(self.lab, self.paths[f"linux-image-{uname}"], image)
        common = uname.removesuffix("-amd64") + "-common"
        for part in (f"linux-headers-{uname}", f"linux-headers-{common}", "linux-kbuild-6.1"):
            debs.unpack(self.lab, self.paths[part], headers)
        made = kernel.trees(uname, image, headers, self.work)
        version = self.controls[f"linux-image-{uname}"]["Version"]
        for name, tree, text in kernel.specs(uname, version, made):
            if tree is None:
                tree = self.work / f"{name}-{uname}-empty"
            self._build(name, text, tree)
        shutil.rmtree(image, ignore_errors=True)

    def _policy(self, _):
        source, devel = self.work / "policy-deb", self.work / "policy-devel"
        debs.unpack(self.lab, self.paths["selinux-policy-default"], source)
        debs.unpack(self.lab, self.paths["selinux-policy-dev"], devel)
        tree = self.work / "policy"
        selinux.build_targeted(self.lab, self.config, source, tree)
        version = convert.split_version(self.controls["selinux-policy-default"]["Version"])
        shutil.rmtree(self.work / "policy-base", ignore_errors=True)
        settings = self.work / "policy-base" / "etc/selinux"
        settings.mkdir(parents=True)
        (settings / "config").write_text(selinux.CONFIG)
        for name, text, made in metadata.policy_specs(self.controls, version, tree,
                                                      self.work / "policy-base"):
            self._build(name, text, made)
        folder = self.sources / "packages" / "container-selinux"
        packed = selinux.compile_module(self.lab, "container", self.sources / "selinux",
                                        devel / "usr/share/selinux/devel", self.work / "container")
        goal = self.work / "own-container-selinux"
        target = goal / "usr/share/selinux/packages"
        target.mkdir(parents=True)
        shutil.copyfile(packed, target / "container.pp.bz2")
        convert.fix_modes(goal)
        self._build(folder.name, base.own_spec(self.config, folder, goal), goal)

    def _metadata(self):
        comps = self.work / "comps.xml"
        shutil.copyfile(self.sources / "data/comps.xml", comps)
        updateinfo = self.work / "updateinfo.xml"
        updateinfo.write_text(metadata.updateinfo(self.kernels, self.controls))
        rpm.createrepo(self.lab, self.rpms, comps, updateinfo)

    def _kernels_json(self):
        record = {}
        for which, uname in zip(("oldest", "newest"), self.kernels):
            version, release = kernel.evr(uname)
            record[which] = {"uname": uname, "evr": f"{version}-{release}{convert.DIST}",
                             "devel": str(self.lab / "devel" / uname)}
        rpm.write_atomic(self.lab / "kernels.json", json.dumps(record, indent=2) + "\n")
