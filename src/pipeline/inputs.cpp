#include "pipeline/inputs.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "blueprint/distro/distro.hpp"
#include "blueprint/fields/digest.hpp"
#include "support/files/build_id.hpp"
#include "support/files/digest.hpp"
#include "support/source_date.hpp"

namespace edgegpu {

namespace {

void add_packages(Sha256& digest, const std::vector<ResolvedPackage>& packages) {
    digest.update_field(std::to_string(packages.size()));
    for (const ResolvedPackage& package : packages) {
        digest.update_field(package.nevra.text());
        digest.update_field(package.content_id());
    }
}

/// Sources of the kernel modules, packages that compile them, and signer. The certificate
/// represents the key, of which not even a digest may enter the commit.
void add_kernel_modules(Sha256& digest, const Resolution& resolution,
                        std::string_view certificate) {
    digest.update_field(resolution.dkms_source ? "compiled modules" : "");
    if (!resolution.dkms_source) {
        return;
    }
    add_packages(digest, {*resolution.dkms_source});
    add_packages(digest, resolution.build_root);
    digest.update_field(certificate.empty() ? "" : sha256_hex(certificate));
}

/// The names are the blueprint's.
void add_image_digests(Sha256& digest, const std::vector<ResolvedImage>& images) {
    digest.update_field(std::to_string(images.size()));
    for (const ResolvedImage& image : images) {
        digest.update_field(image.name);
        digest.update_field(image.digest);
        digest.update_field(image.manifest);
    }
}

}  // namespace

std::string inputs_digest(const Blueprint& blueprint, const Resolution& resolution,
                          std::int64_t time, std::string_view certificate) {
    Sha256 digest;
    digest.update_field(program_build_id());
    digest.update_field(std::to_string(time));
    add_blueprint(digest, blueprint);
    // Of `distro`, which else only chooses packages.
    digest.update_field(update_system(blueprint.distro) == UpdateSystem::snapshots ? "snapshots"
                                                                                   : "ostree");
    digest.update_field(resolution.parent ? resolution.parent->commit : std::string());
    add_packages(digest, resolution.packages);
    add_kernel_modules(digest, resolution, certificate);
    add_packages(digest, resolution.policy_root);
    add_image_digests(digest, resolution.images);
    return digest.hex();
}

std::int64_t image_time(const Resolution& resolution) {
    if (const std::optional<std::int64_t> time = source_date_epoch()) {
        return *time;
    }
    std::int64_t newest = 0;
    for (const ResolvedPackage& package : resolution.packages) {
        newest = std::max(newest, package.build_time);
    }
    return newest;
}

std::string describe(const Resolution& resolution) {
    std::string text =
        fmt::format("{} packages, kernel {}", resolution.packages.size(), resolution.kernel_uname);
    if (!resolution.driver_version.empty()) {
        text += ", driver " + resolution.driver_version;
    }
    return text;
}

std::string describe(const FetchedPackages& packages) {
    std::set<std::string> seen;
    std::uint64_t bytes = 0;
    const auto count = [&](const PackageFile& file) {
        bytes += seen.insert(file.sha256).second ? file.package.size : 0;
    };
    std::ranges::for_each(packages.image, count);
    const std::size_t image = seen.size();
    std::ranges::for_each(packages.policy_root, count);
    if (packages.module_build) {
        const ModuleBuildFiles& build = *packages.module_build;
        std::ranges::for_each(build.packages, count);
        count(build.source);
    }
    std::string text = fmt::format("{} packages, {}", seen.size(), human_size(bytes));
    if (seen.size() > image) {
        text += fmt::format(", {} of them to compile with", seen.size() - image);
    }
    return text;
}

std::uint64_t total_bytes(const std::vector<ResolvedImage>& images) {
    std::map<std::string, std::uint64_t> sizes;
    for (const ResolvedImage& image : images) {
        sizes.emplace(image.manifest, image.size);
    }
    std::uint64_t bytes = 0;
    for (const auto& [manifest, size] : sizes) {
        bytes += size;
    }
    return bytes;
}

std::string describe_images(const std::vector<ResolvedImage>& images) {
    return images.empty() ? ""
                          : fmt::format("; {}, {}", counted(images.size(), "container image"),
                                        human_size(total_bytes(images)));
}

std::string describe(const PackageFile& package) {
    return fmt::format("{}, {}", package.package.nevra.text(), human_size(package.package.size));
}

}  // namespace edgegpu
