#include "compose/content.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <fmt/format.h>

#include "sandbox/id_map.hpp"
#include "support/digest.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/handles.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

bool has_size(const fs::path& path, std::uint64_t size) {
    struct stat status {};
    return ::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
           static_cast<std::uint64_t>(status.st_size) == size;
}

Entry file_entry(unsigned mode, std::uint64_t size, std::string digest, fs::path content) {
    Entry entry;
    entry.type = EntryType::file;
    entry.mode = mode;
    entry.size = size;
    entry.digest = std::move(digest);
    entry.content = std::move(content);
    return entry;
}

}  // namespace

void copy_file_content(const fs::path& source, const fs::path& target) {
    const Fd from(::open(source.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    if (!from) {
        throw errno_error(source.string(), errno);
    }
    const Fd to(::open(target.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!to) {
        throw errno_error(target.string(), errno);
    }
    copy_content(from.get(), to.get(), target.string());
}

Entry make_file_entry(const Context& ctx, std::string_view content, unsigned mode) {
    std::string digest = sha256_hex(content);
    fs::path path = content_path(ctx, digest);
    if (!has_size(path, content.size())) {
        make_directories(path.parent_path());
        write_file(path, content, 0600);
    }
    return file_entry(mode, content.size(), std::move(digest), std::move(path));
}

Entry make_stored_entry(const StoredFile& stored, unsigned mode) {
    return file_entry(mode, stored.size, stored.digest, stored.path);
}

Entry make_file_entry_from(const Context& ctx, const fs::path& source, unsigned mode) {
    return make_stored_entry(store_file(ctx, source), mode);
}

Entry make_file_entry_from(const Context& ctx, int source, const std::string& name, unsigned mode) {
    return make_stored_entry(store_file(ctx, source, name), mode);
}

namespace {

/// chown drops setuid bits and capabilities, so it comes first.
void set_owner_and_mode(const Entry& entry, const fs::path& path) {
    if (::lchown(path.c_str(), entry.uid, entry.gid) != 0) {
        throw errno_error(path.string(), errno)
            .hinted(
                fmt::format("the numbers of users and groups in an image are below {}", image_ids));
    }
    if (entry.type == EntryType::symlink) {
        return;
    }
    if (::chmod(path.c_str(), entry.mode) != 0) {
        throw errno_error(path.string(), errno);
    }
    if (!entry.capabilities.empty() &&
        ::setxattr(path.c_str(), "security.capability", entry.capabilities.data(),
                   entry.capabilities.size(), 0) != 0) {
        throw errno_error(path.string() + ": file capabilities", errno);
    }
}

}  // namespace

void materialise(const Entry& entry, const fs::path& path) {
    struct stat status {};
    const bool exists = ::lstat(path.c_str(), &status) == 0;
    const bool keep = entry.type == EntryType::directory && exists && S_ISDIR(status.st_mode);
    if (exists && !keep) {
        remove_tree(path);
    }
    if (entry.type == EntryType::directory) {
        if (!keep && ::mkdir(path.c_str(), 0700) != 0) {
            throw errno_error(path.string(), errno);
        }
    } else if (entry.type == EntryType::symlink) {
        if (::symlink(entry.target.c_str(), path.c_str()) != 0) {
            throw errno_error(path.string(), errno);
        }
    } else {
        copy_file_content(entry.content, path);
    }
    set_owner_and_mode(entry, path);
}

}  // namespace edgegpu
