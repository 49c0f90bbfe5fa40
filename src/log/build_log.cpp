#include "log/build_log.hpp"

#include <array>
#include <ctime>
#include <string_view>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include "support/files/directory.hpp"
#include "support/files/file.hpp"
#include "support/handles.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view time_pattern = "00000000T000000Z-";

/// Whether this is the name of a build's log; other files in the directory are left alone.
bool is_build_log(std::string_view name) {
    if (!name.ends_with(".log") && !name.ends_with(".jsonl")) {
        return false;
    }
    for (std::size_t i = 0; i < time_pattern.size(); ++i) {
        const bool digit = i < name.size() && name[i] >= '0' && name[i] <= '9';
        if (i >= name.size() || (time_pattern[i] == '0' ? !digit : name[i] != time_pattern[i])) {
            return false;
        }
    }
    return true;
}

bool is_written_to(const fs::path& log) {
    const Fd file(::open(log.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    return file && !lock_file(file.get(), LOCK_EX | LOCK_NB);
}

void remove_oldest(const fs::path& directory) {
    std::vector<fs::path> logs;
    // The names begin with the time.
    for (const fs::directory_entry& entry : children_of(directory)) {
        if (is_build_log(entry.path().filename().string())) {
            logs.push_back(entry.path());
        }
    }
    std::error_code code;
    for (std::size_t i = 0; i + kept_build_logs <= logs.size(); ++i) {
        if (!is_written_to(logs[i])) {
            fs::remove(logs[i], code);
        }
    }
}

}  // namespace

fs::path begin_build_log(const fs::path& cache, LogFormat format) {
    const fs::path directory = cache / "logs";
    make_directories(directory);
    remove_oldest(directory);
    const std::time_t now = std::time(nullptr);
    std::tm utc{};
    ::gmtime_r(&now, &utc);
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), "%Y%m%dT%H%M%SZ", &utc);
    return directory / fmt::format("{}-{}.{}", text.data(), ::getpid(),
                                   format == LogFormat::json ? "jsonl" : "log");
}

}  // namespace edgegpu
