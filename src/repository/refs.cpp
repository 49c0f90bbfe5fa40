#include "repository/refs.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>

#include "repository/ostree_object.hpp"
#include "support/error.hpp"
#include "support/files/directory.hpp"
#include "support/files/file.hpp"
#include "support/glib.hpp"
#include "support/text/shell_text.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

/// A ref's file has a checksum and a newline; whatever is larger is none.
constexpr std::uint64_t largest_ref = 4096;
/// Directories in each other; libostree holds one descriptor for each.
constexpr unsigned most_levels = 64;

bool is_ref_part(std::string_view part) {
    const auto is_word = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_';
    };
    return !part.empty() && is_word(part.front()) &&
           std::ranges::all_of(part, [&](char c) { return is_word(c) || c == '-' || c == '.'; });
}

/// The checksum in the file of a ref, of which `path` is below the repository; empty if there is
/// none.
std::string read_file_of_ref(int repository, const std::string& shown, const std::string& path) {
    const std::string name = shown + '/' + path;
    const auto unfit = [&](std::string_view what) {
        return error("{}: {}", name, what)
            .hinted(fmt::format("remove it (rm {}), or name another repository with --repo",
                                shell_word(name)));
    };
    const Fd place = open_at(repository, path, O_PATH, RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS);
    struct stat status {};
    if (!place && errno == ENOENT &&
        (::fstatat(repository, path.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 ||
         !S_ISLNK(status.st_mode))) {
        return {};
    }
    if (!place && (errno == ENOENT || errno == ELOOP || errno == EXDEV)) {
        throw unfit("a link that leads to no ref of this repository");
    }
    if (!place || ::fstat(place.get(), &status) != 0) {
        throw errno_error(name, errno);
    }
    if (!S_ISREG(status.st_mode)) {
        throw unfit(fmt::format("is {}, not a ref", kind_of(status.st_mode)));
    }
    const std::string text =
        static_cast<std::uint64_t>(status.st_size) > largest_ref
            ? std::string()
            : read_file(open_regular(place.get(), name).get(), name, largest_ref);
    const std::string_view checksum = trim_end(text);
    if (!is_sha256(checksum)) {
        throw unfit("not a ref: it does not contain the checksum of a commit");
    }
    return std::string(checksum);
}

/// Reads the refs of one directory and of those in it.
class ReadingRefs {
public:
    ReadingRefs(int repository, const std::string& shown, std::map<std::string, std::string>& found)
        : repository_(repository), shown_(shown), found_(found) {}

    /// `path` is that of the directory below the repository, `prefix` what precedes its names.
    // NOLINTNEXTLINE(misc-no-recursion): at most most_levels
    void read(const std::string& path, const std::string& prefix, unsigned level = 0) {
        if (level > most_levels) {
            throw error("{}/{}: more than {} directories in each other", shown_, path, most_levels)
                .hinted("no refs are named like this: remove them");
        }
        const auto names = names_in(open_at(repository_, path, O_RDONLY | O_DIRECTORY,
                                            RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS));
        if (!names) {
            if (errno == ENOENT && level == 0) {
                return;
            }
            throw errno_error(shown_ + '/' + path, errno);
        }
        for (const std::string& name : *names) {
            if (is_ref_part(name)) {
                read_entry(path + '/' + name, prefix + name, level);
            }
        }
    }

private:
    // NOLINTNEXTLINE(misc-no-recursion): at most most_levels
    void read_entry(const std::string& path, const std::string& ref, unsigned level) {
        struct stat status {};
        if (::fstatat(repository_, path.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
            if (errno == ENOENT) {
                return;  // deleted meanwhile
            }
            throw errno_error(shown_ + '/' + path, errno);
        }
        if (S_ISDIR(status.st_mode)) {
            read(path, ref + '/', level + 1);
        } else if (std::string checksum = read_file_of_ref(repository_, shown_, path);
                   !checksum.empty()) {
            found_.emplace(ref, std::move(checksum));
        }
    }

    int repository_;
    const std::string& shown_;
    std::map<std::string, std::string>& found_;
};

}  // namespace

bool is_ref(std::string_view name) {
    return std::ranges::all_of(split(name, '/'), is_ref_part);
}

std::string read_ref(int repository, const std::string& shown, const std::string& name) {
    return is_ref(name) ? read_file_of_ref(repository, shown, "refs/heads/" + name) : "";
}

std::map<std::string, std::string> read_refs(int repository, const std::string& shown) {
    std::map<std::string, std::string> found;
    ReadingRefs reading(repository, shown, found);
    reading.read("refs/heads", "");
    const auto remotes = names_in(open_at(repository, "refs/remotes", O_RDONLY | O_DIRECTORY,
                                          RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS));
    if (!remotes && errno != ENOENT) {
        throw errno_error(shown + "/refs/remotes", errno);
    }
    for (const std::string& remote : remotes.value_or(std::vector<std::string>())) {
        struct stat status {};
        const std::string path = "refs/remotes/" + remote;
        if (is_ref_part(remote) &&
            ::fstatat(repository, path.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISDIR(status.st_mode)) {
            reading.read(path, remote + ':');
        }
    }
    return found;
}

std::map<std::string, std::string> refs_in_summary(std::string_view summary) {
    std::map<std::string, std::string> refs;
    const VariantHandle parsed =
        variant_from(G_VARIANT_TYPE(OSTREE_SUMMARY_GVARIANT_STRING), std::string(summary));
    if (!parsed) {
        return refs;
    }
    const VariantHandle list(g_variant_get_child_value(parsed.get(), 0));
    for (const VariantHandle& item : children_of(list.get())) {
        const char* name = nullptr;
        g_variant_get_child(item.get(), 0, "&s", &name);
        const VariantHandle value(g_variant_get_child_value(item.get(), 1));
        refs[name] = checksum_in(value.get(), 1);
    }
    return refs;
}

}  // namespace edgegpu
