#include "selinux/modules/semodule.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <sys/stat.h>

#include "image/image_root.hpp"
#include "selinux/modules/failures.hpp"
#include "selinux/store/store.hpp"

namespace edgegpu::selinux {

namespace {

constexpr std::string_view semanage_conf = "/etc/selinux/semanage.conf";
constexpr std::uint64_t conf_limit = 1U << 20U;

}  // namespace

ProcessResult run_checked(ToolRoot& tools, const SandboxCommand& command, const StoreCopy& copy,
                          const std::vector<CompiledModule>& modules) {
    const ImageRoot& root = copy.root();
    const std::optional<struct stat> conf = root.status(semanage_conf);
    if (modules.empty() || !conf) {
        return tools.run(command);
    }
    const std::string text = root.read(semanage_conf, conf_limit, LastLink::not_followed);
    const FileAttributes attributes{0, 0, conf->st_mode & 07777U, {}};
    // Distributions disable it because it takes time.
    root.write(semanage_conf, with_setting(text, "expand-check", "1"), attributes);
    ProcessResult result = tools.run(command);
    root.write(semanage_conf, text, attributes);
    if (result.status != 0 && is_broken_neverallow(result.output) &&
        !concerns(modules, result.output)) {
        result = tools.run(command);
    }
    return result;
}

}  // namespace edgegpu::selinux
