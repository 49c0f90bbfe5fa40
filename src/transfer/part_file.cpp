#include "transfer/part_file.hpp"

#include <atomic>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/files/file_content.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

/// Whether `path` still names `fd`: its previous owner may have renamed the file before it was
/// locked here.
bool is_same_file(const Fd& fd, const fs::path& path) {
    struct stat mine {};
    struct stat named {};
    return ::fstat(fd.get(), &mine) == 0 && ::lstat(path.c_str(), &named) == 0 &&
           mine.st_dev == named.st_dev && mine.st_ino == named.st_ino && S_ISREG(mine.st_mode);
}

Fd open_part(const fs::path& path) {
    Fd fd = open_file(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0644);
    return fd;
}

/// A new file beside `destination`, not shared with other jobs or processes. Its name contains the
/// process id, so that the cache is cleaned of it if the process is killed.
Fd open_own(const fs::path& destination, fs::path& path) {
    static std::atomic<unsigned> count{0};
    while (true) {
        path = fmt::format("{}.{}.{}", destination.string(), ++count, ::getpid());
        Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644));
        if (fd) {
            return fd;
        }
        if (errno != EEXIST) {
            throw errno_error(path.string(), errno);
        }
    }
}

}  // namespace

PartFile::PartFile(fs::path destination, const Promise& promise)
    : destination_(std::move(destination)), promise_(promise) {
    open();
    if (!promise_.checksum || size_ > promise_.most()) {
        restart();
        return;
    }
    read_on();
}

void PartFile::open() {
    path_ = destination_.string() + ".part";
    fd_ = open_part(path_);
    if (!lock_file(fd_.get(), LOCK_EX | LOCK_NB) || !is_same_file(fd_, path_)) {
        fd_ = open_own(destination_, path_);  // another job or process is writing it
    }
    struct stat status {};
    if (::fstat(fd_.get(), &status) != 0) {
        throw errno_error(path_.string(), errno);
    }
    size_ = static_cast<std::uint64_t>(status.st_size);
}

/// Feeds the existing bytes to the digester.
void PartFile::read_on() {
    digester_.emplace(promise_.checksum->algorithm);
    if (each_piece(fd_.get(), path_.string(),
                   [&](std::string_view piece) { digester_->update(piece); },
                   {0, size_}) != size_) {
        throw errno_error(path_.string(), EIO);
    }
}

PartFile::~PartFile() {
    const bool worth_keeping = promise_.checksum && size_ > 0 && path_.extension() == ".part";
    if (fd_ && !worth_keeping) {
        ::unlink(path_.c_str());
    }
}

void PartFile::restart() {
    if (::ftruncate(fd_.get(), 0) != 0) {
        throw errno_error(path_.string(), errno);
    }
    size_ = 0;
    digester_.reset();
    if (promise_.checksum) {
        digester_.emplace(promise_.checksum->algorithm);
    }
}

bool PartFile::append(const char* data, std::size_t size) {
    if (size > promise_.most() - size_) {
        return false;
    }
    if (!write_at(fd_.get(), {data, size}, size_)) {
        throw errno_error(path_.string(), errno);
    }
    size_ += size;
    if (digester_) {
        digester_->update(data, size);
    }
    return true;
}

std::string PartFile::mismatch() {
    if (promise_.size != 0 && size_ != promise_.size) {
        return fmt::format("has {} bytes, but {} promises {}", size_, promise_.promiser,
                           promise_.size);
    }
    if (promise_.checksum) {
        const Checksum now = digester_->checksum();
        if (now != *promise_.checksum) {
            return fmt::format("does not have the checksum that {} promises: {} instead of {}",
                               promise_.promiser, now.text(), promise_.checksum->text());
        }
    }
    return "";
}

void PartFile::complete() {
    if (::rename(path_.c_str(), destination_.c_str()) != 0) {
        throw errno_error(destination_.string(), errno);
    }
    fd_.reset();
}

}  // namespace edgegpu
