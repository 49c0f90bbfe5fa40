#include <array>
#include <map>
#include <string_view>
#include <utility>

#include <unistd.h>

#include "commit/repository.hpp"
#include "support/error.hpp"

namespace edgegpu {
namespace {

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

/// How much of a commit is read: one that was not made by edgegpu may have any number of
/// directories, since one object can be many of them.
struct ReadingLimits {
    std::size_t entries;
    std::uint64_t bytes;
};

constexpr ReadingLimits manifests_limits{8192, 64U << 20U};
constexpr ReadingLimits config_limits{1024, 4U << 20U};
constexpr unsigned most_levels = 32;

/// Reads files of a commit, up to limits.
class ReadingFiles {
public:
    /// Files whose names end otherwise than in `suffix` are passed over.
    ReadingFiles(const Repo::Impl& repo, const std::string& checksum, ReadingLimits limits,
                 std::string_view suffix = {})
        : repo_(repo), checksum_(checksum), limits_(limits), suffix_(suffix) {}

    /// `path` is that on a device, of a file or directory; nothing is read if there is none.
    void read(GFile* root, const std::string& path) {
        const std::string committed = (path.starts_with("/etc/") ? "usr" : "") + path;
        const FileHandle found = find(root, committed, path);
        if (found) {
            read(found.get(), path, 0);
        }
    }

    std::map<std::string, std::string> take() { return std::move(files_); }

private:
    [[nodiscard]] Error refused(const std::string& path, std::string_view why) const {
        return error("{}: {} of commit {}: {}", repo_.path.string(), path, checksum_, why);
    }
    [[nodiscard]] Error too_much(const std::string& path) const {
        return refused(path, fmt::format("more than {} files and directories, or {} MiB",
                                         limits_.entries, limits_.bytes >> 20U));
    }
    [[nodiscard]] Error unreadable(const GlibFailure& failure, const std::string& path) const {
        return failure.to_error(repo_.path.string(), "cannot read " + path);
    }

    /// Nothing if the commit has no such file. That an object is missing, which libostree reports
    /// with the same error, is an error here.
    [[nodiscard]] FileHandle find(GFile* root, std::string_view committed,
                                  const std::string& path) const {
        FileHandle file(static_cast<GFile*>(g_object_ref(root)));
        while (!committed.empty()) {
            committed.remove_prefix(committed.starts_with('/') ? 1 : 0);
            const std::string name(committed.substr(0, committed.find('/')));
            committed.remove_prefix(name.size());
            GlibFailure failure;
            OstreeRepoFile* directory = OSTREE_REPO_FILE(file.get());
            if (ostree_repo_file_ensure_resolved(directory, failure.out()) == FALSE) {
                throw unreadable(failure, path);
            }
            gboolean is_directory = FALSE;
            if (ostree_repo_file_tree_get_contents(directory) == nullptr ||
                ostree_repo_file_tree_find_child(directory, name.c_str(), &is_directory, nullptr) <
                    0) {
                return FileHandle();
            }
            file = FileHandle(g_file_get_child(file.get(), name.c_str()));
        }
        return file;
    }

    // NOLINTNEXTLINE(misc-no-recursion): at most most_levels
    void read(GFile* file, const std::string& path, unsigned level) {
        if (++entries_ > limits_.entries) {
            throw too_much(path);
        }
        GlibFailure failure;
        const Handle<GFileInfo, g_object_unref> info(
            g_file_query_info(file, "standard::type,standard::size",
                              G_FILE_QUERY_INFO_NOFOLLOW_SYMLINKS, nullptr, failure.out()));
        if (!info) {
            throw unreadable(failure, path);
        }
        const GFileType type = g_file_info_get_file_type(info.get());
        if (type == G_FILE_TYPE_DIRECTORY) {
            read_directory(file, path, level);
        } else if (type == G_FILE_TYPE_REGULAR && path.ends_with(suffix_)) {
            read_content(file, path, g_file_info_get_size(info.get()));
        }
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
            throw unreadable(failure, path);
        }
        while (true) {
            GFileInfo* info = nullptr;
            GFile* child = nullptr;
            if (g_file_enumerator_iterate(children.get(), &info, &child, nullptr, failure.out()) ==
                FALSE) {
                throw unreadable(failure, path);
            }
            if (info == nullptr) {
                return;
            }
            read(child, path + '/' + g_file_info_get_name(info), level + 1);
        }
    }

    void read_content(GFile* file, const std::string& path, goffset claimed) {
        // The commit may lie about it, so that it is counted again below.
        if (claimed < 0 || static_cast<std::uint64_t>(claimed) > limits_.bytes - bytes_) {
            throw too_much(path);
        }
        GlibFailure failure;
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
                if (bytes_ > limits_.bytes) {
                    throw too_much(path);
                }
                content.append(part.data(), static_cast<std::size_t>(size));
            }
        }
        if (size < 0) {
            throw unreadable(failure, path);
        }
    }

    const Repo::Impl& repo_;
    const std::string& checksum_;
    ReadingLimits limits_;
    std::string_view suffix_;
    std::map<std::string, std::string> files_;
    std::size_t entries_ = 0;
    std::uint64_t bytes_ = 0;
};

/// The files of MicroShift's configuration into `parent`, or why they cannot be read.
void read_microshift_config(const Repo::Impl& repo, GFile* root, Parent& parent) {
    try {
        ReadingFiles reading(repo, parent.checksum, config_limits, ".yaml");
        reading.read(root, "/etc/microshift/config.yaml");
        reading.read(root, "/etc/microshift/config.d");
        parent.microshift_config = reading.take();
    } catch (const Error& failure) {
        parent.microshift_config_problem = failure.message();
    }
}

/// Without an object of the parent nothing is known of its keys: devices that have it have all of
/// them.
void read_device_keys(const Repo::Impl& repo, GFile* root, Parent& parent) {
    try {
        ReadingFiles reading(repo, parent.checksum, config_limits);
        reading.read(root, "/etc/pki/edgegpu");
        parent.device_keys = reading.take();
    } catch (const Error&) {
        parent.device_keys.clear();
    }
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
    if (!parent.microshift.empty()) {
        read_microshift_config(repo, root.get(), parent);
    }
    parent.accounts.group = both("usr/lib/group", "usr/etc/group");
    read_device_keys(repo, root.get(), parent);
    return parent;
}

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
    ReadingFiles reading(impl, checksum, manifests_limits);
    for (const char* top : {"/etc/microshift", "/usr/lib/microshift"}) {
        for (const char* name : {"manifests", "manifests.d"}) {
            reading.read(root.get(), fmt::format("{}/{}", top, name));
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
