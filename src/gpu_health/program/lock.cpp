#include "gpu_health/program/lock.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>

namespace edgegpu::gpu_health {

namespace {

/// Not flock(2), whose lock a child has as well, and keeps when it hangs in the driver.
bool take_lock(int file) {
    struct flock whole {};
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    return ::fcntl(file, F_SETLK, &whole) == 0;  // NOLINT(cppcoreguidelines-pro-type-vararg)
}

std::string no_lock(const std::filesystem::path& file, int code) {
    return file.string() + " cannot be locked, another gpu-health may run at the same time: " +
           std::strerror(code);  // NOLINT(concurrency-mt-unsafe)
}

}  // namespace

std::optional<Descriptor> lock_run(const std::filesystem::path& file,
                                   std::chrono::milliseconds patience, Notes& notes) {
    std::error_code ignored;
    std::filesystem::create_directories(file.parent_path(), ignored);
    Descriptor opened(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (opened.number() < 0) {
        notes.push_back(no_lock(file, errno));
        return std::nullopt;
    }
    const auto end = std::chrono::steady_clock::now() + patience;
    while (!take_lock(opened.number())) {
        if (errno != EACCES && errno != EAGAIN && errno != EINTR) {
            notes.push_back(no_lock(file, errno));
            return std::nullopt;
        }
        if (std::chrono::steady_clock::now() >= end) {
            notes.push_back("another gpu-health still runs; this one goes on beside it");
            return std::nullopt;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return opened;
}

}  // namespace edgegpu::gpu_health
