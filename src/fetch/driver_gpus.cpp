#include "fetch/driver_gpus.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fetch/package_payload.hpp"
#include "gpu/gpus.hpp"
#include "resolve/gpu/devices.hpp"
#include "support/text/nevra.hpp"

namespace edgegpu {

namespace {

/// The real file is below 1 MiB.
constexpr std::size_t gpu_list_limit = 16U << 20U;

/// The content of supported-gpus.json, if the package contains it.
std::optional<std::string> find_list(const Context& ctx, const PackageFile& package) {
    std::vector<PayloadFile> files = read_payload_files(
        ctx, package, [](std::string_view path) { return path.ends_with("/supported-gpus.json"); },
        gpu_list_limit, 1);
    return files.empty() ? std::nullopt : std::optional(std::move(files.front().content));
}

}  // namespace

void check_driver_gpus(const Context& ctx, const std::optional<NvidiaRequest>& nvidia,
                       const Resolution& resolution, const PackageFiles& packages) {
    if (!nvidia || nvidia->devices.empty()) {
        return;
    }
    for (const PackageFile& package : packages) {
        const Nevra& nevra = package.package.nevra;
        if (!nevra.name.starts_with("nvidia-driver") ||
            nevra.version != resolution.driver_version) {
            continue;
        }
        if (const std::optional<std::string> list = find_list(ctx, package)) {
            NvidiaRequest request = *nvidia;
            request.flavor = resolution.driver_flavor.value_or(request.flavor);
            const GpuTable table = read_supported_gpus(*list, resolution.driver_version,
                                                       "supported-gpus.json of " + nevra.text());
            for (const std::string& warning :
                 check_devices(request, table, resolution.driver_version, true).warnings) {
                ctx.console->warn(warning);
            }
            return;
        }
    }
}

}  // namespace edgegpu
