#include "pipeline/check.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "customise/system/device_repositories.hpp"
#include "resolve/gpu/devices.hpp"
#include "resolve/stage/workload_image.hpp"
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
    mistakes.attempt([&] {
        if (auto warning = check_workload_image(blueprint)) {
            warnings.push_back(std::move(*warning));
        }
    });
    check_inline_keys(blueprint.device_repositories, mistakes);
    const auto unchecked = [&](std::string_view reason) {
        warnings.push_back(fmt::format("{}: the syntax of policy modules is not checked: {}",
                                       blueprint.selinux.location.text(), reason));
    };
    const std::vector<std::filesystem::path>& modules = blueprint.selinux.modules;
    const bool any_source = std::ranges::any_of(
        modules, [](const auto& module) { return module.extension() == ".te"; });
    if (any_source && tool_file("checkmodule").empty()) {
        unchecked("this machine has no checkmodule; install the package checkpolicy");
        return warnings;
    }
    for (const std::filesystem::path& module : modules) {
        try {
            mistakes.attempt([&] { selinux::check_module_source(ctx, module); });
        } catch (const Error& failure) {
            // No sandbox here, for example: only a build has to have one.
            if (failure.kind() == ErrorKind::interrupted) {
                throw;
            }
            unchecked(failure.message());
            return warnings;
        }
    }
    return warnings;
}

}  // namespace edgegpu
