#include <cerrno>
#include <set>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commit/repository.hpp"
#include "support/error.hpp"
#include "support/file.hpp"

namespace edgegpu {
namespace {

constexpr std::size_t few_objects = 48;

}  // namespace

Staging::Staging(const Repo::Impl& repo)
    : repo_(repo),
      directory_(repo.path / "tmp" / (repo.staging_prefix() + std::to_string(::getpid()))),
      objects_(::open((repo.path / "objects").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (!objects_) {
        throw errno_error((repo.path / "objects").string(), errno);
    }
    if (::mkdir(directory_.c_str(), 0700) != 0 && errno != EEXIST) {
        throw write_error(repo.path.string(), directory_.string(), errno);
    }
}

Staging::~Staging() {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
}

bool Staging::repository_has(const std::string& object) const {
    struct stat status {};
    return ::fstatat(objects_.get(), object.c_str(), &status, 0) == 0 && status.st_size > 0;
}

Fd Staging::create(const std::string& object) const {
    const std::filesystem::path path = directory_ / object;
    const auto open = [&] {
        return ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    };
    Fd file(open());
    if (!file && errno == ENOENT) {
        // Subdirectories, as in `objects/`, since creating files in one directory is serialised.
        if (::mkdir(path.parent_path().c_str(), 0700) != 0 && errno != EEXIST) {
            throw write_error(repo_.path.string(), path.string(), errno);
        }
        file = Fd(open());
    }
    if (!file || ::fchmod(file.get(), 0644) != 0) {
        throw write_error(repo_.path.string(), path.string(), errno);
    }
    return file;
}

void Staging::write(const Fd& file, std::string_view bytes) const {
    if (!write_all(file.get(), bytes)) {
        throw write_error(repo_.path.string(), directory_.string(), errno);
    }
}

void Staging::put(const std::string& object, std::string_view bytes) const {
    write(create(object), bytes);
}

void Staging::sync_all() const {
    if (::syncfs(objects_.get()) != 0) {
        throw write_error(repo_.path.string(), directory_.string(), errno);
    }
}

void Staging::sync_one(const std::string& name, bool staged) const {
    const Fd file(staged ? ::open((directory_ / name).c_str(), O_RDONLY | O_CLOEXEC)
                         : ::openat(objects_.get(), name.c_str(), O_RDONLY | O_CLOEXEC));
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
        if (directories.insert(directory).second &&
            ::mkdirat(objects_.get(), directory.c_str(), 0755) == 0) {
            ::fchmodat(objects_.get(), directory.c_str(), 0755, 0);
        }
        if (::renameat(AT_FDCWD, (directory_ / object).c_str(), objects_.get(), object.c_str()) !=
            0) {
            throw write_error(repo_.path.string(), (repo_.path / "objects" / object).string(),
                              errno);
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
