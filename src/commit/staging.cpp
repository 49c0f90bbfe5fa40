#include <cerrno>
#include <set>

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commit/repository.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"

namespace edgegpu {
namespace {

constexpr std::size_t few_objects = 48;

}  // namespace

std::string content_of(const Repo::Impl& repo, const std::string& name) {
    const Fd file = open_at(repo.directory.get(), name, O_RDONLY | O_NONBLOCK,
                            RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
    return file ? read_file(file.get(), repo.shown(name)) : std::string();
}

ScratchDirectory::ScratchDirectory(const Repo::Impl& repo, std::string_view suffix)
    : repo_(repo),
      name_(repo.staging_name() + std::string(suffix)),
      tmp_(repo.open_directory("tmp")) {
    remove_at(tmp_.get(), name_, shown(""));
    repo_.make_directory_at(tmp_.get(), name_, shown(""));
    directory_ = repo.open_directory("tmp/" + name_);
}

ScratchDirectory::~ScratchDirectory() {
    try {
        remove_at(tmp_.get(), name_, shown(""));
    } catch (const Error&) {
        // The next writer of this ref removes it.
    }
}

bool ScratchDirectory::move_to(const Fd& place, const std::string& name) const noexcept {
    return ::renameat(tmp_.get(), name_.c_str(), place.get(), name.c_str()) == 0;
}

std::string ScratchDirectory::shown(std::string_view name) const {
    return repo_.shown("tmp/" + name_ + (name.empty() ? "" : "/") + std::string(name));
}

Staging::Staging(const Repo::Impl& repo)
    : repo_(repo), directory_(repo, ""), objects_(repo.open_directory("objects")) {}

bool Staging::repository_has(const std::string& object) const {
    struct stat status {};
    if (::fstatat(objects_.get(), object.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
        return false;
    }
    if (!S_ISREG(status.st_mode)) {
        throw error("{}: is {}, not an object", repo_.shown("objects/" + object),
                    kind_of(status.st_mode))
            .hinted("the repository is damaged: remove this, and check it with `ostree fsck`");
    }
    return status.st_size > 0;
}

std::uint64_t Staging::size_of(const std::string& object) const {
    struct stat status {};
    if (::fstatat(directory_.get(), object.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 &&
        ::fstatat(objects_.get(), object.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
        throw errno_error(repo_.shown("objects/" + object), errno);
    }
    return static_cast<std::uint64_t>(status.st_size);
}

Fd Staging::create(const std::string& object) const {
    const auto open = [&] {
        return open_at(directory_.get(), object, O_RDWR | O_CREAT | O_TRUNC,
                       RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS, 0644);
    };
    Fd file = open();
    if (!file && errno == ENOENT) {
        // Subdirectories, as in `objects/`, since creating files in one directory is serialised.
        repo_.make_directory_at(directory_.get(), object.substr(0, object.find('/')),
                                directory_.shown(object));
        file = open();
    }
    if (!file || ::fchmod(file.get(), 0644) != 0) {
        throw write_error(repo_.path.string(), directory_.shown(object), errno);
    }
    return file;
}

void Staging::write(const Fd& file, std::string_view bytes) const {
    if (!write_all(file.get(), bytes)) {
        throw write_error(repo_.path.string(), directory_.shown(""), errno);
    }
}

void Staging::put(const std::string& object, std::string_view bytes) const {
    write(create(object), bytes);
}

void Staging::sync_all() const {
    if (::syncfs(objects_.get()) != 0) {
        throw write_error(repo_.path.string(), directory_.shown(""), errno);
    }
}

void Staging::sync_one(const std::string& name, bool staged) const {
    const Fd file = open_at(staged ? directory_.get() : objects_.get(), name, O_RDONLY,
                            RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
    if (!file || ::fsync(file.get()) != 0) {
        throw write_error(repo_.path.string(), name, errno);
    }
}

void Staging::publish(const std::vector<std::string>& objects) const {
    if (objects.empty()) {
        return;
    }
    // syncfs writes unwritten data of all processes, which is slower than fsync for a few files.
    const bool few = objects.size() <= few_objects;
    // Data first: after a power failure, a name without data would be taken for an existing object.
    if (repo_.fsync && !few) {
        sync_all();
    }
    std::set<std::string> directories;
    for (const std::string& object : objects) {
        if (repo_.fsync && few) {
            sync_one(object, true);
        }
        const std::string directory = object.substr(0, 2);
        if (directories.insert(directory).second) {
            repo_.make_directory_at(objects_.get(), directory, repo_.shown("objects/" + directory));
        }
        if (::renameat(directory_.get(), object.c_str(), objects_.get(), object.c_str()) != 0) {
            throw write_error(repo_.path.string(), repo_.shown("objects/" + object), errno);
        }
    }
    if (repo_.fsync && !few) {
        sync_all();
    } else if (repo_.fsync) {
        for (const std::string& directory : directories) {
            sync_one(directory, false);
        }
        sync_one(".", false);
    }
}

}  // namespace edgegpu
