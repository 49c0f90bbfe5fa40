#include "commit/lock_wait.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/error.hpp"
#include "support/files/directory.hpp"
#include "support/files/proc_file.hpp"
#include "support/handles.hpp"
#include "support/text/terminal_text.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

constexpr std::chrono::milliseconds silent{500};
constexpr std::chrono::milliseconds between_looks{100};
constexpr std::chrono::seconds between_notes{30};
constexpr std::chrono::seconds default_wait{30};

/// What libostree does: locks of open files, on the whole of `.lock`.
bool is_free(int file, OstreeRepoLockType type) {
    struct flock lock {};
    lock.l_type = type == OSTREE_REPO_LOCK_SHARED ? F_RDLCK : F_WRLCK;
    lock.l_whence = SEEK_SET;
    // Where there are none of these, libostree itself says what is wrong.
    return ::fcntl(file, F_OFD_GETLK, &lock) != 0 || lock.l_type == F_UNLCK;
}

/// Whether the process has the file open. Of processes of others nothing is known.
bool has_open(const std::string& pid, const struct stat& file) {
    const std::string place = "/proc/" + pid + "/fd";
    const auto names = names_in(Fd(::open(place.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
    return names && std::ranges::any_of(*names, [&](const std::string& name) {
               struct stat other {};
               return ::stat((place + '/' + name).c_str(), &other) == 0 &&
                      other.st_dev == file.st_dev && other.st_ino == file.st_ino;
           });
}

/// "edgegpu prune (pid 4711)"
std::string program_of(const std::string& pid) {
    std::string words = read_proc_file("/proc/" + pid + "/cmdline").value_or("");
    // The program's name, and the words behind it as far as they fit.
    constexpr std::size_t longest = 40;
    const std::size_t slash = words.substr(0, words.find('\0')).rfind('/');
    words = words.substr(slash == std::string::npos ? 0 : slash + 1).substr(0, longest);
    std::ranges::replace(words, '\0', ' ');
    return fmt::format("{} (pid {})", printable_line(trim(words)), pid);
}

/// Who has the file open besides this process: the holders of its lock, and others that wait for
/// it.
std::string holders_of(const struct stat& file) {
    std::string text;
    const std::string own = std::to_string(::getpid());
    const auto processes = names_in(Fd(::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
    for (const std::string& pid : processes.value_or(std::vector<std::string>())) {
        if (pid != own && pid.find_first_not_of("0123456789") == std::string::npos &&
            has_open(pid, file)) {
            text += (text.empty() ? "" : ", ") + program_of(pid);
        }
    }
    return text.empty() ? "another program" : text;
}

bool is_switched_off(OstreeRepo* repo) {
    GKeyFile* config = ostree_repo_get_config(repo);
    return g_key_file_has_key(config, "core", "locking", nullptr) != FALSE &&
           g_key_file_get_boolean(config, "core", "locking", nullptr) == FALSE;
}

}  // namespace

std::optional<std::chrono::seconds> limit_of_wait(OstreeRepo* repo, const LockWait& wait) {
    GKeyFile* config = ostree_repo_get_config(repo);
    if (wait || g_key_file_has_key(config, "core", "lock-timeout-secs", nullptr) == FALSE) {
        return wait.value_or(default_wait);
    }
    const gint64 value = g_key_file_get_int64(config, "core", "lock-timeout-secs", nullptr);
    return value < 0 ? std::nullopt : std::optional(std::chrono::seconds(value));
}

void wait_until_unlocked(const Context& ctx, OstreeRepo* repo, const std::string& shown,
                         OstreeRepoLockType type, const LockWait& wait, const std::string& hint) {
    const Fd file(::openat(ostree_repo_get_dfd(repo), ".lock",
                           O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    struct stat status {};
    if (!file || ::fstat(file.get(), &status) != 0 || is_switched_off(repo) ||
        is_free(file.get(), type)) {
        return;
    }
    // This process has `file`, and another descriptor if libostree has locked it.
    int own = 0;
    const auto descriptors =
        names_in(Fd(::open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
    for (const std::string& name : descriptors.value_or(std::vector<std::string>())) {
        struct stat other {};
        own += ::stat(("/proc/self/fd/" + name).c_str(), &other) == 0 &&
                       other.st_dev == status.st_dev && other.st_ino == status.st_ino
                   ? 1
                   : 0;
    }
    if (own > 1) {
        return;
    }
    const std::optional<std::chrono::seconds> limit = limit_of_wait(repo, wait);
    const auto began = std::chrono::steady_clock::now();
    auto next_note = began + silent;
    while (!is_free(file.get(), type)) {
        ctx.check_cancelled();
        const auto now = std::chrono::steady_clock::now();
        const auto waited = std::chrono::duration_cast<std::chrono::seconds>(now - began);
        if (limit && now - began >= *limit) {
            throw error("{}: cannot lock the repository: after {} s it is still locked by {}",
                        shown, waited.count(), holders_of(status))
                .hinted(hint);
        }
        if (now >= next_note && ctx.console != nullptr) {
            ctx.console->note_now(fmt::format(
                "{}: waiting for the lock, which {} has{}", shown, holders_of(status),
                limit ? fmt::format(", for {} s more", (*limit - waited).count()) : ""));
            next_note = now + between_notes;
        }
        std::this_thread::sleep_for(between_looks);
    }
}

}  // namespace edgegpu
