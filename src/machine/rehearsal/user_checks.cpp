#include "machine/rehearsal/user_checks.hpp"

#include <array>
#include <fstream>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "machine/rehearsal/guest_files.hpp"
#include "machine/rehearsal/guest_journal.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/files/directory.hpp"
#include "support/files/file.hpp"
#include "support/text/shell_text.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

constexpr std::uint64_t user_check_size = 4U << 20U;
/// As automake and the project's own tests have it.
constexpr int skipped_status = 77;

/// Whether the kernel starts it: else it is bash's.
bool is_program(std::string_view content) {
    return content.starts_with("#!") || content.starts_with(
                                            "\x7f"
                                            "ELF");
}

/// The script that becomes the check: environment, account, and the program in its place.
std::string start_of(const UserCheck& check, const UserCheckPlace& place, const std::string& file) {
    std::string script =
        fmt::format("cd /\nexport EDGEGPU_PHASE={} EDGEGPU_FIRMWARE={} EDGEGPU_COMMIT={}\n",
                    shell_word(place.phase), shell_word(place.firmware), shell_word(place.commit));
    const std::string program =
        (is_program(check.content) ? "" : "/bin/bash -- ") + shell_word(file);
    if (check.user == "root") {
        return script + "exec " + program;
    }
    // runuser leaves the environment as it is, root's home among it.
    script += fmt::format(
        "entry=$(getent passwd {0}) || {{ echo 'the machine has no user' {0}; exit 1; }}\n"
        "IFS=: read -r _ _ _ _ _ home _ <<<\"$entry\"\n"
        "export HOME=\"$home\" USER={0} LOGNAME={0}\n"
        "exec runuser -u {0} -- {1}",
        shell_word(check.user), program);
    return script;
}

CheckResult judged_user_check(const UserCheck& check, const GuestResult& answer) {
    CheckResult result;
    for (const std::string_view line : lines_of(answer.output)) {
        result.details.emplace_back(trim_end(line));
    }
    if (!result.details.empty() && result.details.back().empty()) {
        result.details.pop_back();
    }
    const std::string as = check.user == "root" ? "" : ", as " + check.user;
    if (answer.timed_out) {
        result.verdict = Verdict::failed;
        result.text = fmt::format("did not end within {} s{}", check.limit.count(), as);
    } else if (answer.status == 0) {
        result.text = "exit status 0" + as;
    } else {
        result.verdict = answer.status == skipped_status ? Verdict::skipped : Verdict::failed;
        result.text = answer.status == skipped_status && !result.details.empty()
                          ? result.details.back()
                          : fmt::format("exit status {}{}", answer.status, as);
    }
    return result;
}

/// The phases of the checks in a subdirectory, or nothing if there is none of that name.
std::optional<std::vector<std::string>> phases_of(std::string_view subdirectory) {
    if (subdirectory == "before-upgrade") {
        return std::vector<std::string>{"before-upgrade", "before-rollback"};
    }
    if (subdirectory == "rollback") {
        return std::vector<std::string>{"rollback"};
    }
    return std::nullopt;
}

/// Throws for a script that nobody made executable: a check that is left out passes for ever.
void require_no_script(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    std::array<char, 2> begin{};
    if (stream.read(begin.data(), begin.size()) && begin[0] == '#' && begin[1] == '!') {
        throw error(ErrorKind::usage, "{}: a check that cannot be executed", file.string())
            .hinted("chmod +x, or move it elsewhere");
    }
}

void read_files(const std::filesystem::path& directory, const std::vector<std::string>& phases,
                std::vector<UserCheck>& checks) {
    std::error_code failure;
    for (const std::filesystem::directory_entry& entry : children_of(directory)) {
        const std::string name = entry.path().filename();
        // What cannot be looked at, as a link in a circle, is no program, either.
        if (name.starts_with('.') || !entry.is_regular_file(failure)) {
            continue;
        }
        if (::access(entry.path().c_str(), X_OK) != 0) {
            require_no_script(entry.path());
            continue;
        }
        if (entry.file_size(failure) > user_check_size) {
            throw error(ErrorKind::usage, "{}: a check has at most 4 MiB", entry.path().string());
        }
        UserCheck check;
        check.name = name;
        check.content = read_file(entry.path(), user_check_size);
        check.phases = phases;
        checks.push_back(std::move(check));
    }
}

}  // namespace

std::vector<UserCheck> read_user_checks(const std::filesystem::path& directory) {
    std::error_code failure;
    if (!std::filesystem::is_directory(directory, failure)) {
        throw error(ErrorKind::usage, "{}: not a directory", directory.string());
    }
    std::vector<UserCheck> checks;
    read_files(directory, UserCheck().phases, checks);
    for (const std::filesystem::directory_entry& entry : children_of(directory)) {
        const std::string name = entry.path().filename();
        if (!entry.is_directory(failure) || name.starts_with('.')) {
            continue;
        }
        // One that is never read would look like checks that passed.
        const std::optional<std::vector<std::string>> phases = phases_of(name);
        if (!phases) {
            throw error(ErrorKind::usage, "{}: checks have no such subdirectory",
                        entry.path().string())
                .hinted("there are before-upgrade and rollback");
        }
        read_files(entry.path(), *phases, checks);
    }
    if (checks.empty()) {
        throw error(ErrorKind::usage, "{}: no executable files", directory.string())
            .hinted("chmod +x makes a file one");
    }
    return checks;
}

void require_different_names(const std::vector<UserCheck>& checks) {
    std::set<std::pair<std::string, std::string>> names;
    for (const UserCheck& check : checks) {
        for (const std::string& phase : check.phases) {
            if (!names.emplace(phase, check.name).second) {
                throw error(ErrorKind::usage, "two checks of the phase {} have the name \"{}\"",
                            phase, check.name)
                    .hinted("one of the blueprint's and a file of the directory: rename either");
            }
        }
    }
}

CheckResult run_user_check(Guest& guest, const UserCheck& check, const UserCheckPlace& place) {
    return timed_check(check.name, [&] {
        // Not below /run or /tmp, where programs may not be started on some machines.
        const std::string file = "/var/lib/edgegpu-test/" + sha256_hex(check.name).substr(0, 16);
        put_file(guest, file, check.content, 0755);
        const auto began = std::chrono::steady_clock::now();
        CheckResult result =
            judged_user_check(check, guest.run(start_of(check, place, file), check.limit));
        if (result.verdict == Verdict::failed) {
            add_journal(guest, "--since=-" + std::to_string(seconds_since(began)) + 's',
                        result.details);
        }
        return result;
    });
}

}  // namespace edgegpu
