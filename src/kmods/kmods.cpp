#include "kmods/kmods.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "cache/store.hpp"
#include "kmods/package.hpp"
#include "resolve/metadata/gpgkeys.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/files/file.hpp"
#include "support/text/nevra.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

/// An entry contains `license` and a file for each module.
constexpr StoreKind kept_modules{"kmods", EntryKind::kmods};
constexpr const char* license_name = "license";

void store(NewEntry& entry, const CompiledModules& compiled) {
    entry.add(license_name, compiled.license);
    for (const auto& [name, content] : compiled.modules) {
        entry.add(name + ".ko", content);
    }
}

std::optional<CompiledModules> restore(const StoredEntry& entry) {
    CompiledModules compiled;
    for (const auto& [name, content] : entry.files()) {
        if (name == license_name) {
            compiled.license = content;
        } else {
            compiled.modules.emplace(fs::path(name).stem().string(), content);
        }
    }
    return compiled.modules.empty() ? std::nullopt : std::optional(std::move(compiled));
}

/// "6.1.0-47" of 6.1.0-47.el12: NVIDIA's package names contain the kernel version without its dist
/// tag.
std::string kernel_without_dist(const Nevra& kernel) {
    return kernel.version + '-' + kernel.release.substr(0, kernel.release.rfind('.'));
}

MadePackage describe_package(const Resolution& resolution, const CompiledModules& compiled) {
    const Nevra& source = resolution.dkms_source->nevra;
    MadePackage package;
    package.nevra = source;
    package.nevra.name = fmt::format("kmod-nvidia-{}{}-{}",
                                     resolution.driver_flavor == DriverFlavor::open ? "open-" : "",
                                     source.version, kernel_without_dist(resolution.kernel));
    package.nevra.arch = resolution.kernel.arch;
    package.summary =
        fmt::format("NVIDIA kernel modules for {}, compiled by edgegpu of {}-{}-{}",
                    resolution.kernel_uname, source.name, source.version, source.release);
    package.license = compiled.license.empty() ? "Unknown" : compiled.license;
    package.build_time = compile_time(resolution);
    package.provides = {
        {"kernel-modules", fmt::format("{}.{}", resolution.kernel.evr(), resolution.kernel.arch)},
        {"nvidia-kmod",
         source.epoch > 0 ? fmt::format("{}:{}", source.epoch, source.version) : source.version}};
    return package;
}

PackageFile write_package(const Context& ctx, const MadePackage& package) {
    const std::string rpm = make_rpm(package);
    PackageFile file;
    file.package.nevra = package.nevra;
    file.sha256 = sha256_hex(rpm);
    file.package.checksum = {ChecksumAlgorithm::sha256, file.sha256};
    file.package.size = rpm.size();
    file.package.build_time = package.build_time;
    file.package.why = {Reason::Kind::compiled};
    file.path = ctx.cache / "packages" / (file.sha256 + ".rpm");
    // Replaces the file if it exists: it may be damaged, or open in another build.
    make_directories(file.path.parent_path());
    write_file(file.path, rpm);
    auto content = std::make_shared<const PackageContent>(file.path);
    if (sha256_file(content->path()) != file.sha256) {
        throw error("{} changed while it was written", file.path.string());
    }
    file.content = std::move(content);
    return file;
}

}  // namespace

std::string compiled_modules_key(const Context& ctx, const std::vector<Repository>& repositories,
                                 const Resolution& resolution) {
    Sha256 digest;
    digest.update_field(resolution.kernel_uname);
    std::set<std::string> used;
    const auto add = [&](const ResolvedPackage& package) {
        digest.update_field(package.content_id());
        digest.update_field(package.repository);
        used.insert(package.repository);
    };
    add(*resolution.dkms_source);
    std::ranges::for_each(resolution.build_root, add);
    for (const Repository& repository : repositories) {
        if (used.contains(repository.id)) {
            digest.update_field(repository.id);
            digest.update_field(repository.gpgcheck ? key_material(ctx, repository) : "unchecked");
        }
    }
    return digest.hex();
}

std::optional<CompiledModules> find_compiled_modules(const Context& ctx, const std::string& key) {
    const std::optional<StoredEntry> entry = find_stored(ctx, kept_modules, key);
    if (!entry) {
        return std::nullopt;
    }
    std::optional<CompiledModules> compiled = restore(*entry);
    if (compiled) {
        entry->repeat_remarks(ctx.console);
    }
    return compiled;
}

CompiledModules build_modules(const Context& ctx, const std::string& key,
                              const Resolution& resolution, const ModuleBuildFiles& files) {
    return find_or_make(
        ctx, kept_modules, key,
        fmt::format("is compiling the NVIDIA kernel modules of {}", resolution.kernel_uname),
        restore, [&](NewEntry& entry) {
            CompiledModules made = compile_modules(ctx, resolution, files);
            store(entry, made);
            return made;
        });
}

PackageFile package_modules(const Context& ctx, const Resolution& resolution,
                            const CompiledModules& compiled, Signer& signer) {
    MadePackage package = describe_package(resolution, compiled);
    const std::string directory =
        fmt::format("/usr/lib/modules/{}/extra/", resolution.kernel_uname);
    for (const auto& [name, content] : compiled.modules) {
        package.files.emplace(directory + name + ".ko", signer.certificate()
                                                            ? content + signer.sign_module(content)
                                                            : content);
    }
    if (const std::optional<ModuleCertificate>& certificate = signer.certificate()) {
        const std::string path = fmt::format("{}/{}.der", certificate_directory, certificate->name);
        package.files.emplace(path, certificate->der);
        ctx.console->note(
            fmt::format("Secure Boot: run mokutil --import {} once on every device, then reboot "
                        "and confirm the enrolment",
                        path));
    }
    return write_package(ctx, package);
}

}  // namespace edgegpu
