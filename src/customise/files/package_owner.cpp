#include "customise/files/package_owner.hpp"

#include <filesystem>
#include <system_error>

#include "sandbox/sandbox.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

std::string package_of(const Context& ctx, const Tree& tree, const std::string& path) {
    std::error_code code;
    if (tree.root.empty() || !fs::is_directory(tree.root, code) ||
        find_entry(tree, "/usr/bin/rpm") == nullptr) {
        return {};
    }
    SandboxCommand command;
    command.root = tree.root;
    command.kernel = tree.kernel;
    command.argv = {"rpm", "-qf", "--queryformat", "%{NAME}-%{VERSION}-%{RELEASE}", path};
    const ProcessResult result = run_in_sandbox(ctx, command);
    const bool known = result.status == 0 && !result.output.empty() &&
                       result.output.find_first_of(" \n/") == std::string::npos;
    return known ? result.output : std::string();
}

}  // namespace edgegpu
