#include "execution/program_start.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "execution/child_setup.hpp"
#include "support/error.hpp"

namespace edgegpu {

namespace {

constexpr std::string_view default_path =
    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

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

std::string find_program(const std::string& name, const std::vector<std::string>& env) {
    if (name.find('/') != std::string::npos) {
        return name;
    }
    std::string_view path = default_path;
    for (const std::string& variable : env) {
        if (variable.starts_with("PATH=")) {
            path = variable;
        }
    }
    path.remove_prefix(std::string_view("PATH=").size());
    while (!path.empty()) {
        const std::size_t end = std::min(path.find(':'), path.size());
        std::string candidate = std::string(path.substr(0, end)) + "/" + name;
        if (::access(candidate.c_str(), X_OK) == 0) {
            return candidate;
        }
        path.remove_prefix(std::min(end + 1, path.size()));
    }
    throw error("{}: program not found", name)
        .hinted("install its package; scripts/setup installs everything that is needed");
}

void reap(pid_t pid) noexcept {
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
}

}  // namespace

std::pair<Fd, Fd> make_pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        throw errno_error("pipe", errno);
    }
    return {Fd(ends[0]), Fd(ends[1])};
}

pid_t start_process(const ProcessRequest& request, int input, int output) {
    const std::vector<std::string> minimal{std::string(default_path), "LC_ALL=C", "TZ=UTC"};
    const std::vector<std::string>& environment = request.env.empty() ? minimal : request.env;
    const std::string program = find_program(request.argv.front(), environment);
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
