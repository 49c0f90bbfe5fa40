#include "selinux/modules/translate.hpp"

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "sandbox/tool.hpp"
#include "selinux/policy/modules.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/text/text.hpp"

namespace edgegpu::selinux {

namespace {

/// Its path in Debian and EL.
constexpr std::string_view pp_to_cil = "/usr/libexec/selinux/hll/pp";
constexpr std::uint64_t largest_module = 16U << 20U;

}  // namespace

Translation translate(const Context& ctx, const CompiledModule& module) {
    if (module.file.extension() == ".cil") {
        return {read_file(module.file, largest_module), {}};
    }
    if (!std::filesystem::exists(pp_to_cil)) {
        return {};
    }
    ToolCommand command;
    command.argv = {std::string(pp_to_cil), "module.pp", "module.cil"};
    try {
        command.inputs = {{"module.pp", read_module_file(module.file)}};
    } catch (const Error& problem) {
        return {{}, problem.message()};
    }
    command.outputs = {"module.cil"};
    ToolResult result = run_tool(ctx, command);
    if (result.status > 128) {
        return {{}, fmt::format("{} was ended by signal {}", pp_to_cil, result.status - 128)};
    }
    if (result.status != 0) {
        const std::string& said = result.output;
        return {{},
                said.empty() ? fmt::format("{} refuses it", pp_to_cil)
                             : std::string(trim_end(said, "\n"))};
    }
    return {std::move(result.files["module.cil"]), {}};
}

}  // namespace edgegpu::selinux
