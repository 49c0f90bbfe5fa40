#include <chrono>
#include <filesystem>
#include <iterator>
#include <optional>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

#include "blueprint/parse/parse.hpp"
#include "blueprint/parse/test_request.hpp"
#include "blueprint/tables/test_table.hpp"
#include "commands/commands.hpp"
#include "execution/context.hpp"
#include "machine/rehearsal/rehearsal.hpp"
#include "machine/rehearsal/test_report.hpp"
#include "support/error.hpp"
#include "support/files/directory.hpp"
#include "support/files/file.hpp"
#include "support/files/output.hpp"

namespace edgegpu {

namespace {

namespace fs = std::filesystem;

constexpr const char* default_output = "edgegpu-test";

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

UserCheck user_check_of(const TestCheckRequest& wanted) {
    UserCheck check;
    check.name = wanted.name;
    check.content =
        wanted.path.empty() ? wanted.script : read_file(wanted.path, largest_test_check);
    check.user = wanted.user;
    check.limit = std::chrono::seconds(wanted.timeout);
    check.phases.clear();
    for (const TestPhase phase : wanted.phases) {
        check.phases.emplace_back(enum_name(phase));
    }
    return check;
}

/// Adds what the blueprint says of tests and of the file systems of devices.
void add_blueprint(const TestCommand& command, Console& console, RehearsalRequest& request) {
    request.volumes =
        parse_image_settings(command.blueprint, command.parameters).blueprint.image.volumes;
    const std::optional<TestRequest> test =
        load_test_request(command.blueprint, command.parameters);
    if (!test) {
        console.note(fmt::format("{} has no [test]", command.blueprint.string()));
        return;
    }
    for (const TestCheckRequest& check : test->checks) {
        request.user_checks.push_back(user_check_of(check));
    }
    for (const AllowedDenialRequest& one : test->allow_denials) {
        request.allowed.push_back(
            {one.source, one.target, one.object_class, one.permissions, one.reason});
    }
}

/// What can be said to be impossible before a machine runs for minutes.
void require_writable_directory(const fs::path& file) {
    const fs::path parent = fs::absolute(file).parent_path();
    if (::access(parent.c_str(), W_OK | X_OK) != 0) {
        throw errno_error(file.string(), errno);
    }
}

RehearsalRequest request_of(const TestCommand& command, Console& console, const fs::path& work) {
    RehearsalRequest request;
    request.repo = command.repo;
    request.ref = command.ref;
    request.from = command.from;
    request.upgrade = !command.rollback_only;
    request.rollback = command.rollback || command.rollback_only;
    if (!command.blueprint.empty()) {
        add_blueprint(command, console, request);
    }
    if (!command.checks.empty()) {
        std::vector<UserCheck> more = read_user_checks(command.checks);
        std::move(more.begin(), more.end(), std::back_inserter(request.user_checks));
    }
    require_different_names(request.user_checks);
    for (const std::string& gpu : command.host_gpus) {
        request.gpus.push_back(parse_host_gpu(gpu));
    }
    // Throws for GPUs of which there can be no machine, before one is made.
    static_cast<void>(guest_nodes(request.gpus, 1, static_cast<unsigned>(request.gpus.size() + 1)));
    request.firmware = command.firmware;
    request.accelerator = command.accelerator;
    request.work = work;
    return request;
}

}  // namespace

int run_test(const GlobalOptions& global, const TestCommand& command) {
    Console console(console_output(global));
    const Context ctx = context_with_cache(global, console);
    TemporaryDirectory place(large_temporary_directory() / "edgegpu-test");
    if (!command.junit.empty()) {
        require_writable_directory(command.junit);
    }
    const RehearsalRequest request = request_of(command, console, place.path());
    if (command.keep) {
        // Also if it is interrupted: that is when one wants to look.
        place.keep();
        console.note(fmt::format("the machine's files stay in {}", place.path().string()));
    }
    Rehearsal rehearsal = rehearse(ctx, request);
    // The results took minutes: what cannot be written does not take them away.
    std::optional<Error> unwritten;
    try {
        if (!command.junit.empty()) {
            remove_leftovers_of(command.junit);
            write_file(replaced_file(command.junit), rehearsal_junit(rehearsal));
        }
        keep_records(command, rehearsal, console);
    } catch (const Error& failure) {
        // Those that were not kept go with the machine.
        rehearsal.records.clear();
        unwritten = failure;
    }
    const bool colored =
        use_color(global.color) && (global.color == Color::always || ::isatty(STDOUT_FILENO) != 0);
    print_result(global.json ? rehearsal_json(rehearsal) : rehearsal_text(rehearsal, colored));
    if (unwritten) {
        throw *unwritten;
    }
    return rehearsal.count(Verdict::failed) == 0 ? 0 : 1;
}

}  // namespace edgegpu
