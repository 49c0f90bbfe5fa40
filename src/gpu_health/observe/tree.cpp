#include "gpu_health/observe/tree.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <system_error>
#include <utility>

#include "support/text/text.hpp"

namespace edgegpu::gpu_health {

namespace {

constexpr std::size_t most_names = 10000;
/// As many as Linux follows.
constexpr int most_links = 40;

class Descriptor {
public:
    explicit Descriptor(int number) noexcept : number_(number) {}
    ~Descriptor() {
        if (number_ >= 0) {
            ::close(number_);
        }
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    Descriptor(Descriptor&&) = delete;
    Descriptor& operator=(Descriptor&&) = delete;
    [[nodiscard]] int get() const noexcept { return number_; }

private:
    int number_;
};

void put_first(std::deque<std::string>& parts, std::string_view path) {
    const std::vector<std::string_view> found = words_of(path, "/");
    parts.insert(parts.begin(), found.begin(), found.end());
}

/// Reads until the end, or until there are `count` bytes.
Reading read_some(const std::filesystem::path& path, std::size_t count) {
    Reading reading;
    struct stat status {};
    // Opening what is no file could wait, or do something: a watchdog starts.
    if (::lstat(path.c_str(), &status) != 0) {
        reading.error = errno;
        return reading;
    }
    if (!S_ISREG(status.st_mode)) {
        reading.error = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
        return reading;
    }
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW));
    if (file.get() < 0) {
        reading.error = errno;
        return reading;
    }
    // Files of procfs and sysfs say that they are empty, or as large as a page.
    constexpr std::size_t step = std::size_t{1} << 16U;
    std::string& content = reading.content;
    content.reserve(std::min(count, static_cast<std::size_t>(std::max<off_t>(status.st_size, 0))));
    std::string buffer(std::min(step, count), '\0');
    while (content.size() < count) {
        const std::size_t wanted = std::min(buffer.size(), count - content.size());
        const ssize_t got = ::read(file.get(), buffer.data(), wanted);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            reading.error = errno;
            content.clear();
        }
        if (got <= 0) {
            break;
        }
        content.append(buffer, 0, static_cast<std::size_t>(got));
    }
    return reading;
}

}  // namespace

std::string Reading::why() const {
    switch (error) {
        case 0:
            return {};
        case EINVAL:
            return "it is no regular file";
        case EFBIG:
            return "it is too large";
        default:
            return std::generic_category().message(error);
    }
}

std::filesystem::path resolve(const std::filesystem::path& root, std::string_view inside) {
    std::deque<std::string> parts;
    put_first(parts, inside);
    std::vector<std::filesystem::path> above{root};
    int links = 0;
    while (!parts.empty()) {
        const std::string part = std::move(parts.front());
        parts.pop_front();
        if (part == ".") {
            continue;
        }
        if (part == "..") {
            if (above.size() > 1) {
                above.pop_back();
            }
            continue;
        }
        std::filesystem::path next = above.back() / part;
        std::error_code error;
        const std::filesystem::path target = std::filesystem::read_symlink(next, error);
        if (error) {
            above.push_back(std::move(next));
            continue;
        }
        if (++links > most_links) {
            return {};
        }
        if (target.is_absolute()) {
            above.resize(1);
        }
        put_first(parts, target.native());
    }
    return above.back();
}

Reading read_start(const std::filesystem::path& root, std::string_view inside, std::size_t count) {
    const std::filesystem::path path = resolve(root, inside);
    if (path.empty()) {
        Reading circle;
        circle.error = ELOOP;
        return circle;
    }
    return read_some(path, count);
}

Reading read_file(const std::filesystem::path& root, std::string_view inside, std::size_t limit) {
    Reading reading = read_start(root, inside, limit + 1);
    if (reading.content.size() > limit) {
        reading.content.clear();
        reading.error = EFBIG;
    }
    return reading;
}

std::string read_line(const std::filesystem::path& root, std::string_view inside) {
    const Reading reading = read_start(root, inside, small_file);
    std::string_view rest = reading.content;
    return std::string(trim(take_line(rest)));
}

bool find_status(const std::filesystem::path& root, std::string_view inside, struct stat& status) {
    const std::filesystem::path path = resolve(root, inside);
    return !path.empty() && ::lstat(path.c_str(), &status) == 0;
}

bool is_there(const std::filesystem::path& root, std::string_view inside) {
    struct stat status {};
    return find_status(root, inside, status);
}

std::vector<std::string> names_in(const std::filesystem::path& root, std::string_view inside) {
    std::vector<std::string> names;
    const std::filesystem::path path = resolve(root, inside);
    std::error_code error;
    std::filesystem::directory_iterator at(path, error);
    while (!error && at != std::filesystem::directory_iterator() && names.size() < most_names) {
        names.push_back(at->path().filename().native());
        at.increment(error);
    }
    std::ranges::sort(names);
    return names;
}

std::string link_name(const std::filesystem::path& root, std::string_view inside) {
    const std::size_t slash = inside.find_last_of('/');
    const bool deep = slash != std::string_view::npos;
    const std::filesystem::path directory =
        resolve(root, deep ? inside.substr(0, slash) : std::string_view());
    std::error_code error;
    const std::filesystem::path target = std::filesystem::read_symlink(
        directory / (deep ? inside.substr(slash + 1) : inside), error);
    return error ? std::string() : target.filename().native();
}

}  // namespace edgegpu::gpu_health
