#include "support/files/file_content.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

#include "support/error.hpp"

namespace edgegpu {

namespace {

constexpr std::size_t piece_size = std::size_t{256} << 10U;

}  // namespace

Fd open_to_read(const std::filesystem::path& path) {
    return open_file(path, O_RDONLY);
}

Fd open_file(const std::filesystem::path& path, int flags, mode_t mode) {
    Fd file(::open(path.c_str(), flags | O_CLOEXEC, mode));
    if (!file) {
        throw errno_error(path.string(), errno);
    }
    return file;
}

ssize_t read_at(int file, char* data, std::size_t size, std::uint64_t offset) noexcept {
    std::size_t done = 0;
    while (done < size) {
        const ssize_t got =
            ::pread(file, data + done, size - done, static_cast<off_t>(offset + done));
        if (got == 0) {
            break;
        }
        if (got < 0 && errno != EINTR) {
            return -1;
        }
        done += static_cast<std::size_t>(std::max<ssize_t>(got, 0));
    }
    return static_cast<ssize_t>(done);
}

bool write_at(int file, std::string_view data, std::uint64_t offset) noexcept {
    while (!data.empty()) {
        const ssize_t put = ::pwrite(file, data.data(), data.size(), static_cast<off_t>(offset));
        if (put == 0) {
            errno = EIO;
        }
        if (put == 0 || (put < 0 && errno != EINTR)) {
            return false;
        }
        const auto done = static_cast<std::size_t>(std::max<ssize_t>(put, 0));
        data.remove_prefix(done);
        offset += done;
    }
    return true;
}

std::uint64_t each_piece(int file, const std::string& name,
                         const std::function<void(std::string_view)>& take, FileRange range) {
    // Not cleared: most files are small, and a build reads ten thousand of them.
    std::array<char, piece_size> buffer;
    std::uint64_t done = 0;
    while (done < range.size) {
        const std::size_t wanted = std::min<std::uint64_t>(buffer.size(), range.size - done);
        const ssize_t got = read_at(file, buffer.data(), wanted, range.offset + done);
        if (got < 0) {
            throw errno_error(name, errno);
        }
        if (got > 0) {
            take({buffer.data(), static_cast<std::size_t>(got)});
            done += static_cast<std::uint64_t>(got);
        }
        if (static_cast<std::size_t>(got) < wanted) {
            break;
        }
    }
    return done;
}

}  // namespace edgegpu
