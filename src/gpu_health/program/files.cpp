#include "gpu_health/program/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace edgegpu::gpu_health {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(int code) {
    throw std::runtime_error(std::strerror(code));  // NOLINT(concurrency-mt-unsafe)
}

void write_all(int file, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(file, text.data(), text.size());
        if (written < 0 && errno != EINTR) {
            fail(errno);
        }
        text.remove_prefix(written < 0 ? 0 : static_cast<std::size_t>(written));
    }
}

/// The name itself has to be on the disk as well. Not all file systems can.
void sync_directory(const fs::path& directory) {
    const Descriptor opened(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (opened.number() >= 0) {
        ::fsync(opened.number());
    }
}

}  // namespace

Descriptor::~Descriptor() {
    if (number_ >= 0) {
        ::close(number_);
    }
}

Descriptor::Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}

std::optional<std::string> read_whole(const fs::path& path, std::size_t limit) {
    // Of a fifo nobody may ever write to, this does not wait.
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (file.number() < 0) {
        if (errno == ENOENT || errno == ENOTDIR) {
            return std::nullopt;
        }
        fail(errno);
    }
    struct stat status {};
    if (::fstat(file.number(), &status) != 0) {
        fail(errno);
    }
    if (!S_ISREG(status.st_mode)) {
        throw std::runtime_error("it is no regular file");
    }
    std::string content;
    std::array<char, 65536> block{};
    for (;;) {
        const ssize_t got = ::read(file.number(), block.data(), block.size());
        if (got < 0 && errno != EINTR) {
            fail(errno);
        }
        if (got == 0) {
            return content;
        }
        content.append(block.data(), got < 0 ? 0 : static_cast<std::size_t>(got));
        if (content.size() > limit) {
            throw std::runtime_error("it has more than " + std::to_string(limit) + " bytes");
        }
    }
}

void write_whole(const fs::path& path, std::string_view text) {
    std::error_code problem;
    fs::create_directories(path.parent_path(), problem);
    if (problem) {
        throw std::runtime_error(problem.message());
    }
    std::string temporary = path.parent_path() / ("." + path.filename().string() + ".XXXXXX");
    const Descriptor file(::mkostemp(temporary.data(), O_CLOEXEC));
    if (file.number() < 0) {
        fail(errno);
    }
    try {
        write_all(file.number(), text);
        // node_exporter and people read these files.
        if (::fchmod(file.number(), 0644) != 0 || ::fsync(file.number()) != 0 ||
            std::rename(temporary.c_str(), path.c_str()) != 0) {
            fail(errno);
        }
    } catch (const std::runtime_error&) {
        ::unlink(temporary.c_str());
        throw;
    }
    sync_directory(path.parent_path());
}

void remove_file(const fs::path& path) {
    if (::unlink(path.c_str()) != 0 && errno != ENOENT && errno != ENOTDIR) {
        fail(errno);
    }
}

}  // namespace edgegpu::gpu_health
