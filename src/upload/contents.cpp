#include "upload/contents.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>

#include "commit/object.hpp"
#include "repository/object_files.hpp"
#include "repository/refs.hpp"
#include "support/error.hpp"
#include "support/files/directory.hpp"
#include "support/files/file.hpp"
#include "support/text/enum_names.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

constexpr std::string_view objects_prefix = "objects/";
constexpr std::string_view partial_suffix = ".commitpartial";
/// Of a checksum, the digits of the directory and those of the name.
constexpr std::size_t directory_digits = 2;
constexpr std::size_t name_digits = 62;
/// A checksum as deltas have it: base64 with "_" instead of "/", without its padding.
constexpr std::size_t delta_checksum_length = 43;

constexpr std::array extensions{
    std::pair{std::string_view("filez"), UploadStep::contents},
    std::pair{std::string_view("dirmeta"), UploadStep::contents},
    std::pair{std::string_view("dirtree"), UploadStep::directories},
    std::pair{std::string_view("commit"), UploadStep::commits},
    std::pair{std::string_view("commitmeta"), UploadStep::commit_metadata},
    std::pair{std::string_view("tombstone-commit"), UploadStep::commit_metadata},
};

/// "ab/cd….filez"
std::optional<UploadStep> step_of_object(std::string_view name) {
    const std::size_t length = directory_digits + 1 + name_digits;
    if (name.size() <= length + 1 || name[directory_digits] != '/' || name[length] != '.' ||
        !is_hexadecimal(name.substr(0, directory_digits)) ||
        !is_hexadecimal(name.substr(directory_digits + 1, name_digits))) {
        return std::nullopt;
    }
    const auto* const found = std::ranges::find(extensions, name.substr(length + 1),
                                                &std::pair<std::string_view, UploadStep>::first);
    return found == extensions.end() ? std::nullopt : std::optional(found->second);
}

bool is_delta_text(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '+' || c == '_' || c == '-';
    });
}

/// "AB/CD…-EF…/superblock", or a number in its place
std::optional<UploadStep> step_of_delta(std::string_view name) {
    const std::vector<std::string_view> parts = split(name, '/');
    const bool fits = parts.size() == 3 && parts[0].size() == directory_digits &&
                      is_delta_text(parts[0]) && is_delta_text(parts[1]) &&
                      parts[1].size() >= delta_checksum_length - directory_digits;
    if (fits && parts[2] == "superblock") {
        return UploadStep::superblocks;
    }
    const bool number = fits && !parts[2].empty() &&
                        std::ranges::all_of(parts[2], [](char c) { return c >= '0' && c <= '9'; });
    return number ? std::optional(UploadStep::delta_parts) : std::nullopt;
}

/// "AB/CD….index"
bool is_delta_index(std::string_view name) {
    const std::vector<std::string_view> parts = split(name, '/');
    constexpr std::string_view suffix = ".index";
    return parts.size() == 2 && parts[0].size() == directory_digits && is_delta_text(parts[0]) &&
           parts[1].ends_with(suffix) &&
           is_delta_text(parts[1].substr(0, parts[1].size() - suffix.size()));
}

/// Walks through the directories that have files with steps.
class Files {
public:
    Files(int repository, const std::string& shown) : repository_(repository), shown_(shown) {}

    FileSizes read() {
        read_partial();
        for (const char* name : {"config", "summary", "summary.sig"}) {
            add(repository_, name, name);
        }
        read_below("objects", 1);
        read_below("deltas", 2);
        read_below("delta-indexes", 1);
        return std::move(files_);
    }

private:
    [[nodiscard]] Fd open(const std::string& path) const {
        Fd opened = open_at(repository_, path, O_RDONLY | O_DIRECTORY,
                            RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
        if (!opened && errno != ENOENT) {
            throw errno_error(shown_ + '/' + path, errno);
        }
        return opened;
    }

    [[nodiscard]] std::vector<std::string> names(const std::string& path) const {
        Fd directory = open(path);
        if (!directory) {
            return {};
        }
        auto found = names_in(std::move(directory));
        if (!found) {
            throw errno_error(shown_ + '/' + path, errno);
        }
        return *std::move(found);
    }

    void read_partial() {
        for (const std::string& name : names("state")) {
            if (name.ends_with(partial_suffix)) {
                partial_.insert(name.substr(0, name.size() - partial_suffix.size()));
            }
        }
    }

    /// The files `levels` directories below `path`.
    // NOLINTNEXTLINE(misc-no-recursion): at most two levels
    void read_below(const std::string& path, unsigned levels) {
        for (const std::string& name : names(path)) {
            const std::string inner = path + '/' + name;
            struct stat status {};
            if (::fstatat(repository_, inner.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 ||
                !S_ISDIR(status.st_mode)) {
                continue;
            }
            if (levels > 1) {
                read_below(inner, levels - 1);
                continue;
            }
            const Fd directory = open(inner);
            for (const std::string& file : names(inner)) {
                add(directory.get(), file, inner + '/' + file);
            }
        }
    }

    void add(int directory, const std::string& name, const std::string& path) {
        const std::optional<UploadStep> step = step_of(path);
        struct stat status {};
        if (!step ||
            (*step == UploadStep::commits && partial_.contains(checksum_of_object(path)))) {
            return;
        }
        if (::fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
            if (errno == ENOENT) {
                return;
            }
            throw errno_error(shown_ + '/' + path, errno);
        }
        if (!S_ISREG(status.st_mode)) {
            throw error("{}/{}: is {}, not a file", shown_, path, kind_of(status.st_mode))
                .hinted("remove it, and publish again");
        }
        if (status.st_size == 0 && (*step == UploadStep::config || *step == UploadStep::summary)) {
            throw error("{}/{}: is empty, as a power failure leaves a file", shown_, path)
                .hinted("publish again; a repository without summary has no such file");
        }
        if (status.st_size > 0) {
            files_.emplace(path, static_cast<std::uint64_t>(status.st_size));
        }
    }

    int repository_;
    const std::string& shown_;
    std::set<std::string, std::less<>> partial_;
    FileSizes files_;
};

}  // namespace

std::string_view name_of(UploadStep step) {
    return nth_name(step, {"file objects", "directory objects", "commits", "signatures of commits",
                           "parts of deltas", "superblocks of deltas", "indexes of deltas",
                           "config", "refs", "summary"});
}

bool is_immutable(UploadStep step) noexcept {
    return step <= UploadStep::commits;
}

std::string_view cache_control_of(UploadStep step) noexcept {
    // docs/publish.md says why.
    return is_immutable(step) ? "public, max-age=31536000, immutable" : "no-cache";
}

std::optional<UploadStep> step_of(std::string_view path) {
    if (path == "config") {
        return UploadStep::config;
    }
    if (path == "summary" || path == "summary.sig") {
        return UploadStep::summary;
    }
    if (path.starts_with(objects_prefix)) {
        return step_of_object(path.substr(objects_prefix.size()));
    }
    if (path.starts_with(heads_prefix)) {
        return is_ref(path.substr(heads_prefix.size())) ? std::optional(UploadStep::refs)
                                                        : std::nullopt;
    }
    constexpr std::string_view deltas = "deltas/";
    if (path.starts_with(deltas)) {
        return step_of_delta(path.substr(deltas.size()));
    }
    constexpr std::string_view indexes = "delta-indexes/";
    return path.starts_with(indexes) && is_delta_index(path.substr(indexes.size()))
               ? std::optional(UploadStep::delta_indexes)
               : std::nullopt;
}

std::string superblock_of_part(std::string_view path) {
    return std::string(path.substr(0, path.rfind('/') + 1)) + "superblock";
}

DeltaCommits commits_of_delta(std::string_view path) {
    const std::vector<std::string_view> parts = split(path, '/');
    const auto delta = delta_of_name(std::string(parts[1]) + std::string(parts[2]));
    return delta ? DeltaCommits{delta->from, delta->to} : DeltaCommits();
}

std::string object_file(std::string_view checksum, std::string_view extension) {
    return std::string(objects_prefix) + object_path(checksum, extension);
}

std::string checksum_of_object(std::string_view path) {
    path.remove_prefix(objects_prefix.size());
    return std::string(path.substr(0, directory_digits)) +
           std::string(path.substr(directory_digits + 1, name_digits));
}

std::string_view extension_of_object(std::string_view path) {
    return path.substr(path.rfind('.') + 1);
}

FileSizes files_of_repository(int repository, const std::string& shown) {
    return Files(repository, shown).read();
}

}  // namespace edgegpu
