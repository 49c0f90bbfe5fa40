#include "support/files/proc_file.hpp"

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstddef>

#include <fcntl.h>
#include <unistd.h>

#include "support/handles.hpp"

namespace edgegpu {

std::optional<std::string> read_proc_file(const std::string& path) {
    constexpr std::size_t most = 64U << 10U;
    const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
    if (!file) {
        return std::nullopt;
    }
    std::string content(most, '\0');
    std::size_t size = 0;
    for (ssize_t got = 1; got != 0 && size < most;) {
        got = ::read(file.get(), content.data() + size, most - size);
        if (got < 0 && errno != EINTR) {
            return std::nullopt;
        }
        size += got > 0 ? static_cast<std::size_t>(got) : 0;
    }
    content.resize(size);
    return content;
}

bool is_running_process(std::string_view number) {
    pid_t pid = 0;
    return std::from_chars(number.data(), number.data() + number.size(), pid).ec == std::errc() &&
           pid > 0 && (::kill(pid, 0) == 0 || errno != ESRCH);
}

}  // namespace edgegpu
