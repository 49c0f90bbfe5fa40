#include "driver_package/driver_package.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "commands/commands.hpp"
#include "execution/context.hpp"
#include "execution/stage.hpp"
#include "support/text/terminal_text.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

using nlohmann::ordered_json;

/// The first names, and how many there are.
std::string some_of(const std::vector<std::string>& names) {
    constexpr std::size_t shown = 3;
    const std::vector<std::string> first(
        names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(shown, names.size())));
    return names.size() <= shown
               ? fmt::format("{}", fmt::join(first, ", "))
               : fmt::format("{} files: {}, …", names.size(), fmt::join(first, ", "));
}

std::string repository_text(const DriverRepository& made) {
    std::string text =
        "\n" + result_row("driver", fmt::format("{} for {}", made.version, made.architecture));
    for (const DriverPackage& package : made.packages) {
        text += result_row(&package == made.packages.data() ? "packages" : "",
                           fmt::format("{} ({})", package.nevra.text(), human_size(package.size)));
    }
    bool first = true;
    for (const auto& [why, names] : made.left_out) {
        text += result_row(first ? "left out" : "", fmt::format("{}: {}", why, some_of(names)));
        first = false;
    }
    const std::string directory = made.directory.string();
    text += result_row("in", directory);
    return text + fmt::format(
                      "\nIn the blueprint:\n\n[[repositories]]\nid = \"nvidia-run\"\n"
                      "baseurl = {}\ngpgcheck = false\nrepo_gpgcheck = false\n\n"
                      "[nvidia]\ndriver = \"{}\"\nmodules = \"dkms\"\n{}",
                      toml_string(directory), made.version,
                      made.is_guest ? "\n[nvidia.vgpu]\n" : "");
}

/// docs/schemas/package-driver.json
std::string repository_json(const DriverRepository& made) {
    ordered_json packages = ordered_json::array();
    for (const DriverPackage& package : made.packages) {
        packages.push_back({{"nevra", package.nevra.text()},
                            {"file", package.file},
                            {"size", package.size},
                            {"sha256", package.sha256},
                            {"files", package.files}});
    }
    ordered_json left_out = ordered_json::array();
    for (const auto& [why, names] : made.left_out) {
        left_out.push_back({{"why", why}, {"files", names}});
    }
    const ordered_json document{{"format", "edgegpu-package-driver/1"},
                                {"edgegpu", EDGEGPU_VERSION},
                                {"driver", made.version},
                                {"architecture", made.architecture},
                                {"run_file_sha256", made.sha256},
                                {"virtual_gpu", made.is_guest},
                                {"directory", made.directory.string()},
                                {"packages", std::move(packages)},
                                {"left_out", std::move(left_out)}};
    return document_text(document);
}

}  // namespace

int run_package_driver(const GlobalOptions& global, const PackageDriverCommand& command) {
    Console console(console_output(global));
    const Context ctx = command_context(global, console);
    Stages stages(ctx, command.run_file.string());
    const DriverRepository made =
        stages.run([&] { return package_driver(ctx, stages, command.run_file, command.output); });
    print_result(global.json ? repository_json(made) : repository_text(made));
    return 0;
}

}  // namespace edgegpu
