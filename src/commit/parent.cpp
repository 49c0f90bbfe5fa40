#include <array>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h>

#include "commit/repository.hpp"
#include "support/error.hpp"

namespace edgegpu {
namespace {

using EnumeratorHandle = Handle<GFileEnumerator, g_object_unref>;

// Content of a file of a commit, ending with a newline; empty if it does not exist.
std::string committed_file(const Repo::Impl& repo, GFile* root, const char* path) {
    const FileHandle file(g_file_resolve_relative_path(root, path));
    GlibFailure failure;
    char* data = nullptr;
    gsize size = 0;
    if (g_file_load_contents(file.get(), nullptr, &data, &size, nullptr, failure.out()) == FALSE) {
        if (failure.is(G_IO_ERROR_NOT_FOUND) || failure.is(G_IO_ERROR_NOT_DIRECTORY)) {
            return {};
        }
        throw failure.to_error(repo.path.string(),
                               fmt::format("cannot read /{} of the parent commit", path));
    }
    const TextHandle owned(data);
    std::string content(data, size);
    if (!content.empty() && content.back() != '\n') {
        content += '\n';
    }
    return content;
}

std::string metadata_text(GVariant* metadata, const char* key) {
    const VariantHandle value(g_variant_lookup_value(metadata, key, G_VARIANT_TYPE_STRING));
    return value ? g_variant_get_string(value.get(), nullptr) : "";
}

/// The version of a package, by the package list of the commit's metadata; empty: it has none.
std::string package_version(GVariant* metadata, std::string_view name) {
    const VariantHandle list(
        g_variant_lookup_value(metadata, "rpmostree.rpmdb.pkglist", G_VARIANT_TYPE("a(sssss)")));
    for (gsize i = 0; list && i < g_variant_n_children(list.get()); ++i) {
        const VariantHandle package(g_variant_get_child_value(list.get(), i));
        std::array<const char*, 3> text{};
        // name, epoch, version, release, architecture
        g_variant_get(package.get(), "(&s&s&sss)", &text[0], &text[1], &text[2], nullptr, nullptr);
        if (text[0] == name) {
            return text[2];
        }
    }
    return {};
}

/// Paths below the commit's root of the files in a directory and those below it; none if there is
/// no such directory.
std::vector<std::string> files_below(GFile* root, const std::string& top) {
    std::vector<std::string> files;
    std::vector<std::string> directories{top};
    while (!directories.empty()) {
        const std::string directory = std::move(directories.back());
        directories.pop_back();
        const FileHandle opened(g_file_resolve_relative_path(root, directory.c_str()));
        GlibFailure failure;
        const EnumeratorHandle children(
            g_file_enumerate_children(opened.get(), "standard::name,standard::type",
                                      G_FILE_QUERY_INFO_NOFOLLOW_SYMLINKS, nullptr, failure.out()));
        GFileInfo* info = nullptr;
        while (children &&
               g_file_enumerator_iterate(children.get(), &info, nullptr, nullptr, failure.out()) !=
                   FALSE &&
               info != nullptr) {
            const GFileType type = g_file_info_get_file_type(info);
            std::string path = fmt::format("{}/{}", directory, g_file_info_get_name(info));
            if (type == G_FILE_TYPE_DIRECTORY) {
                directories.push_back(std::move(path));
            } else if (type == G_FILE_TYPE_REGULAR) {
                files.push_back(std::move(path));
            }
        }
    }
    return files;
}

std::map<std::string, std::string> microshift_config_of(const Repo::Impl& repo, GFile* root) {
    std::vector<std::string> files = files_below(root, "usr/etc/microshift/config.d");
    files.emplace_back("usr/etc/microshift/config.yaml");
    std::map<std::string, std::string> config;
    for (const std::string& file : files) {
        std::string text = committed_file(repo, root, file.c_str());
        if (file.ends_with(".yaml") && !text.empty()) {
            config[file.substr(std::string_view("usr").size())] = std::move(text);
        }
    }
    return config;
}

Parent load_parent(const Repo::Impl& repo, const std::string& checksum) {
    GlibFailure failure;
    const auto hint =
        "the repository is damaged: run `ostree fsck` on it, or name another parent "
        "in [ostree] parent";
    GVariant* loaded = nullptr;
    if (ostree_repo_load_commit(repo.ostree.get(), checksum.c_str(), &loaded, nullptr,
                                failure.out()) == FALSE) {
        throw failure.to_error(repo.path.string(), "cannot read the parent commit " + checksum)
            .hinted(hint);
    }
    const VariantHandle commit(loaded);
    const VariantHandle metadata(g_variant_get_child_value(commit.get(), 0));
    GFile* opened = nullptr;
    if (ostree_repo_read_commit(repo.ostree.get(), checksum.c_str(), &opened, nullptr, nullptr,
                                failure.out()) == FALSE) {
        throw failure.to_error(repo.path.string(), "cannot read the parent commit " + checksum)
            .hinted(hint);
    }
    const FileHandle root(opened);
    Parent parent;
    parent.checksum = checksum;
    parent.inputs_digest = metadata_text(metadata.get(), "edgegpu.inputs-digest");
    parent.version = metadata_text(metadata.get(), "version");
    const auto both = [&](const char* base, const char* local) {
        return committed_file(repo, root.get(), base) + committed_file(repo, root.get(), local);
    };
    parent.accounts.passwd = both("usr/lib/passwd", "usr/etc/passwd");
    parent.microshift = package_version(metadata.get(), "microshift");
    parent.microshift_config = microshift_config_of(repo, root.get());
    parent.accounts.group = both("usr/lib/group", "usr/etc/group");
    return parent;
}

/// Reads the manifests of a commit, up to limits.
class ReadingManifests {
public:
    ReadingManifests(const Repo::Impl& repo, const std::string& checksum)
        : repo_(repo), checksum_(checksum) {}

    /// `path` is that on a device.
    // NOLINTNEXTLINE(misc-no-recursion): at most most_levels
    void read(GFile* file, const std::string& path, unsigned level) {
        switch (g_file_query_file_type(file, G_FILE_QUERY_INFO_NOFOLLOW_SYMLINKS, nullptr)) {
            case G_FILE_TYPE_DIRECTORY:
                read_directory(file, path, level);
                return;
            case G_FILE_TYPE_REGULAR:
                read_content(file, path);
                return;
            default:
                return;
        }
    }

    std::map<std::string, std::string> take() { return std::move(files_); }

private:
    static constexpr unsigned most_levels = 32;
    static constexpr std::size_t most_manifests = 8192;
    static constexpr std::uint64_t most_bytes = 64U << 20U;

    [[nodiscard]] Error refused(const std::string& path, std::string_view why) const {
        return error("{}: {} of commit {}: {}", repo_.path.string(), path, checksum_, why);
    }

    // NOLINTNEXTLINE(misc-no-recursion): at most most_levels
    void read_directory(GFile* directory, const std::string& path, unsigned level) {
        if (level > most_levels) {
            throw refused(path, "more than 32 directories in each other");
        }
        GlibFailure failure;
        const Handle<GFileEnumerator, g_object_unref> children(
            g_file_enumerate_children(directory, "standard::name",
                                      G_FILE_QUERY_INFO_NOFOLLOW_SYMLINKS, nullptr, failure.out()));
        if (!children) {
            throw failure.to_error(repo_.path.string(), "cannot read " + path);
        }
        while (true) {
            GFileInfo* info = nullptr;
            GFile* child = nullptr;
            if (g_file_enumerator_iterate(children.get(), &info, &child, nullptr, failure.out()) ==
                FALSE) {
                throw failure.to_error(repo_.path.string(), "cannot read " + path);
            }
            if (info == nullptr) {
                return;
            }
            read(child, path + '/' + g_file_info_get_name(info), level + 1);
        }
    }

    void read_content(GFile* file, const std::string& path) {
        GlibFailure failure;
        const Handle<GFileInfo, g_object_unref> info(g_file_query_info(
            file, "standard::size", G_FILE_QUERY_INFO_NOFOLLOW_SYMLINKS, nullptr, failure.out()));
        if (!info) {
            throw failure.to_error(repo_.path.string(), "cannot read " + path);
        }
        // The commit may lie about it, so that it is counted again below.
        const goffset claimed = g_file_info_get_size(info.get());
        if (files_.size() >= most_manifests || claimed < 0 ||
            static_cast<std::uint64_t>(claimed) > most_bytes - bytes_) {
            throw refused(path, "more than 8192 manifests or 64 MiB");
        }
        const Handle<GFileInputStream, g_object_unref> stream(
            g_file_read(file, nullptr, failure.out()));
        std::string& content = files_[path];
        std::array<char, 64U << 10U> part{};
        gssize size = stream ? 1 : -1;
        while (size > 0) {
            size = g_input_stream_read(G_INPUT_STREAM(stream.get()), part.data(), part.size(),
                                       nullptr, failure.out());
            if (size > 0) {
                bytes_ += static_cast<std::uint64_t>(size);
                if (bytes_ > most_bytes) {
                    throw refused(path, "more than 8192 manifests or 64 MiB");
                }
                content.append(part.data(), static_cast<std::size_t>(size));
            }
        }
        if (size < 0) {
            throw failure.to_error(repo_.path.string(), "cannot read " + path);
        }
    }

    const Repo::Impl& repo_;
    const std::string& checksum_;
    std::map<std::string, std::string> files_;
    std::uint64_t bytes_ = 0;
};

}  // namespace

std::map<std::string, std::string> read_manifests(const Repo& repo, const std::string& checksum) {
    const Repo::Impl& impl = repo.impl();
    GlibFailure failure;
    GFile* opened = nullptr;
    if (ostree_repo_read_commit(impl.ostree.get(), checksum.c_str(), &opened, nullptr, nullptr,
                                failure.out()) == FALSE) {
        throw failure.to_error(impl.path.string(), "cannot read the commit " + checksum);
    }
    const FileHandle root(opened);
    ReadingManifests reading(impl, checksum);
    for (const char* top : {"etc/microshift", "usr/lib/microshift"}) {
        for (const char* name : {"manifests", "manifests.d"}) {
            const std::string path = fmt::format("{}/{}", top, name);
            const std::string committed = path.starts_with("etc/") ? "usr/" + path : path;
            const FileHandle directory(g_file_resolve_relative_path(root.get(), committed.c_str()));
            reading.read(directory.get(), '/' + path, 0);
        }
    }
    return reading.take();
}

std::optional<Parent> read_parent(const Repo& repo, const OstreeRequest& ostree, Signer& signer) {
    const Repo::Impl& impl = repo.impl();
    if (::access(impl.summary_marker().c_str(), F_OK) == 0) {
        // A build was killed before it had updated the summary.
        update_summary(impl, signer);
    }
    const bool named = !ostree.parent.empty();
    const std::string checksum = named ? resolve_commit(impl, ostree.parent) : impl.ref_at_start;
    if (checksum.empty()) {
        if (named) {
            throw error(ErrorKind::usage,
                        "{}: no commit or ref \"{}\", which [ostree] parent names",
                        impl.path.string(), ostree.parent)
                .hinted("pull it into the repository first, or omit `parent`");
        }
        return std::nullopt;
    }
    return load_parent(impl, checksum);
}

}  // namespace edgegpu
