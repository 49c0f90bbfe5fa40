#include "execution/program_start.hpp"

#include <cerrno>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "execution/child_setup.hpp"
#include "execution/pipe.hpp"
#include "execution/program_path.hpp"
#include "support/error.hpp"

namespace edgegpu {

namespace {

using CStrings = std::vector<char*>;

CStrings c_strings(const std::vector<std::string>& strings) {
    CStrings result;
    result.reserve(strings.size() + 1);
    for (const std::string& text : strings) {
        // execve(2) does not change its arguments, it only lacks const for C's sake.
        result.push_back(const_cast<char*>(text.c_str()));
    }
    result.push_back(nullptr);
    return result;
}

/// The file of the program that `env` leads to.
std::string program_file(const std::string& name, const std::vector<std::string>& env) {
    if (name.find('/') != std::string::npos) {
        return name;
    }
    constexpr std::string_view variable = "PATH=";
    std::string_view path = standard_path;
    for (const std::string_view setting : env) {
        if (setting.starts_with(variable)) {
            path = setting.substr(variable.size());
        }
    }
    const std::filesystem::path file = find_program(name, path);
    if (file.empty()) {
        throw error("{}: program not found", name)
            .hinted("install its package; scripts/setup installs everything that is needed");
    }
    return file.string();
}

void reap(pid_t pid) noexcept {
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
}

}  // namespace

pid_t start_process(const ProcessRequest& request, int input, int output) {
    const std::vector<std::string> minimal{fmt::format("PATH={}", standard_path), "LC_ALL=C",
                                           "TZ=UTC"};
    const std::vector<std::string>& environment = request.env.empty() ? minimal : request.env;
    const std::string program = program_file(request.argv.front(), environment);
    const CStrings c_argv = c_strings(request.argv);
    const CStrings c_env = c_strings(environment);
    auto [failure_read, failure_write] = make_pipe();

    ChildSetup setup;
    setup.program = program.c_str();
    setup.argv = c_argv.data();
    setup.envp = c_env.data();
    setup.cwd = request.cwd.empty() ? nullptr : request.cwd.c_str();
    setup.as_root = request.as_root_of_namespace;
    setup.descriptors = &request.descriptors;
    setup.limits = &request.limits;
    setup.input = input;
    setup.output = output;
    setup.standard_output = request.standard_output;
    setup.failure = failure_write.get();
    const pid_t pid = start_program(setup);
    if (pid < 0) {
        throw errno_error("cannot start a process", errno);
    }
    ::setpgid(pid, pid);  // in both processes, so that no kill comes too early
    failure_write.reset();
    int code = 0;
    ssize_t got = 0;
    while ((got = ::read(failure_read.get(), &code, sizeof(code))) < 0 && errno == EINTR) {
    }
    if (got == static_cast<ssize_t>(sizeof(code))) {
        reap(pid);
        throw errno_error(
            request.cwd.empty() ? program : program + " (in " + request.cwd.string() + ")", code);
    }
    return pid;
}

}  // namespace edgegpu
