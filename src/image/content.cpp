#include "image/content.hpp"

#include <cerrno>
#include <optional>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "cache/last_use.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/files/file.hpp"
#include "support/handles.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

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

Entry make_file_entry(const Context& ctx, std::string_view content, unsigned mode) {
    std::string digest = sha256_hex(content);
    fs::path path = content_path(ctx, digest);
    if (!mark_used(ctx, path) || !is_file_of_size(path, content.size())) {
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

FileAttributes attributes_of(const Entry& entry) {
    return {entry.uid, entry.gid, entry.mode, entry.capabilities};
}

void materialise(const Entry& entry, const ImageRoot& root, std::string_view path) {
    const std::optional<struct stat> found = root.status(path);
    const bool was_directory = found && S_ISDIR(found->st_mode);
    if (entry.type == EntryType::directory) {
        if (found && !was_directory) {
            root.remove(path);
        }
        root.make_directory(path, attributes_of(entry));
        return;
    }
    if (found && (was_directory || entry.type == EntryType::symlink)) {
        root.remove(path);
    }
    if (entry.type == EntryType::symlink) {
        root.make_link(path, entry.target, entry.uid, entry.gid);
        return;
    }
    const Fd content(::open(entry.content.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    if (!content) {
        throw errno_error(entry.content.string(), errno);
    }
    root.copy_in(path, content.get(), attributes_of(entry));
}

}  // namespace edgegpu
