#include "pipeline/check.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "resolve/gpu/devices.hpp"
#include "sandbox/tool.hpp"
#include "selinux/modules/compile.hpp"
#include "support/error.hpp"

namespace edgegpu {

namespace {

/// Before any solve this is a mistake of the blueprint.
std::vector<std::string> check_gpus(const Blueprint& blueprint) {
    try {
        return check_requested_devices(blueprint.nvidia);
    } catch (const Error& refused) {
        throw Error(ErrorKind::usage, refused.message()).hinted(refused.hint());
    }
}

}  // namespace

std::vector<std::string> check_without_image(const Context& ctx, const Blueprint& blueprint,
                                             Mistakes& mistakes) {
    std::vector<std::string> warnings;
    mistakes.attempt([&] { warnings = check_gpus(blueprint); });
    const std::vector<std::filesystem::path>& modules = blueprint.selinux.modules;
    const bool any_source = std::any_of(modules.begin(), modules.end(), [](const auto& module) {
        return module.extension() == ".te";
    });
    if (any_source && tool_file("checkmodule").empty()) {
        warnings.push_back(fmt::format(
            "{}: the syntax of policy modules is not checked: this machine has no checkmodule; "
            "install the package checkpolicy",
            blueprint.selinux.location.text()));
        return warnings;
    }
    for (const std::filesystem::path& module : modules) {
        mistakes.attempt([&] { selinux::check_module_source(ctx, module); });
    }
    return warnings;
}

}  // namespace edgegpu
