#include "commands/resolution_text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "blueprint/distro/edge_package_set.hpp"
#include "commands/commands.hpp"
#include "log/console.hpp"
#include "repository/commit_view.hpp"
#include "support/error.hpp"
#include "support/ranges.hpp"
#include "support/text/nevra.hpp"
#include "support/text/terminal_text.hpp"

namespace edgegpu {

namespace {

using nlohmann::ordered_json;

ImageContent content_of_commit(const std::string& name, const std::filesystem::path& repo) {
    try {
        const CommitView commit = RepositoryView(repo).open(name);
        if (!commit.info().packages) {
            throw error(ErrorKind::usage, "commit {} carries no list of packages",
                        commit.info().checksum);
        }
        ImageContent content{*commit.info().packages, {}, true};
        for (const CommitImage& image : commit.info().images) {
            content.images[image.name] = image.digest;
        }
        return content;
    } catch (Error& failure) {
        failure.traced(fmt::format("while reading --against {}, which is not a lockfile", name));
        throw;
    }
}

bool is_driver_part(const std::string& name) {
    return name.starts_with("kmod-nvidia") || name.starts_with("nvidia-") ||
           name.starts_with("libnvidia-") || name.starts_with("cuda-drivers");
}

bool is_kernel_part(const Resolution& resolution, const ResolvedPackage& package) {
    return package.nevra.name.starts_with("kernel") &&
           package.nevra.evr() == resolution.kernel.evr();
}

/// The rows below a heading.
std::string columns(const std::vector<std::vector<std::string>>& rows) {
    return sum_of(aligned_lines(rows),
                  [](const std::string& line) { return printable_line("  " + line) + "\n"; });
}

std::vector<std::string> row_of(const ResolvedPackage& package) {
    return {package.nevra.name, package.nevra.evr(),      package.nevra.arch,
            package.repository, human_size(package.size), package.why.text()};
}

/// What was passed over so that kernel and driver fit, with the security fixes lost by that.
std::string passed_over_text(const std::vector<PassedOver>& passed_over) {
    if (passed_over.empty()) {
        return {};
    }
    std::string text = "Passed over:\n";
    for (const PassedOver& passed : passed_over) {
        text += printable_line(fmt::format("  {}: {}", passed.what, passed.reason)) + "\n";
        for (const Advisory& advisory : passed.advisories) {
            text += printable_line(fmt::format("    misses {}{}{}", advisory.text(),
                                               advisory.cves.empty() ? "" : ": ",
                                               fmt::join(advisory.cves, ", "))) +
                    "\n";
        }
    }
    return text + "\n";
}

/// Which package set was added, and how many packages are there only because of it.
std::string package_set_text(const Blueprint& blueprint, const Resolution& resolution) {
    if (blueprint.package_set.name.empty()) {
        return {};
    }
    const auto own = std::ranges::count_if(resolution.packages, [](const ResolvedPackage& package) {
        return package.why.kind == Reason::Kind::package_set;
    });
    return fmt::format("Package set: {}, {} packages without what they require\n\n",
                       describe_package_set(blueprint.package_set), own);
}

/// What compiles modules of the kernel or of the policy.
std::string build_root_text(std::string_view modules,
                            const std::vector<ResolvedPackage>& packages) {
    std::uint64_t bytes = 0;
    std::vector<std::vector<std::string>> rows;
    for (const ResolvedPackage& package : packages) {
        bytes += package.size;
        rows.push_back(row_of(package));
    }
    return rows.empty()
               ? std::string()
               : fmt::format(
                     "\n{} modules are compiled with, outside the image ({} to download):\n{}",
                     modules, human_size(bytes), columns(rows));
}

/// "+", "-" or "~", and what is there before and now.
std::array<std::string, 2> change_columns(const std::string& before, const std::string& now) {
    if (before.empty() || now.empty()) {
        return {before.empty() ? "+" : "-", before + now};
    }
    return {"~", fmt::format("{} -> {}", before, now)};
}

ordered_json package_json(const ResolvedPackage& package) {
    return {{"nevra", package.nevra.text()},
            {"name", package.nevra.name},
            {"epoch", package.nevra.epoch},
            {"version", package.nevra.version},
            {"release", package.nevra.release},
            {"arch", package.nevra.arch},
            {"repository", package.repository},
            {"location", package.location},
            {"checksum", package.checksum.text()},
            {"size", package.size},
            {"module", package.module},
            {"why", package.why.text()}};
}

ordered_json packages_json(const std::vector<ResolvedPackage>& packages) {
    return mapped(packages, package_json);
}

ordered_json passed_over_json(const std::vector<PassedOver>& passed_over) {
    ordered_json list = ordered_json::array();
    for (const PassedOver& passed : passed_over) {
        const ordered_json advisories =
            mapped(passed.advisories, [](const Advisory& advisory) -> ordered_json {
                return {
                    {"id", advisory.id}, {"severity", advisory.severity}, {"cves", advisory.cves}};
            });
        list.push_back(
            {{"what", passed.what}, {"reason", passed.reason}, {"advisories", advisories}});
    }
    return list;
}

}  // namespace

ImageContent content_of(const Resolution& resolution, bool whole) {
    ImageContent content{{}, {}, whole, resolution.parent ? resolution.parent->commit : ""};
    if (whole) {
        content.packages = packages_of_image(resolution);
    } else {
        std::ranges::transform(resolution.packages, std::back_inserter(content.packages),
                               &ResolvedPackage::nevra);
    }
    for (const ResolvedImage& image : whole ? images_of_image(resolution) : resolution.images) {
        content.images[image.name] = "sha256:" + image.digest;
    }
    return content;
}

ImageContent content_of(const std::string& name, const std::filesystem::path& repo) {
    std::error_code ignored;
    return std::filesystem::is_regular_file(name, ignored) ? content_of(read_lockfile(name))
                                                           : content_of_commit(name, repo);
}

ContentChanges changes_since(const ImageContent& before, const Resolution& now) {
    const ImageContent content = content_of(now, before.whole);
    ContentChanges changes{compare_packages(before.packages, content.packages), {}, {}};
    if (!before.whole && before.parent != content.parent) {
        changes.parent = {now.parent ? now.parent->name : "", before.parent, content.parent};
    }
    std::map<std::string, DigestChange> images;
    for (const auto& [name, digest] : before.images) {
        images[name] = {name, digest, ""};
    }
    for (const auto& [name, digest] : content.images) {
        images.try_emplace(name, DigestChange{name, "", ""}).first->second.now = digest;
    }
    for (auto& [name, change] : images) {
        if (change.before != change.now) {
            changes.images.push_back(std::move(change));
        }
    }
    return changes;
}

std::string changes_text(const ContentChanges& changes) {
    std::vector<std::vector<std::string>> packages;
    for (const PackageChange& change : changes.packages) {
        auto [sign, versions] = change_columns(change.before, change.now);
        packages.push_back({std::move(sign), change.name, change.arch, std::move(versions)});
    }
    std::vector<std::vector<std::string>> images;
    for (const DigestChange& change : changes.images) {
        auto [sign, digests] = change_columns(change.before, change.now);
        images.push_back({std::move(sign), change.name, std::move(digests)});
    }
    std::string text;
    if (changes.parent) {
        const auto [sign, commits] = change_columns(changes.parent->before, changes.parent->now);
        text += printable_line(fmt::format("Parent {}: {}", changes.parent->name, commits)) + "\n";
    }
    text += packages.empty() ? "No package changed.\n"
                             : fmt::format("{} changed (+ new, - gone, ~ another version):\n{}",
                                           counted(packages.size(), "package"), columns(packages));
    if (!images.empty()) {
        text += fmt::format("{} changed (+ new, - gone, ~ another digest):\n{}",
                            counted(images.size(), "container image"), columns(images));
    }
    return text + "\n";
}

std::string resolution_text(const Resolution& resolution, const Blueprint& blueprint,
                            const std::optional<ContentChanges>& changes) {
    std::vector<std::vector<std::string>> first;
    std::vector<std::vector<std::string>> rest;
    std::uint64_t bytes = 0;
    for (const ResolvedPackage& package : resolution.packages) {
        bytes += package.size;
        const bool pair =
            is_kernel_part(resolution, package) ||
            (!resolution.driver_version.empty() && is_driver_part(package.nevra.name));
        (pair ? first : rest).push_back(row_of(package));
    }
    std::string text = fmt::format("Kernel {}", resolution.kernel_uname);
    if (!resolution.driver_version.empty()) {
        text += fmt::format(" with NVIDIA driver {}", resolution.driver_version);
    }
    if (resolution.driver_flavor) {
        text += fmt::format(", {}{} modules", resolution.dkms_source ? "compiled " : "",
                            *resolution.driver_flavor);
    }
    text += fmt::format("{}:\n", resolution.parent ? ", on " + resolution.parent->name : "") +
            columns(first) + "\n" + passed_over_text(resolution.passed_over) +
            package_set_text(blueprint, resolution);
    if (changes) {
        text += changes_text(*changes);
    }
    const std::vector<std::string> modules =
        mapped(resolution.modules,
               [](const ResolvedModule& module) { return module.name + ":" + module.stream; });
    if (!modules.empty()) {
        text += fmt::format("Module streams: {}\n\n", fmt::join(modules, ", "));
    }
    for (const ResolvedImage& image : resolution.images) {
        text += fmt::format("Container image {}: sha256:{}, {}\n\n", image.name, image.digest,
                            human_size(image.size));
    }
    text +=
        fmt::format("{} more packages, {} to download in all:\n", rest.size(), human_size(bytes));
    std::vector<ResolvedPackage> kernel_root;
    if (resolution.dkms_source) {
        kernel_root.push_back(*resolution.dkms_source);
        kernel_root.insert(kernel_root.end(), resolution.build_root.begin(),
                           resolution.build_root.end());
    }
    return text + columns(rest) + build_root_text("Kernel", kernel_root) +
           build_root_text("Policy", resolution.policy_root);
}

std::string resolution_json(const Resolution& resolution, const Blueprint& blueprint,
                            const std::optional<ContentChanges>& changes,
                            const std::vector<std::string>& warnings) {
    const ordered_json modules =
        mapped(resolution.modules, [](const ResolvedModule& module) -> ordered_json {
            return {{"name", module.name},
                    {"stream", module.stream},
                    {"version", module.version},
                    {"context", module.context}};
        });
    const ordered_json repositories =
        mapped(resolution.repositories, [](const ResolvedRepository& repository) -> ordered_json {
            return {{"id", repository.id},
                    {"repomd_sha256", repository.repomd_sha256},
                    {"revision_time", repository.revision_time}};
        });
    const ordered_json images =
        mapped(resolution.images, [](const ResolvedImage& image) -> ordered_json {
            return {{"name", image.name},
                    {"source", image.source},
                    {"digest", "sha256:" + image.digest},
                    {"manifest", "sha256:" + image.manifest},
                    {"bytes", image.size}};
        });
    ordered_json document = {
        {"format", "edgegpu-resolve/1"},
        {"kernel", resolution.kernel.text()},
        {"kernel_uname", resolution.kernel_uname},
        {"driver", resolution.driver_version},
        {"driver_flavor", resolution.driver_flavor ? enum_name(*resolution.driver_flavor) : ""},
        {"package_set", describe_package_set(blueprint.package_set)},
        {"modules", modules},
        {"repositories", repositories},
        {"passed_over", passed_over_json(resolution.passed_over)},
        {"packages", packages_json(resolution.packages)},
        {"build_root", packages_json(resolution.build_root)},
        {"policy_root", packages_json(resolution.policy_root)},
        {"images", images},
        {"warnings", warnings}};
    if (resolution.dkms_source) {
        document["dkms_source"] = package_json(*resolution.dkms_source);
    }
    if (resolution.parent) {
        document["parent"] = {{"name", resolution.parent->name},
                              {"commit", resolution.parent->commit}};
    }
    if (changes) {
        const ordered_json list =
            mapped(changes->packages, [](const PackageChange& change) -> ordered_json {
                return {{"name", change.name},
                        {"arch", change.arch},
                        {"before", change.before},
                        {"now", change.now}};
            });
        document["changes"] = list;
        const ordered_json digests =
            mapped(changes->images, [](const DigestChange& change) -> ordered_json {
                return {{"name", change.name}, {"before", change.before}, {"now", change.now}};
            });
        document["image_changes"] = digests;
        if (changes->parent) {
            document["parent_change"] = {{"before", changes->parent->before},
                                         {"now", changes->parent->now}};
        }
    }
    return document.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace edgegpu
