#include "parent/parent_image.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "parent/parent_packages.hpp"
#include "repository/object_check.hpp"
#include "repository/ostree_object.hpp"
#include "support/error.hpp"
#include "support/text/shell_text.hpp"

namespace edgegpu {

namespace {

RepositoryView open_repository(const ParentRequest& request) {
    try {
        return RepositoryView(request.repository);
    } catch (const Error& failure) {
        if (failure.kind() != ErrorKind::usage) {
            throw;
        }
        throw error(ErrorKind::usage, "{}: the parent cannot be read: {}", request.location.text(),
                    failure.message())
            .hinted("repository in [parent] is an ostree repository with the commit");
    }
}

CommitView open_commit(const RepositoryView& repository, const ParentRequest& request) {
    try {
        return repository.open(request.ref);
    } catch (const Error& failure) {
        if (failure.kind() != ErrorKind::usage) {
            throw;
        }
        throw error(ErrorKind::usage, "{}: there is no such parent: {}", request.location.text(),
                    failure.message())
            .hinted("pull it into the repository first, or name another ref or checksum");
    }
}

/// Compares the commit with its checksum.
VariantHandle checked_commit(const RepositoryView& repository, const CommitView& commit,
                             const std::string& remedy) {
    CheckedObject found = check_object(
        repository.handle(), {OSTREE_OBJECT_TYPE_COMMIT, commit.info().checksum, "the commit"});
    if (found.state != ObjectState::good) {
        throw error("{}: commit {} is damaged: {}", repository.path(), commit.info().checksum,
                    name_of(found.state))
            .hinted(remedy);
    }
    return std::move(found.object);
}

/// Devices start nothing that does not say that it is bootable.
void require_bootable(GVariant* commit, const ParentRequest& request, const std::string& name) {
    const VariantHandle metadata(g_variant_get_child_value(commit, 0));
    const VariantHandle bootable = metadata_value(metadata.get(), "ostree.bootable", "b", name);
    const bool for_bootc = !metadata_text(metadata.get(), "containers.bootc", name).empty();
    if (!for_bootc && (!bootable || g_variant_get_boolean(bootable.get()) == FALSE)) {
        throw error(ErrorKind::usage,
                    "{}: {} is not bootable: it has neither ostree.bootable nor containers.bootc",
                    request.location.text(), name)
            .hinted("name the commit of a whole image, not one of other content");
    }
}

void require_architecture(GVariant* commit, const ParentRequest& request, const std::string& name,
                          const std::string& architecture) {
    const VariantHandle metadata(g_variant_get_child_value(commit, 0));
    const std::string own = metadata_text(metadata.get(), "ostree.architecture", name);
    if (!own.empty() && own != architecture) {
        throw error(ErrorKind::usage, "{}: {} is for {}, and the blueprint for {}",
                    request.location.text(), name, own, architecture)
            .hinted("set architecture in the blueprint, or name another parent");
    }
}

/// The only directory of /usr/lib/modules with a kernel.
std::string kernel_of(const CommitView& commit, const ParentRequest& request,
                      const std::string& name) {
    constexpr std::string_view modules = "/usr/lib/modules";
    std::vector<std::string> kernels;
    if (const std::optional<CommitNode> node = commit.find(modules); node && node->directory) {
        for (const auto& [directory, inner] : commit.list(*node, modules)) {
            const std::string path = fmt::format("{}/{}", modules, directory);
            if (inner.directory && commit.list(inner, path).contains("vmlinuz")) {
                kernels.push_back(directory);
            }
        }
    }
    if (kernels.size() != 1) {
        throw error(ErrorKind::usage, "{}: {} has {} in {} (DIRECTORY/vmlinuz), and not one",
                    request.location.text(), name,
                    kernels.empty() ? "no kernel" : fmt::format("{} kernels", kernels.size()),
                    modules)
            .hinted("an image keeps the kernel of its parent, which has to have exactly one");
    }
    return kernels.front();
}

/// Of the parent's kernel arguments, those in the metadata of edgegpu's commits are known.
void warn_of_kernel_arguments(const Context& ctx, const CommitView& commit,
                              const ParentRequest& request, const std::string& name) {
    constexpr std::string_view place = "/usr/lib/bootc/kargs.d";
    const std::optional<CommitNode> node = commit.find(place);
    if (!node || !node->directory) {
        return;
    }
    std::vector<std::string> others;
    for (const auto& [file, inner] : commit.list(*node, place)) {
        if (!inner.directory && file.ends_with(".toml") && file != "10-edgegpu.toml") {
            others.push_back(file);
        }
    }
    if (!others.empty()) {
        ctx.console->warn(fmt::format(
            "{}: {} has kernel arguments in {} ({}), which bootc alone passes on: append to "
            "[customizations.kernel] those that disks of edgegpu image or OpenShift's nodes need",
            request.location.text(), name, place, fmt::join(others, ", ")));
    }
}

}  // namespace

ParentImage::ParentImage(const Context& ctx, const ParentRequest& request,
                         const std::string& architecture)
    : repository_(open_repository(request)),
      commit_(open_commit(repository_, request)),
      remedy_(request.image ? fmt::format("remove {}: the image is imported again",
                                          shell_word(request.repository.parent_path().string()))
                            : "pull the commit again, or check the repository with `ostree fsck`") {
    const VariantHandle commit = checked_commit(repository_, commit_, remedy_);
    require_bootable(commit.get(), request, name());
    require_architecture(commit.get(), request, name(), architecture);
    warn_of_kernel_arguments(ctx, commit_, request, name());
    kernel_ = kernel_of(commit_, request, name());
    headers_ = read_headers(ctx, commit_, name());
    packages_ = packages_of(headers_, name());
    const auto other = std::ranges::find_if(packages_, [&](const ImportedPackage& package) {
        const std::string& arch = package.nevra.arch;
        const bool fits =
            arch == architecture || arch == "noarch" ||
            (architecture == "x86_64" && arch.starts_with('i') && arch.ends_with("86"));
        return !fits;
    });
    if (other != packages_.end()) {
        throw error(ErrorKind::usage, "{}: {} has package {}, and the blueprint is for {}",
                    request.location.text(), name(), other->nevra.text(), architecture)
            .hinted("set architecture in the blueprint, or name another parent");
    }
}

std::map<std::string, std::string> ParentImage::read_texts(
    const std::string& directory, const std::function<bool(const std::string&)>& wanted) const {
    constexpr std::uint64_t limit = 1U << 20U;
    std::map<std::string, std::string> texts;
    const std::optional<CommitNode> node = commit_.find(directory);
    if (!node || !node->directory) {
        return texts;
    }
    for (const auto& [file, inner] : commit_.list(*node, directory)) {
        const std::string path = fmt::format("{}/{}", directory, file);
        if (wanted(file)) {
            if (std::optional<std::string> text = commit_.read(inner, path, limit)) {
                texts[file] = *std::move(text);
            }
        }
    }
    return texts;
}

std::string ParentImage::name() const {
    return info().name == info().checksum
               ? fmt::format("parent {}", info().checksum)
               : fmt::format("parent {} ({})", info().name, info().checksum);
}

}  // namespace edgegpu
