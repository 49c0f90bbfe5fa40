#include "repository/object_files.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>

#include "support/error.hpp"
#include "support/files/directory.hpp"
#include "support/files/file.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

constexpr std::size_t checksum_digits = 64;
/// base64 of 32 bytes, without its "="
constexpr std::size_t base64_digits = 43;

struct Extension {
    OstreeObjectType type;
    std::string_view text;
};

constexpr std::array extensions{Extension{OSTREE_OBJECT_TYPE_FILE, "filez"},
                                Extension{OSTREE_OBJECT_TYPE_DIR_TREE, "dirtree"},
                                Extension{OSTREE_OBJECT_TYPE_DIR_META, "dirmeta"},
                                Extension{OSTREE_OBJECT_TYPE_COMMIT, "commit"},
                                Extension{OSTREE_OBJECT_TYPE_COMMIT_META, "commitmeta"}};

Fd open_below(int repository, const std::string& path) {
    return open_at(repository, path, O_RDONLY | O_DIRECTORY, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
}

/// Empty for a directory that is not there.
std::vector<std::string> names_below(int repository, const std::string& path,
                                     const std::string& shown) {
    auto names = names_in(open_below(repository, path));
    if (!names && errno != ENOENT) {
        throw errno_error(shown + '/' + path, errno);
    }
    return names ? *std::move(names) : std::vector<std::string>();
}

std::optional<ObjectFile> object_of_name(const std::string& start, const std::string& name) {
    const std::size_t dot = name.find('.');
    if (dot == std::string::npos || start.size() + dot != checksum_digits) {
        return std::nullopt;
    }
    const auto* known =
        std::ranges::find(extensions, std::string_view(name).substr(dot + 1), &Extension::text);
    std::string checksum = start + name.substr(0, dot);
    if (known == extensions.end() || !is_hexadecimal(checksum)) {
        return std::nullopt;
    }
    return ObjectFile{known->type, std::move(checksum), 0, 0};
}

std::string decoded(std::string_view base64) {
    if (base64.size() != base64_digits ||
        base64.find_first_not_of(
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+") !=
            std::string_view::npos) {
        return {};
    }
    std::array<guchar, 32> bytes{};
    ostree_checksum_b64_inplace_to_bytes(std::string(base64).c_str(), bytes.data());
    return hexadecimal({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

void add_sizes(const Fd& directory, const std::string& path, const std::string& shown,
               DeltaDirectory& delta) {
    for (const std::string& name : names_below(directory.get(), ".", shown + '/' + path)) {
        struct stat status {};
        if (::fstatat(directory.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(status.st_mode)) {
            delta.bytes += static_cast<std::uint64_t>(status.st_size);
            delta.has_superblock = delta.has_superblock || name == "superblock";
        }
    }
}

}  // namespace

std::string object_file_name(OstreeObjectType type, const std::string& checksum) {
    return ObjectFile{type, checksum, 0, 0}.name();
}

std::string ObjectFile::name() const {
    const auto* known = std::ranges::find(extensions, type, &Extension::type);
    return fmt::format("{}/{}.{}", checksum.substr(0, 2), checksum.substr(2),
                       known == extensions.end() ? "" : known->text);
}

std::vector<ObjectFile> list_object_files(int repository, const std::string& shown) {
    std::vector<ObjectFile> files;
    for (const std::string& start : names_below(repository, "objects", shown)) {
        if (start.size() != 2 || !is_hexadecimal(start)) {
            continue;
        }
        const std::string path = "objects/" + start;
        const Fd directory = open_below(repository, path);
        for (const std::string& name : names_below(repository, path, shown)) {
            std::optional<ObjectFile> file = object_of_name(start, name);
            struct stat status {};
            if (!file ||
                ::fstatat(directory.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 ||
                !S_ISREG(status.st_mode)) {
                continue;
            }
            file->bytes = static_cast<std::uint64_t>(status.st_size);
            file->modified = status.st_mtim.tv_sec;
            files.push_back(*std::move(file));
        }
    }
    return files;
}

std::optional<DeltaDirectory> delta_of_name(std::string_view name) {
    // The names are base64 with a "_" for "/", so that a "-" is between two.
    const std::size_t dash = name.find('-');
    DeltaDirectory delta;
    delta.to = decoded(dash == std::string_view::npos ? name : name.substr(dash + 1));
    if (dash != std::string_view::npos) {
        delta.from = decoded(name.substr(0, dash));
    }
    if (delta.to.empty() || (dash != std::string_view::npos && delta.from.empty())) {
        return std::nullopt;
    }
    delta.path = fmt::format("deltas/{}/{}", name.substr(0, 2), name.substr(2));
    return delta;
}

std::vector<DeltaDirectory> list_delta_directories(int repository, const std::string& shown) {
    std::vector<DeltaDirectory> deltas;
    for (const std::string& start : names_below(repository, "deltas", shown)) {
        if (start.size() != 2) {
            continue;
        }
        for (const std::string& rest : names_below(repository, "deltas/" + start, shown)) {
            std::optional<DeltaDirectory> delta = delta_of_name(start + rest);
            if (const Fd directory = delta ? open_below(repository, delta->path) : Fd()) {
                add_sizes(directory, delta->path, shown, *delta);
                deltas.push_back(*std::move(delta));
            }
        }
    }
    return deltas;
}

}  // namespace edgegpu
