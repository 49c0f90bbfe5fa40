#include "support/file.hpp"

#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/error.hpp"
#include "support/handles.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path, std::uint64_t limit) {
    // Opening a fifo would wait for a writer, which O_NONBLOCK does not; to regular files it means
    // nothing.
    const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    struct stat status {};
    if (!file || ::fstat(file.get(), &status) != 0) {
        throw errno_error(path.string(), errno);
    }
    if (!S_ISREG(status.st_mode)) {
        throw error("{}: not a regular file", path.string());
    }
    if (static_cast<std::uint64_t>(status.st_size) > limit) {
        throw error("{}: {} bytes are more than the {} expected at most", path.string(),
                    status.st_size, limit);
    }
    std::string content(static_cast<std::size_t>(status.st_size), '\0');
    std::size_t filled = 0;
    while (filled < content.size()) {
        const ssize_t got = ::read(file.get(), content.data() + filled, content.size() - filled);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            throw errno_error(path.string(), errno);
        }
        if (got == 0) {
            content.resize(filled);
            break;
        }
        filled += static_cast<std::size_t>(got);
    }
    return content;
}

void write_file(const fs::path& path, std::string_view content, unsigned mode, bool durable) {
    std::string temporary = path.string() + ".XXXXXX";
    const Fd file(::mkostemp(temporary.data(), O_CLOEXEC));
    if (!file) {
        throw errno_error(path.string(), errno);
    }
    const auto fail = [&](int code) {
        ::unlink(temporary.c_str());
        return errno_error(path.string(), code);
    };
    while (!content.empty()) {
        const ssize_t put = ::write(file.get(), content.data(), content.size());
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put < 0) {
            throw fail(errno);
        }
        content.remove_prefix(static_cast<std::size_t>(put));
    }
    if (::fchmod(file.get(), mode) != 0 || (durable && ::fsync(file.get()) != 0) ||
        ::rename(temporary.c_str(), path.c_str()) != 0) {
        throw fail(errno);
    }
}

void make_directories(const fs::path& path) {
    std::error_code code;
    fs::create_directories(path, code);
    if (code) {
        throw errno_error(path.string(), code.value());
    }
}

void remove_tree(const fs::path& path) {
    std::error_code code;
    fs::remove_all(path, code);
    if (code) {
        throw errno_error(path.string(), code.value());
    }
}

}  // namespace edgegpu
