#include "selinux/semodule.hpp"

#include <filesystem>
#include <sstream>
#include <string>

#include "selinux/failures.hpp"
#include "support/file.hpp"

namespace edgegpu::selinux {

namespace fs = std::filesystem;

namespace {

/// Distributions ship semanage.conf without the check: it takes time, and they have made it
/// themselves.
std::string with_expand_check(const std::string& text) {
    std::string result;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("expand-check")) {
            result += line + '\n';
        }
    }
    return result + "expand-check=1\n";
}

}  // namespace

ProcessResult run_checked(const Context& ctx, const SandboxCommand& command, const StoreCopy& copy,
                          const std::vector<CompiledModule>& modules) {
    const fs::path conf = copy.place("/etc/selinux/semanage.conf");
    if (modules.empty() || !fs::exists(conf)) {
        return run_in_sandbox(ctx, command);
    }
    const std::string text = read_file(conf);
    const auto mode = static_cast<unsigned>(fs::status(conf).permissions());
    write_file(conf, with_expand_check(text), mode);
    ProcessResult result = run_in_sandbox(ctx, command);
    write_file(conf, text, mode);
    if (result.status != 0 && is_broken_neverallow(result.output) &&
        !concerns(modules, result.output)) {
        result = run_in_sandbox(ctx, command);
    }
    return result;
}

}  // namespace edgegpu::selinux
