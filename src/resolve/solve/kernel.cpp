#include "resolve/solve/kernel.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "support/error.hpp"
#include "support/ranges.hpp"
#include "support/text/nevra.hpp"

namespace edgegpu {

namespace {

std::vector<Id> all_kernels(const PackagePool& pool, const std::string& name) {
    const std::string core = name + "-core";
    std::vector<Id> found = pool.named(core);
    if (found.empty()) {
        for (const Id id : pool.packages()) {
            if (pool.visible(id) && !pool.provided_versions(id, core).empty()) {
                found.push_back(id);
            }
        }
        pool.sort_best_first(found);
    }
    if (found.empty()) {
        found = pool.named(name);
    }
    return found;
}

bool glob_matches(const PackagePool& pool, Id id, const std::string& name,
                  const std::string& glob) {
    if (matches_package(pool, id, glob)) {
        return true;
    }
    // "kernel-6.1.0-50*" matches the kernel in kernel-core-6.1.0-50….
    const std::string stem = name + "-";
    return glob.starts_with(stem) && !glob.starts_with(stem + "core-") &&
           matches_package(pool, id, stem + "core-" + glob.substr(stem.size()));
}

/// X of "/usr/lib/modules/X/vmlinuz" (without `image` of any path in /usr/lib/modules), or "".
std::string module_directory(const std::string& path, bool image) {
    const std::size_t start = path.starts_with("/usr/") ? 4 : 0;
    constexpr std::string_view parent = "/lib/modules/";
    if (path.compare(start, parent.size(), parent) != 0) {
        return {};
    }
    const std::size_t begin = start + parent.size();
    const std::size_t end = path.find('/', begin);
    if (image && (end == std::string::npos || path.substr(end) != "/vmlinuz")) {
        return {};
    }
    return path.substr(begin, end == std::string::npos ? end : end - begin);
}

bool is_kernel_name(std::string_view name) {
    constexpr std::array<std::string_view, 6> cores{"kernel-core",          "kernel-rt-core",
                                                    "kernel-64k-core",      "kernel-debug-core",
                                                    "kernel-rt-debug-core", "kernel-uki-virt"};
    return std::find(cores.begin(), cores.end(), name) != cores.end();
}

}  // namespace

bool matches_kernel(const PackagePool& pool, Id id, const std::string& name,
                    const std::string& glob) {
    return glob_matches(pool, id, name, glob);
}

bool is_kernel(const PackagePool& pool, Id id) {
    return is_kernel_name(pool_id2str(pool.get(), pool.solvable(id)->name)) ||
           !pool.provided_versions(id, "kernel-uname-r").empty();
}

std::vector<Id> kernel_candidates(const PackagePool& pool, const std::string& name,
                                  const std::string& glob) {
    std::vector<Id> found = all_kernels(pool, name);
    if (found.empty()) {
        throw error(ErrorKind::unsolvable, "no repository has a kernel: package {}-core or {}",
                    name, name)
            .hinted(
                "an image needs a kernel: check the repositories and "
                "customizations.kernel.name");
    }
    const int best = pool.solvable(found.front())->repo->priority;
    std::erase_if(found, [&](Id id) { return pool.solvable(id)->repo->priority != best; });
    if (glob.empty()) {
        return found;
    }
    const std::vector<std::string> names =
        mapped(found, [&](Id id) { return pool.nevra(id).text(); });
    std::erase_if(found, [&](Id id) { return !glob_matches(pool, id, name, glob); });
    if (found.empty()) {
        throw error(ErrorKind::unsolvable, "no kernel matches '{}'", glob)
            .hinted(fmt::format("available kernels: {}", fmt::join(names, ", ")));
    }
    return found;
}

void add_kernel_jobs(const PackagePool& pool, const std::string& name, Id kernel, Jobs& jobs) {
    const Reason why{Reason::Kind::kernel};
    jobs.installs.push_back({{kernel}, why});
    const Id evr = pool.solvable(kernel)->evr;
    // The parent has what it has of its kernel.
    std::vector<Id> meta = pool.is_installed(kernel) ? std::vector<Id>() : pool.named(name);
    std::erase_if(meta, [&](Id id) { return pool.solvable(id)->evr != evr; });
    if (!meta.empty()) {
        jobs.installs.push_back({meta, why});
    }
    constexpr std::array<std::string_view, 8> suffixes{
        "",       "-core",          "-modules",          "-modules-core",
        "-devel", "-modules-extra", "-modules-internal", "-devel-matched"};
    const std::vector<Id> kernels = pool.providers("kernel-uname-r");
    for (const Id id : pool.packages()) {
        if (id == kernel || !pool.visible(id) || pool.is_installed(id)) {
            continue;
        }
        const std::string_view package = pool_id2str(pool.get(), pool.solvable(id)->name);
        const bool part =
            package.starts_with(name) && std::find(suffixes.begin(), suffixes.end(),
                                                   package.substr(name.size())) != suffixes.end();
        if ((part && pool.solvable(id)->evr != evr) ||
            std::binary_search(kernels.begin(), kernels.end(), id) || is_kernel_name(package)) {
            jobs.forbidden.push_back(id);
        }
    }
}

std::string kernel_uname(const Context& ctx, PackagePool& pool, Id kernel) {
    if (pool.is_installed(kernel)) {
        return pool.installed_uname();
    }
    const Nevra nevra = pool.nevra(kernel);
    std::string usual = fmt::format("{}-{}.{}", nevra.version, nevra.release, nevra.arch);
    const std::vector<std::string> unames = pool.provided_versions(kernel, "kernel-uname-r");
    if (std::find(unames.begin(), unames.end(), usual) != unames.end()) {
        return usual;
    }
    const std::vector<std::string> files = pool.files(ctx, kernel);
    for (const bool image_needed : {true, false}) {
        for (const std::string& path : files) {
            std::string uname = module_directory(path, image_needed);
            if (!uname.empty()) {
                return uname;
            }
        }
    }
    return unames.empty() || unames.front().empty() ? usual : unames.front();
}

}  // namespace edgegpu
