"""Make the lab's `baseos` and `devel` repositories: converted packages, kernels, policy, the lab's own."""

import json
import os
import pathlib
import shutil
from concurrent.futures import ThreadPoolExecutor

from labtool import base, bootloader, content, convert, debs, kernel, metadata, rpm, selinux


class Distribution:
    """One run: where things are, what was resolved, which jobs are to be done."""

    def __init__(self, lab, sources, config, jobs):
        self.lab, self.sources = pathlib.Path(lab).resolve(), pathlib.Path(sources)
        self.config, self.jobs = config, jobs
        self.work = self.lab / "work"
        self.rpms = self.lab / "repos" / "baseos.part"
        self.devel = self.lab / "repos" / "devel.part"
        self.kernels = debs.kernels(self.lab)
        extra = [f"linux-{kind}-{k}" for k in self.kernels for kind in ("image", "headers")]
        base = debs.resolve(self.lab, config["seeds"], extra)
        # Named one by one: what they depend on is in baseos or left out.
        self.devel_names = set(config["devel"]["packages"]) - {name for name, _ in base}
        named = self.devel_names | set(config["signed_boot"])
        self.packages = sorted(base + debs.candidates(self.lab, named))
        self.paths, self.controls, self.translators, self.groups, self.headers = {}, {}, {}, {}, {}

    def make(self):
        """Builds everything and publishes repos/baseos and repos/devel."""
        for folder in (self.work, self.rpms, self.devel):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
        self._read()
        tasks = [(self._kernel, k) for k in self.kernels] + [(self._policy, None)]
        tasks += [(self._own, f) for f in self._own_folders()]
        tasks += [(self._converted, n) for n in self.groups]
        self._run(tasks)
        made = [*self.rpms.glob("*.rpm"), *self.devel.glob("*.rpm")]
        rpm.sign(self.lab, made, self.jobs)
        self._metadata()
        for part in (self.rpms, self.devel):
            final = part.with_suffix("")
            shutil.rmtree(final, ignore_errors=True)
            os.rename(part, final)
        self._kernels_json()
        shutil.rmtree(self.work, ignore_errors=True)

    def make_some(self, names, folder):
        """Builds and signs the packages `names` (converted ones or the lab's own) into `folder`."""
        self.work, self.rpms = pathlib.Path(folder) / "work", pathlib.Path(folder)
        self.work.mkdir(parents=True)
        self._read()
        tasks = [(self._own, f) for f in self._own_folders() if f.name in names]
        tasks += [(self._converted, n) for n in self.groups if n in names]
        self._run(tasks)
        rpm.sign(self.lab, self.rpms.glob("*.rpm"), self.jobs)
        shutil.rmtree(self.work)

    def _read(self):
        """Downloads what is missing and reads all control files."""
        self.paths = debs.download(self.lab, self.lab / "debs", self.packages)
        self.controls = {n: debs.control(p) for n, p in self.paths.items()}
        base = {n: c for n, c in self._convertible().items() if n not in self.devel_names}
        self.translators = {"baseos": convert.Translator(self.config, base),
                            "devel": convert.Translator(self.config, self._convertible())}
        self.groups = self._grouped()
        self.headers = {name: self._header(name) for name in self.groups}

    def _run(self, tasks):
        """Runs (function, argument) pairs, as many at a time as there are jobs."""
        with ThreadPoolExecutor(self.jobs) as pool:
            running = [pool.submit(task, argument) for task, argument in tasks]
            try:
                for done in running:
                    done.result()
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise

    def _own_folders(self):
        """The directories of the lab's own packages; container-selinux is made with the policy."""
        return [f for f in sorted((self.sources / "packages").iterdir())
                if (f / "package").is_file() and f.name != "container-selinux"]

    def _convertible(self):
        special = ("linux-image-", "linux-headers-")
        return {n: c for n, c in self.controls.items()
                if not n.startswith(special) and n not in self.config["signed_boot"]}

    def _grouped(self):
        """{rpm name: [Debian names]} of what is converted package by package."""
        skip = set(self.config["left_out"]) | set(self.config["handled_elsewhere"])
        groups = {}
        for name in sorted(self._convertible()):
            if name not in skip:
                groups.setdefault(self.translators["devel"].rpm_name(name), []).append(name)
        for merged, parts in self.config["merge"].items():
            if merged in groups:
                groups[merged].sort(key=lambda n: parts.index(n) if n in parts else 99)
        return groups

    def _build(self, name, text, tree, folder=None):
        payload = rpm.PAYLOAD_XZ if name in self.config["payload"]["xz"] else None
        rpm.build_spec(self.lab, text, tree, folder or self.rpms, payload)

    def _repository(self, name):
        return "devel" if self.devel_names.intersection(self.groups[name]) else "baseos"

    def _header(self, name):
        """The dependencies of a converted package; an error if one of them has no provider."""
        controls = [self.controls[part] for part in self.groups[name]]
        header = convert.header(self.translators[self._repository(name)], name, controls)
        header += base.extras(self.sources / "packages" / name)[0]
        return header if any(h.startswith("Requires: ") for h in header) else header + ["Requires: filesystem"]

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
        controls = [self.controls[p] for p in parts]
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
        text = convert.spec(name, version, summary, description, self.headers[name], files,
                            base.extras(folder)[1], noarch)
        self._build(name, text, tree, self.devel if self._repository(name) == "devel" else None)

    def _own(self, folder):
        tree = self.work / f"own-{folder.name}"
        tree.mkdir()
        if folder.name == "filesystem":
            base.filesystem_tree(tree)
        elif folder.name == "alternatives":
            metadata.alternatives(self.lab, self.paths["dpkg"], tree)
        elif folder.name == "setup":
            metadata.netbase(self.lab, self.paths["netbase"], tree)
        elif folder.name == "crypto-policies":
            content.crypto_policies(tree)
        elif folder.name == "grub2-efi-x64":
            bootloader.grub_efi(self.lab, self.paths, tree)
        elif folder.name == "shim-x64":
            bootloader.shim(self.lab, self.paths, tree)
        elif folder.name == "ostree-grub2":
            bootloader.ostree_grub2(self.lab, self.paths, tree)
        elif folder.name == "lab-devprobe":
            content.compile_static(self.lab, self.sources / "data/devprobe.c", tree / "usr/bin/devprobe")
        elif folder.name == "nss-altfiles":
            content.compile_library(self.lab, self.sources / "data/nss_altfiles.c",
                                    tree / "usr/lib64/libnss_altfiles.so.2")
        elif folder.name == "lab-container-image":
            content.container_image(self.lab, self.paths["busybox-static"], self.sources / "data/devprobe.c", tree)
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
        exported = kernel.symbols(headers / f"usr/src/linux-headers-{uname}/Module.symvers",
                                  self.config["kernel"]["symbols_of"])
        for name, tree, text in kernel.specs(uname, version, made, exported):
            if tree is None:
                tree = self.work / f"{name}-{uname}-empty"
            self._build(name, text, tree, self.devel if name == "kernel-devel-matched" else None)
        shutil.rmtree(image, ignore_errors=True)

    def _policy(self, _):
        source, devel = self.work / "policy-deb", self.work / "policy-devel"
        debs.unpack(self.lab, self.paths["selinux-policy-default"], source)
        debs.unpack(self.lab, self.paths["selinux-policy-dev"], devel)
        tree = self.work / "policy"
        selinux.drop_container_interfaces(devel)
        interfaces = devel / "usr/share/selinux/devel"
        own = selinux.compile_module(self.lab, "labsystem", self.sources / "selinux", interfaces, self.work / "labsystem")
        selinux.build_targeted(self.lab, self.config, source, own, tree)
        version = convert.split_version(self.controls["selinux-policy-default"]["Version"])
        shutil.rmtree(self.work / "policy-base", ignore_errors=True)
        settings = self.work / "policy-base" / "etc/selinux"
        settings.mkdir(parents=True)
        (settings / "config").write_text(selinux.CONFIG)
        for name, text, made in metadata.policy_specs(self.controls, version, tree,
                                                      self.work / "policy-base"):
            self._build(name, text, made)
        for version, additions in self.config["container_selinux"].items():
            self._container_policy(version, additions, interfaces)

    def _container_policy(self, version, additions, devel):
        """container-selinux of one version, which has `additions` over the oldest."""
        folder = self.sources / "packages" / "container-selinux"
        packed = selinux.compile_module(self.lab, "container", self.sources / "selinux", devel, self.work / "container",
                                        [f"container_version={version}", *additions])
        tree = self.work / "own-container-selinux"
        base.apply_directory(folder, tree)
        for source, place in ((packed, "usr/share/selinux/packages"),
                              (self.sources / "selinux/container.if", "usr/share/selinux/devel/include/services")):
            (tree / place).mkdir(parents=True)
            shutil.copy(source, tree / place)
        convert.fix_modes(tree)
        self._build(folder.name, base.own_spec(self.config, folder, tree, version), tree)

    def _metadata(self):
        comps = self.work / "comps.xml"
        shutil.copyfile(self.sources / "data/comps.xml", comps)
        updateinfo = self.work / "updateinfo.xml"
        updateinfo.write_text(metadata.updateinfo(self.kernels, self.controls))
        rpm.createrepo(self.lab, self.rpms, comps, updateinfo)
        # The tools that baseos has, too, so that devel is what a build of kernel modules needs.
        for name in self.config["devel"]["also"]:
            for package in self.rpms.glob(f"{name}-[0-9]*.rpm"):
                os.link(package, self.devel / package.name)
        rpm.createrepo(self.lab, self.devel)

    def _kernels_json(self):
        record = {}
        for which, uname in zip(("oldest", "newest"), self.kernels):
            version, release = kernel.evr(uname)
            record[which] = {"uname": uname, "evr": f"{version}-{release}{convert.DIST}",
                             "devel": str(self.lab / "devel" / uname)}
        rpm.write_atomic(self.lab / "kernels.json", json.dumps(record, indent=2) + "\n")
