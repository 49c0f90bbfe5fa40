#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

#include "commands/commands.hpp"
#include "execution/context.hpp"
#include "execution/interrupt.hpp"
#include "machine/rehearsal/rehearsal.hpp"
#include "machine/rehearsal/test_report.hpp"
#include "support/error.hpp"
#include "support/file.hpp"

namespace edgegpu {

namespace {

namespace fs = std::filesystem;

constexpr const char* default_output = "edgegpu-test";

/// The directory of a test's disks, removed with it unless it is kept. Disks are large: not in
/// memory, where /tmp may be.
class TestPlace {
public:
    TestPlace() {
        const char* wanted = std::getenv("TMPDIR");
        std::string pattern =
            (fs::path(wanted == nullptr || *wanted == '\0' ? "/var/tmp" : wanted) /
             "edgegpu-test-XXXXXX")
                .string();
        if (::mkdtemp(pattern.data()) == nullptr) {
            throw errno_error(pattern, errno);
        }
        path_ = pattern;
    }
    TestPlace(const TestPlace&) = delete;
    TestPlace& operator=(const TestPlace&) = delete;
    ~TestPlace() {
        try {
            if (!kept_) {
                remove_tree(path_);
            }
        } catch (const Error&) {
            // What is left is in a directory for temporary files.
        }
    }

    [[nodiscard]] const fs::path& path() const noexcept { return path_; }
    void keep() noexcept { kept_ = true; }

private:
    fs::path path_;
    bool kept_ = false;
};

/// Copies consoles and screenshots to the directory that was asked for, or that is used after a
/// failure; they are named there afterwards.
void keep_records(const TestCommand& command, Rehearsal& rehearsal, Console& console) {
    const bool failed = rehearsal.count(Verdict::failed) != 0;
    if (command.output.empty() && !failed) {
        if (!command.keep) {
            rehearsal.records.clear();
        }
        return;
    }
    const fs::path output =
        fs::absolute(command.output.empty() ? default_output : command.output).lexically_normal();
    make_directories(output);
    for (fs::path& record : rehearsal.records) {
        const fs::path target = output / record.filename();
        std::error_code code;
        fs::copy_file(record, target, fs::copy_options::overwrite_existing, code);
        if (code) {
            throw error("{}: {}", target.string(), code.message());
        }
        record = target;
    }
    if (!rehearsal.records.empty()) {
        console.note(fmt::format("consoles and screenshots: {}", output.string()));
    }
}

RehearsalRequest request_of(const TestCommand& command, const fs::path& work) {
    RehearsalRequest request;
    request.repo = command.repo;
    request.ref = command.ref;
    request.from = command.from;
    request.upgrade = !command.rollback_only;
    request.rollback = command.rollback || command.rollback_only;
    if (!command.checks.empty()) {
        request.user_checks = read_user_checks(command.checks);
    }
    request.firmware = command.firmware;
    request.accelerator = command.accelerator;
    request.work = work;
    return request;
}

}  // namespace

int run_test(const GlobalOptions& global, const TestCommand& command) {
    Console console(console_output(global));
    Context ctx;
    ctx.cancelled = &interrupted();
    ctx.console = &console;
    ctx.log = global.log;
    ctx.cache = cache_directory({});
    TestPlace place;
    const RehearsalRequest request = request_of(command, place.path());
    if (command.keep) {
        // Also if it is interrupted: that is when one wants to look.
        place.keep();
        console.note(fmt::format("the machine's files stay in {}", place.path().string()));
    }
    Rehearsal rehearsal = rehearse(ctx, request);
    keep_records(command, rehearsal, console);
    if (!command.junit.empty()) {
        write_file(command.junit, rehearsal_junit(rehearsal));
    }
    const bool colored =
        use_color(global.color) && (global.color == Color::always || ::isatty(STDOUT_FILENO) != 0);
    print_result(global.json ? rehearsal_json(rehearsal) : rehearsal_text(rehearsal, colored));
    return rehearsal.count(Verdict::failed) == 0 ? 0 : 1;
}

}  // namespace edgegpu
