#include "doctor/sandbox.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "doctor/restrictions.hpp"
#include "execution/child_call.hpp"
#include "execution/program_path.hpp"
#include "image/overlay.hpp"
#include "sandbox/launcher_image.hpp"
#include "sandbox/sandbox.hpp"
#include "sandbox/tool.hpp"
#include "sandbox/user_namespace.hpp"
#include "support/error.hpp"
#include "support/files/directory.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

/// Nothing that is tried takes a second on a machine that is not overloaded.
constexpr ChildLimits limits{1ULL << 30U, std::chrono::seconds(30), std::chrono::seconds(60)};
/// Of directories in the cache: what the next build removes if it finds it.
constexpr std::string_view leftover = ".new-doctor";

// ---- in a child: a build's namespace cannot be left ------------------------------------------

std::string try_namespace(const std::string& /*cache*/, const std::string& /*called*/) {
    enter_build_namespace();
    // Of users, then of groups.
    const std::string ranges = image_owner();
    std::vector<std::string_view> shown;
    for (const std::string_view range : split(trim(ranges), ' ')) {
        if (std::ranges::find(shown, range) == shown.end()) {
            shown.push_back(range);
        }
    }
    return fmt::format("an image's owners get the ids {}", fmt::join(shown, ", "));
}

std::string try_overlay(const std::string& cache, const std::string& /*called*/) {
    enter_build_namespace();
    const TemporaryDirectory place(fs::path(cache) / leftover);
    make_upper(place / "upper", 0755);
    const RootMount mount(place / "lower", place / "upper", place / "work", place / "root");
    return fmt::format("mounted in {}", cache);
}

std::string try_program_of_image(const std::string& cache, const std::string& /*called*/) {
    enter_build_namespace();
    const TemporaryDirectory place(fs::path(cache) / leftover);
    Context ctx;
    ctx.cache = place.path();
    fs::create_directories(ctx.work());
    SandboxCommand command;
    command.root = place / "root";
    make_upper(command.root, 0755);
    // It is in each sandbox, and ends at once without arguments.
    command.argv = {std::string(launcher_path)};
    command.name = "the first program of a sandbox";
    const ProcessResult result = run_in_sandbox(ctx, command);
    if (result.status != launcher_usage) {
        throw error("a program in the sandbox of an image ended with status {}: {}", result.status,
                    result.output);
    }
    return "started by bubblewrap: new /proc, /dev, network and host name";
}

const ChildFunction namespace_of_build("doctor-namespace", try_namespace);
const ChildFunction overlay_in_cache("doctor-overlay", try_overlay);
const ChildFunction program_of_image("doctor-image-program", try_program_of_image);

// ---- in this process -------------------------------------------------------------------------

Finding failed(const std::string& subject, const std::string& message, const std::string& hint) {
    Finding finding{subject, Readiness::broken, message, hint};
    for (const std::string& restriction : restrictions()) {
        finding.found += "\n" + restriction;
    }
    return finding;
}

Finding try_child(const Context& ctx, const std::string& subject, const ChildFunction& function) {
    const ChildCall call =
        call_in_child(ctx, function, ctx.cache.string(), "the build machine", limits);
    if (call.end == ChildCall::End::returned) {
        return {subject, Readiness::good, call.result, ""};
    }
    const std::string_view messages = trim(call.messages);
    return failed(subject,
                  call.end == ChildCall::End::refused
                      ? call.result + (messages.empty() ? "" : "\n" + std::string(messages))
                      : fmt::format("did not come to an end: {}", messages),
                  call.hint);
}

Finding try_tool(const Context& ctx) {
    const std::string subject = "sandbox for programs of this machine";
    try {
        ToolCommand command;
        // It is there wherever the sandbox can be made.
        command.argv = {"prlimit", "--version"};
        command.time = limits.elapsed;
        const ToolResult result = run_tool(ctx, command);
        if (result.status == 0) {
            return {subject, Readiness::good, "started by bubblewrap, without files and network",
                    ""};
        }
        return failed(subject, fmt::format("prlimit ended with status {}", result.status), "");
    } catch (const Error& problem) {
        if (problem.kind() == ErrorKind::interrupted) {
            throw;
        }
        return failed(subject, problem.message(), problem.hint());
    }
}

/// A child process has a PATH of its own: what a build of this user would find is looked for here.
Finding try_user_namespace(const Context& ctx) {
    const std::string subject = "user namespace";
    for (const char* program : {"newuidmap", "newgidmap"}) {
        if (::geteuid() != 0 && find_in_path(program).empty()) {
            return failed(subject,
                          fmt::format("{} is not in PATH: it maps the ids of an image for "
                                      "ordinary users",
                                      program),
                          "sudo apt-get install uidmap (Debian, Ubuntu), or sudo dnf install "
                          "shadow-utils");
        }
    }
    return try_child(ctx, subject, namespace_of_build);
}

}  // namespace

std::vector<Finding> try_sandboxes(const Context& ctx) {
    std::vector<Finding> findings{try_user_namespace(ctx)};
    if (findings.front().readiness == Readiness::good) {
        findings.push_back(try_child(ctx, "overlay in the cache", overlay_in_cache));
        findings.push_back(try_child(ctx, "sandbox for programs of an image", program_of_image));
    }
    findings.push_back(try_tool(ctx));
    return findings;
}

}  // namespace edgegpu
