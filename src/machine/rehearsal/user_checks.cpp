#include "machine/rehearsal/user_checks.hpp"

#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

#include "machine/rehearsal/guest_files.hpp"
#include "support/digest.hpp"
#include "support/directory.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/shell_text.hpp"
#include "support/text.hpp"

namespace edgegpu {

namespace {

constexpr std::uint64_t user_check_size = 4U << 20U;
constexpr std::chrono::seconds user_check_limit{600};
/// As automake and the project's own tests have it.
constexpr int skipped_status = 77;

std::optional<Moment> moment_named(std::string_view subdirectory) {
    if (subdirectory == "before-upgrade") {
        return Moment::before_upgrade;
    }
    if (subdirectory == "rollback") {
        return Moment::after_rollback;
    }
    return std::nullopt;
}

void read_files(const std::filesystem::path& directory, Moment moment,
                std::vector<UserCheck>& checks) {
    for (const std::filesystem::directory_entry& entry : children_of(directory)) {
        const std::string name = entry.path().filename();
        if (name.starts_with('.') || !entry.is_regular_file() ||
            ::access(entry.path().c_str(), X_OK) != 0) {
            continue;
        }
        if (entry.file_size() > user_check_size) {
            throw error(ErrorKind::usage, "{}: a check has at most 4 MiB", entry.path().string());
        }
        checks.push_back({name, read_file(entry.path(), user_check_size), true, "root", moment});
    }
}

}  // namespace

std::vector<UserCheck> read_user_checks(const std::filesystem::path& directory) {
    if (!std::filesystem::is_directory(directory)) {
        throw error(ErrorKind::usage, "{}: not a directory", directory.string());
    }
    std::vector<UserCheck> checks;
    read_files(directory, Moment::with_commit, checks);
    for (const std::filesystem::directory_entry& entry : children_of(directory)) {
        const std::string name = entry.path().filename();
        if (!entry.is_directory() || name.starts_with('.')) {
            continue;
        }
        // One that is never read would look like checks that passed.
        const std::optional<Moment> moment = moment_named(name);
        if (!moment) {
            throw error(ErrorKind::usage, "{}: checks have no such subdirectory",
                        entry.path().string())
                .hinted("there are before-upgrade and rollback");
        }
        read_files(entry.path(), *moment, checks);
    }
    if (checks.empty()) {
        throw error(ErrorKind::usage, "{}: no executable files", directory.string())
            .hinted("chmod +x makes a file one");
    }
    return checks;
}

CheckResult run_user_check(Guest& guest, const UserCheck& check) {
    return timed_check(check.name, [&] {
        // Not below /run or /tmp, where programs may not be started on some machines.
        const std::string file = "/var/lib/edgegpu-test/" + sha256_hex(check.name).substr(0, 16);
        put_file(guest, file, check.content, check.executable ? 0755 : 0644);
        const std::string start =
            check.executable ? shell_word(file) : "/bin/bash " + shell_word(file);
        const GuestResult answer = guest.run(
            check.user == "root"
                ? "cd /; exec " + start
                : fmt::format("cd /; exec runuser -u {} -- {}", shell_word(check.user), start),
            user_check_limit);
        CheckResult result;
        for (const std::string_view line : lines_of(answer.output)) {
            result.details.emplace_back(trim_end(line));
        }
        const std::string as = check.user == "root" ? "" : ", as " + check.user;
        if (answer.timed_out) {
            result.verdict = Verdict::failed;
            result.text = fmt::format("did not end within {} s{}", user_check_limit.count(), as);
        } else if (answer.status == 0) {
            result.text = "exit status 0" + as;
        } else {
            result.verdict = answer.status == skipped_status ? Verdict::skipped : Verdict::failed;
            result.text = answer.status == skipped_status && !result.details.empty()
                              ? result.details.back()
                              : fmt::format("exit status {}{}", answer.status, as);
        }
        return result;
    });
}

}  // namespace edgegpu
