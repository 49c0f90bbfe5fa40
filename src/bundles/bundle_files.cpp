#include "bundles/bundle_files.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <sys/stat.h>

#include "blueprint/sources/source_directory.hpp"
#include "support/files/digest.hpp"
#include "support/files/file.hpp"

namespace edgegpu {

namespace {

constexpr std::size_t most_files = 4096;
constexpr std::uint64_t most_bytes_of_files = 32U << 20U;

/// Collects files up to the limits.
class Collecting {
public:
    explicit Collecting(BundleFiles& bundle) : bundle_(bundle) {}

    [[nodiscard]] Error refused(std::string_view name, std::string_view reason) const {
        return bundle_.in_bundle(error(ErrorKind::usage, "{}: {}", bundle_.path_of(name), reason));
    }

    [[nodiscard]] Error link(std::string_view name) const {
        return refused(name, "is a symbolic link")
            .hinted("a bundle may contain only directories and regular files");
    }

    /// Throws if a further file of `size` bytes is too much.
    void count(std::string_view name, std::uint64_t size) {
        if (bundle_.files.size() >= most_files || size > most_bytes_of_files - bytes_) {
            throw refused(name, "the bundle has more than 4096 files or 32 MiB")
                .hinted("a bundle contains manifests; what else is in its directory?");
        }
        bytes_ += size;
    }

private:
    BundleFiles& bundle_;
    std::uint64_t bytes_ = 0;
};

}  // namespace

std::string BundleFiles::path_of(std::string_view file) const {
    if (!moved_to.empty() && file.starts_with(moved_to) &&
        (file.size() == moved_to.size() || file[moved_to.size()] == '/')) {
        file.remove_prefix(std::min(file.size(), moved_to.size() + 1));
    } else if (!moved_to.empty() && !file.empty()) {
        return place_named_in(file).text();
    }
    return file.empty() ? source.string() : (source / file).string();
}

SourceLocation BundleFiles::place_of(std::string_view file, std::uint32_t line,
                                     std::uint32_t column) const {
    const bool generated = !moved_to.empty() && !file.starts_with(moved_to + '/');
    return generated ? place_named_in(file) : SourceLocation{path_of(file), line, column};
}

const SourceLocation& BundleFiles::place_named_in(std::string_view message) const {
    for (const GeneratedPart& part : parts) {
        if (message.find(part.called) != std::string_view::npos) {
            return part.location;
        }
    }
    return location;
}

std::string BundleFiles::title() const {
    return location.file.empty() ? fmt::format("bundle \"{}\"", name)
                                 : fmt::format("{}: bundle \"{}\"", location.text(), name);
}

Error BundleFiles::in_bundle(Error failure) const {
    if (!location.file.empty()) {
        failure.traced(fmt::format("in bundle \"{}\" of {}", name, location.text()));
    }
    return failure;
}

std::string BundleFiles::digest() const {
    Sha256 digest;
    for (const auto& [file, content] : files) {
        digest.update_field(file);
        digest.update_field(content);
    }
    return digest.hex();
}

bool is_kustomization_name(std::string_view name) {
    static constexpr std::array<std::string_view, 3> names{"kustomization.yaml",
                                                           "kustomization.yml", "Kustomization"};
    return std::ranges::find(names, name) != names.end();
}

BundleFiles read_bundle_files(std::string name, std::filesystem::path source,
                              SourceLocation location) {
    BundleFiles bundle{std::move(name), std::move(source), std::move(location), {}};
    Collecting collecting(bundle);
    walk_source(
        bundle.source, true,
        [&](const SourceObject& object) {
            if (S_ISLNK(object.mode)) {
                throw collecting.link(object.name);
            }
            if (S_ISREG(object.mode)) {
                collecting.count(object.name, object.size);
                bundle.files[object.name] =
                    read_file(object.file, bundle.path_of(object.name), most_bytes_of_files);
            }
        },
        [&](std::string_view object, std::string_view reason) {
            return collecting.refused(object, reason);
        });
    return bundle;
}

BundleFiles read_bundle_files(std::string name, std::filesystem::path source,
                              SourceLocation location, const StoredSource& stored) {
    BundleFiles bundle{std::move(name), std::move(source), std::move(location), {}};
    Collecting collecting(bundle);
    for (const StoredMember& member : stored.members) {
        if (member.type == MemberType::symlink) {
            throw collecting.link(member.name);
        }
        if (member.type == MemberType::file) {
            collecting.count(member.name, member.content.size);
            bundle.files[member.name] = read_file(member.content.path, most_bytes_of_files);
        }
    }
    return bundle;
}

}  // namespace edgegpu
