#include "publish/repository_archive.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <linux/openat2.h>
#include <unistd.h>

#include "execution/parallel.hpp"
#include "repository/file_object.hpp"
#include "repository/object_files.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/files/file.hpp"
#include "support/glib.hpp"

namespace edgegpu {

namespace {

constexpr TarAttributes file_attributes{0644, 0, 0};
constexpr TarAttributes directory_attributes{0755, 0, 0};
/// tar: headers and contents are multiples of it
constexpr std::uint64_t block = 512;
/// tar: longer names have a header and a content of their own
constexpr std::size_t short_name = 99;

/// Throws Error unless the stored object is what its checksum says; its size in bytes.
std::uint64_t require_sound(const CommitView& commit, const TreeObject& object, const Fd& stored,
                            const std::string& name) {
    const FileState state = state_of(stored.get(), name);
    std::string found;
    if (object.type == OSTREE_OBJECT_TYPE_FILE) {
        GlibFailure failure;
        const std::optional<FileObject> read =
            read_archived_object(Fd(::fcntl(stored.get(), F_DUPFD_CLOEXEC, 0)), failure);
        found = read ? checksum_of(*read, failure) : std::string();
        if (found.empty()) {
            throw commit.unreadable(failure, object.checksum, object.path);
        }
    } else {
        const VariantHandle loaded = commit.load(object.type, object.checksum, object.path);
        found = sha256_hex(read_file(stored.get(), name));
    }
    if (found != object.checksum) {
        throw commit.malformed(object.path, "it does not have its checksum");
    }
    return state.size;
}

}  // namespace

RepositoryArchive::RepositoryArchive(const RepositoryView& source) : source_(source) {
    if (ostree_repo_get_mode(source.handle()) != OSTREE_REPO_MODE_ARCHIVE) {
        throw error("{}: is not in archive mode", source.path())
            .hinted("publish it first: edgegpu publish REF --to DIR");
    }
}

void RepositoryArchive::add(const std::string& name, Member member) {
    for (std::size_t slash = name.find('/'); slash != std::string::npos;
         slash = name.find('/', slash + 1)) {
        members_[name.substr(0, slash)].directory = true;
    }
    members_[name] = std::move(member);
}

void RepositoryArchive::put(const std::string& name, std::string content) {
    Member member;
    member.size = content.size();
    member.content = std::move(content);
    add(name, std::move(member));
}

void RepositoryArchive::put_directory(const std::string& name) {
    Member member;
    member.directory = true;
    add(name, std::move(member));
}

Fd RepositoryArchive::open_stored(const std::string& object) const {
    Fd file = open_at(ostree_repo_get_dfd(source_.handle()), "objects/" + object,
                      O_RDONLY | O_NONBLOCK, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
    if (!file) {
        throw errno_error(source_.path() + "/objects/" + object, errno);
    }
    return file;
}

void RepositoryArchive::put_objects(const Context& ctx, const CommitView& commit,
                                    const std::vector<TreeObject>& objects) {
    std::vector<std::pair<const TreeObject*, Member>> fresh;
    for (const TreeObject& object : objects) {
        Member member;
        member.object = object_file_name(object.type, object.checksum);
        if (!members_.contains("objects/" + member.object)) {
            fresh.emplace_back(&object, std::move(member));
        }
    }
    std::atomic<std::size_t> done{0};
    parallel_for(ctx, fresh.size(), [&](std::size_t i) {
        auto& [object, member] = fresh[i];
        member.size = require_sound(commit, *object, open_stored(member.object), member.object);
        if (ctx.console != nullptr) {
            ctx.console->progress(++done, fresh.size(), "objects compared");
        }
    });
    ctx.check_cancelled();
    objects_ += fresh.size();
    for (auto& [object, member] : fresh) {
        const std::string name = "objects/" + member.object;
        add(name, std::move(member));
    }
}

std::uint64_t RepositoryArchive::bytes() const {
    // The directory at the top, and two blocks at the end.
    std::uint64_t sum = 3 * block;
    for (const auto& [name, member] : members_) {
        const std::size_t length = std::string_view(archived_repository).size() + 2 + name.size();
        sum += block + (member.size + block - 1) / block * block;
        sum += length > short_name ? block + (length + block) / block * block : 0;
    }
    return sum;
}

void RepositoryArchive::write_file(const Context& ctx, TarWriter& tar, const std::string& path,
                                   const Member& member) const {
    if (member.object.empty()) {
        tar.file(path, file_attributes, member.content);
        return;
    }
    const Fd file = open_stored(member.object);
    tar.begin_file(path, file_attributes, member.size);
    std::array<char, 1U << 18U> buffer;
    for (std::uint64_t at = 0; at < member.size;) {
        ctx.check_cancelled();
        const ssize_t got = ::pread(
            file.get(), buffer.data(),
            static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), member.size - at)),
            static_cast<off_t>(at));
        if (got == 0) {
            throw error("{}: {} was cut meanwhile", source_.path(), path);
        }
        if (got < 0 && errno != EINTR) {
            throw errno_error(source_.path() + ": " + path, errno);
        }
        if (got > 0) {
            tar.data({buffer.data(), static_cast<std::size_t>(got)});
            at += static_cast<std::uint64_t>(got);
        }
    }
}

void RepositoryArchive::write(const Context& ctx, TarWriter& tar) const {
    const std::string top = archived_repository;
    tar.directory(top, directory_attributes);
    std::size_t done = 0;
    for (const auto& [name, member] : members_) {
        if (member.directory) {
            tar.directory(top + '/' + name, directory_attributes);
        } else {
            write_file(ctx, tar, top + '/' + name, member);
        }
        if (ctx.console != nullptr) {
            ctx.console->progress(++done, members_.size(), "files written");
        }
    }
    tar.finish();
}

}  // namespace edgegpu
