#include "support/files/output.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <string>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/files/directory.hpp"
#include "support/files/file.hpp"
#include "support/text/number.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

fs::path directory_of(const fs::path& output) {
    return output.has_parent_path() ? output.parent_path() : fs::path(".");
}

/// Whether a directory `.FILE.unfinished-PID` is that of a run that was killed: nobody holds its
/// lock, and there is no process of its number, which may not have taken the lock yet. One of
/// this process's own number is of an earlier run, as in containers, where all have the same.
bool is_abandoned(const fs::path& path, std::string_view number) {
    const pid_t pid = whole_number<pid_t>(number).value_or(0);
    if (pid <= 0 || (pid != ::getpid() && (::kill(pid, 0) == 0 || errno != ESRCH))) {
        return false;
    }
    const Fd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    return directory && lock_file(directory.get(), LOCK_EX | LOCK_NB);
}

/// Removes what killed runs left of an image of this name.
void remove_abandoned_beside(const fs::path& output) {
    const std::string prefix = fmt::format(".{}.unfinished-", output.filename().string());
    std::error_code ignored;
    std::vector<fs::path> abandoned;
    for (fs::directory_iterator entry(directory_of(output), ignored), end; entry != end;
         entry.increment(ignored)) {
        const std::string name = entry->path().filename().string();
        if (name.starts_with(prefix) &&
            is_abandoned(entry->path(), std::string_view(name).substr(prefix.size()))) {
            abandoned.push_back(entry->path());
        }
    }
    for (const fs::path& path : abandoned) {
        fs::remove_all(path, ignored);
    }
}

}  // namespace

void check_output_name(const fs::path& output) {
    const std::string name = output.filename().string();
    if (std::ranges::any_of(name, [](unsigned char byte) { return byte < ' ' || byte == 0x7f; })) {
        throw error(ErrorKind::usage, "{}: the name has a control character", output.string())
            .hinted("a list of files and digests has a line for each: name the image without");
    }
}

fs::path replaced_file(fs::path path) {
    std::error_code failed;
    if (const fs::file_status there = fs::status(path, failed);
        fs::exists(there) && !fs::is_regular_file(there)) {
        throw error(ErrorKind::usage, "{}: not a file that can be replaced", path.string())
            .hinted("name a file of its own");
    }
    constexpr int most_links = 40;
    for (int i = 0; i < most_links && fs::is_symlink(path, failed); ++i) {
        path = path.parent_path() / fs::read_symlink(path);
    }
    return path;
}

Unfinished::Unfinished(const fs::path& output)
    : path_(directory_of(output) /
            fmt::format(".{}.unfinished-{}", output.filename().string(), ::getpid())) {
    remove_abandoned_beside(output);
    if (::mkdir(path_.c_str(), 0700) != 0) {
        throw errno_error(directory_of(output).string(), errno)
            .hinted("what is not complete lies there: name another place with --output");
    }
    lock_ = Fd(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!lock_ || !lock_file(lock_.get(), LOCK_EX | LOCK_NB)) {
        throw errno_error(path_.string(), errno);
    }
}

Unfinished::~Unfinished() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

bool is_disk_full(const Error& failure) {
    // "no space …" of disk_full, "No space …" of errno_error
    return failure.message().ends_with("o space left on device") ||
           failure.message().ends_with("Disk quota exceeded");
}

void hint_at_full_disk(Error& failure) {
    if (!is_disk_full(failure)) {
        return;
    }
    std::error_code ignored;
    const std::array places{fs::temp_directory_path(ignored), large_temporary_directory()};
    const bool temporary = std::ranges::any_of(places, [&](const fs::path& place) {
        return failure.message().starts_with((place / "edgegpu-").string());
    });
    failure.hinted(temporary ? "free some space there, or name another directory in TMPDIR"
                             : "free some space, or name a file elsewhere with --output");
}

}  // namespace edgegpu
