#include "customise/initramfs/parent_initramfs.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/error.hpp"
#include "support/text/kernel_module_name.hpp"

namespace edgegpu {

namespace {

constexpr std::size_t most_files_named = 3;

std::set<std::string> drivers_of(const InitramfsContents& contents) {
    std::set<std::string> names;
    for (const std::string& path : contents.paths) {
        if (std::string name = module_of_file(path); !name.empty()) {
            names.insert(std::move(name));
        }
    }
    return names;
}

}  // namespace

MissingContents missing_of(const InitramfsContents& parent, const InitramfsContents& made,
                           const std::vector<std::string>& blacklist) {
    MissingContents missing;
    std::ranges::set_difference(parent.modules, made.modules, std::back_inserter(missing.modules));
    std::set<std::string> known = drivers_of(made);
    for (const std::string& name : blacklist) {
        known.insert(kernel_module_name(name));
    }
    std::ranges::set_difference(drivers_of(parent), known, std::back_inserter(missing.drivers));
    std::ranges::set_difference(parent.paths, made.paths, std::back_inserter(missing.files));
    std::erase_if(missing.files,
                  [](const std::string& path) { return !module_of_file(path).empty(); });
    return missing;
}

std::vector<std::string> arguments_for(const MissingContents& missing) {
    std::vector<std::string> arguments;
    if (!missing.modules.empty()) {
        arguments = {"--add", fmt::format("{}", fmt::join(missing.modules, " "))};
    }
    if (!missing.drivers.empty()) {
        arguments.insert(arguments.end(),
                         {"--add-drivers", fmt::format("{}", fmt::join(missing.drivers, " "))});
    }
    return arguments;
}

void require_nothing_missing(const Context& ctx, const MissingContents& missing) {
    if (!missing.modules.empty() || !missing.drivers.empty()) {
        const bool of_dracut = !missing.modules.empty();
        const std::vector<std::string>& names = of_dracut ? missing.modules : missing.drivers;
        throw error("dracut made an initramfs without the {} {}{}, which that of the parent has",
                    of_dracut ? "dracut" : "kernel", names.size() == 1 ? "module " : "modules ",
                    fmt::join(names, ", "))
            .hinted(of_dracut ? "does a configuration of dracut omit it, or does it need a program "
                                "that the image does not have?"
                              : "blacklist it in [modprobe] if the image shall not have it");
    }
    if (!missing.files.empty() && ctx.console != nullptr) {
        const std::size_t named = std::min(missing.files.size(), most_files_named);
        ctx.console->warn(fmt::format(
            "the initramfs lacks {} of the parent's: {}{}",
            missing.files.size() == 1 ? "a file" : fmt::format("{} files", missing.files.size()),
            fmt::join(missing.files.begin(),
                      missing.files.begin() + static_cast<std::ptrdiff_t>(named), ", "),
            missing.files.size() > named ? ", …" : ""));
    }
}

}  // namespace edgegpu
