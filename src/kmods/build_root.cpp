#include "kmods/build_root.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "embedded_build_root.hpp"
#include "fetch/fetch.hpp"
#include "image/image_root.hpp"
#include "kmods/build_output.hpp"
#include "kmods/dkms_conf.hpp"
#include "rootfs/import.hpp"
#include "rootfs/order.hpp"
#include "rootfs/scriptlets.hpp"
#include "rootfs/unite.hpp"
#include "rootfs/workplace.hpp"
#include "sandbox/sandbox.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

/// In the sandbox; a bind mount.
constexpr const char* out_directory = "/run/edgegpu-out";

/// dkms would sign modules with a generated key; it does not if the program for that does not
/// exist.
constexpr std::string_view framework_conf = "sign_file=\"/run/edgegpu-signs-itself\"\n";

/// The packages of the build root in rpm's installation order, the one with the sources last.
std::vector<ImportedPackage> import_all(const Context& ctx, const ModuleBuildFiles& files) {
    std::vector<ImportedPackage> packages = order_packages(import_packages(ctx, files.packages));
    packages.push_back(import_package(ctx, files.source));
    return packages;
}

/// Reads /usr/src/NAME-VERSION/dkms.conf of the package with the sources.
DkmsConf read_conf(const ImportedPackage& source) {
    const ImportedFile* conf = nullptr;
    for (const ImportedFile& file : source.files) {
        const bool fits = file.path.starts_with("/usr/src/") && file.path.ends_with("/dkms.conf") &&
                          std::ranges::count(file.path, '/') == 4 &&
                          file.entry.type == EntryType::file && !file.is_ghost();
        if (fits && conf != nullptr) {
            throw error("package {} has sources for dkms twice: {} and {}", source.nevra.text(),
                        conf->path, file.path);
        }
        conf = fits ? &file : conf;
    }
    if (conf == nullptr) {
        throw error("package {} has no sources for dkms (/usr/src/NAME-VERSION/dkms.conf)",
                    source.nevra.text());
    }
    DkmsConf parsed =
        parse_dkms_conf(read_file(conf->entry.content, 1U << 20U),
                        fmt::format("package {}: {}", source.nevra.text(), conf->path));
    const std::string place = fmt::format("/usr/src/{}-{}/dkms.conf", parsed.name, parsed.version);
    if (conf->path != place) {
        throw error("package {}: dkms looks for the sources of {} at {}, not {}",
                    source.nevra.text(), parsed.name, place, conf->path);
    }
    return parsed;
}

/// Adds the links from the kernel's module directory to its headers, which are part of the kernel
/// package; that package is not in the build root.
void link_headers(Tree& tree) {
    const std::string sources = "/usr/src/kernels/" + tree.kernel;
    if (find_entry(tree, sources) == nullptr) {
        throw error("the build root has no {}", sources)
            .hinted("kernel-devel of exactly the image's kernel has to contain it");
    }
    for (const char* name : {"build", "source"}) {
        const std::string path = fmt::format("/usr/lib/modules/{}/{}", tree.kernel, name);
        if (tree.entries.find(path) == tree.entries.end()) {
            put_entry(tree, path, link_to(sources));
        }
    }
}

std::map<std::string, std::string> run_dkms(const Context& ctx, const Workplace& place,
                                            const Resolution& resolution, const DkmsConf& conf) {
    const fs::path out = place.made("out");
    make_writable_directory(out);
    make_writable_directory(out / "modules");
    const fs::path framework = place.made("settings") / "framework.conf";
    write_file(framework, framework_conf);
    SandboxCommand command;
    command.root = place.root();
    command.kernel = resolution.kernel_uname;
    command.argv = {"/bin/sh",
                    "-c",
                    std::string(embedded::build_modules),
                    "build-modules",
                    out_directory,
                    conf.name,
                    conf.version,
                    resolution.kernel_uname,
                    resolution.kernel.arch,
                    std::to_string(ctx.jobs)};
    command.env = {"KERNEL_UNAME=" + resolution.kernel_uname,
                   fmt::format("KBUILD_BUILD_TIMESTAMP=@{}", ctx.source_date_epoch),
                   "KBUILD_BUILD_USER=edgegpu", "KBUILD_BUILD_HOST=localhost",
                   "KBUILD_BUILD_VERSION=1"};
    command.read_only_binds = {{framework, "/etc/dkms/framework.conf"},
                               {framework, "/etc/dkms/framework.conf.d/edgegpu.conf"}};
    command.writable_binds = {{out, out_directory}};
    command.patience = 6;  // compiling a driver takes minutes
    const ProcessResult result = run_in_sandbox(ctx, command);
    return take_modules(resolution, conf, result, ImageRoot(out));
}

}  // namespace

std::int64_t compile_time(const Resolution& resolution) {
    std::int64_t newest = resolution.dkms_source->build_time;
    for (const ResolvedPackage& package : resolution.build_root) {
        newest = std::max(newest, package.build_time);
    }
    return newest;
}

CompiledModules compile_modules(const Context& outer, const Resolution& resolution,
                                const ModuleBuildFiles& files) {
    // Not the image's time: a change of other packages of the image must not cause another
    // compilation.
    const Context ctx = outer.at(compile_time(resolution));
    std::vector<ImportedPackage> packages = import_all(ctx, files);
    const DkmsConf conf = read_conf(packages.back());
    CompiledModules compiled;
    compiled.license = header_string(packages.back().header.get(), RPMTAG_LICENSE);

    Workplace place(ctx, "build-root");
    United united = unite(packages);
    // Its files are in the root; its scriptlets are meant for running systems and are not run.
    packages.pop_back();
    Tree tree;
    tree.entries = std::move(united.entries);
    tree.kernel = resolution.kernel_uname;
    place.mount(ctx, tree.entries);
    tree.upper = place.upper();
    tree.root = place.root();
    link_headers(tree);
    run_scriptlets(ctx, tree, packages, 0, united.owners, {}, place.made("scriptlets"));
    ctx.console->progress(0, 1, fmt::format("dkms, {} {}", conf.name, conf.version));
    compiled.modules = run_dkms(ctx, place, resolution, conf);
    return compiled;
}

}  // namespace edgegpu
