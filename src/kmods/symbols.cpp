#include "kmods/symbols.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "support/error.hpp"
#include "support/files/decompress.hpp"
#include "support/files/file.hpp"
#include "support/text/kernel_module_name.hpp"
#include "support/text/number.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

/// Real ones have 1 to 2 MB.
constexpr std::size_t symbols_limit = 64U << 20U;

struct KernelSymbol {
    std::uint32_t version = 0;
    /// "vmlinux", or the module's path below `kernel/`, without suffix: "drivers/gpu/drm/drm".
    std::string exporter;
};

using KernelSymbols = std::map<std::string, KernelSymbol, std::less<>>;

std::string module_directory(const Tree& tree) {
    return fmt::format("/usr/lib/modules/{}/", tree.kernel);
}

/// Lines "0x92997ed8<TAB>_printk<TAB>vmlinux<TAB>EXPORT_SYMBOL<TAB>".
KernelSymbols parse_symbols(std::string_view text, const std::string& name) {
    KernelSymbols symbols;
    for (const std::string_view line : lines_of(text)) {
        const std::vector<std::string_view> fields = split(line, '\t');
        KernelSymbol symbol;
        const bool is_symbol = fields.size() >= 3 && fields[0].starts_with("0x");
        const std::string_view number = is_symbol ? fields[0].substr(2) : "";
        const auto version = whole_number<decltype(symbol.version)>(number, 16);
        if (!version) {
            throw error("{}: not a list of the kernel's symbols: '{}'", name, line);
        }
        symbol.version = *version;
        symbol.exporter = fields[2];
        symbols.insert_or_assign(std::string(fields[1]), std::move(symbol));
    }
    return symbols;
}

std::optional<KernelSymbols> read_symbols(const Tree& tree) {
    for (const char* suffix : {".gz", ".xz", ".zst", ""}) {
        const std::string path = module_directory(tree) + "symvers" + suffix;
        const auto found = tree.entries.find(path);
        if (found != tree.entries.end() && found->second.type == EntryType::file) {
            const std::string content = read_file(found->second.content, symbols_limit);
            return parse_symbols(decompress(content, symbols_limit, path), path);
        }
    }
    return std::nullopt;
}

/// Names of all modules of the image's kernel.
std::set<std::string> present_modules(const Tree& tree) {
    std::set<std::string> names;
    for (const auto& [path, entry] : entries_below(tree.entries, module_directory(tree))) {
        if (entry.type != EntryType::directory) {
            names.insert(module_of_file(path));
        }
    }
    return names;
}

/// Symbols of the modules that are not the kernel's own.
std::set<std::string> other_exports(const Context& ctx, const Tree& tree,
                                    const std::map<std::string, ModuleInfo>& modules) {
    std::set<std::string> exports;
    for (const auto& [path, entry] : entries_below(tree.entries, module_directory(tree))) {
        if (entry.type == EntryType::directory || module_of_file(path).empty() ||
            path.starts_with(module_directory(tree) + "kernel/")) {
            continue;
        }
        const Entry* file = find_entry(tree, path);
        if (file == nullptr || file->type != EntryType::file) {
            continue;
        }
        ctx.check_cancelled();
        const auto known = modules.find(path);
        const ModuleInfo info =
            known != modules.end()
                ? known->second
                : read_module(unpack_module(read_file(file->content), path), path);
        exports.insert(info.exports.begin(), info.exports.end());
    }
    return exports;
}

/// What modules may import, looked up once for all of them.
struct Offer {
    KernelSymbols kernel;
    std::set<std::string> modules;
    std::set<std::string> others;
};

void check_import(const Tree& tree, const Offer& offer, const std::string& module,
                  const std::string& symbol, const std::optional<std::uint32_t>& version) {
    // As the kernel does, which takes the first that it finds: its own come before modules'.
    const auto found = offer.kernel.find(symbol);
    if (found == offer.kernel.end()) {
        if (!offer.others.contains(symbol)) {
            throw error(
                "{} needs symbol {}, which neither the kernel nor a module of the image has",
                module, symbol)
                .hinted(
                    "set kernel in [nvidia] to the kernel that the modules were made for, or "
                    "modules = \"dkms\"");
        }
        return;
    }
    const auto& [kernel_version, exporter] = found->second;
    if (version && *version != kernel_version) {
        throw error("{} was made for another build of kernel {}", module, tree.kernel)
            .traced(fmt::format("module: symbol {} of version {:#010x}", symbol, *version))
            .traced(fmt::format("kernel: symbol {} of version {:#010x}", symbol, kernel_version))
            .hinted(
                "take kernel and modules that were made for each other, or modules = \"dkms\" in "
                "[nvidia]");
    }
    const std::string_view name = std::string_view(exporter).substr(exporter.rfind('/') + 1);
    if (exporter != "vmlinux" && !offer.modules.contains(kernel_module_name(name))) {
        throw error("{} needs kernel module {}, which is not in the image", module, name)
            .traced("symbol " + symbol)
            .hinted("add the package with the kernel's other modules: kernel-modules");
    }
}

}  // namespace

void check_symbols(const Context& ctx, const Tree& tree,
                   const std::map<std::string, ModuleInfo>& modules, const std::string& package) {
    std::optional<KernelSymbols> kernel = read_symbols(tree);
    if (!kernel) {
        ctx.console->note(
            fmt::format("symbols of the driver's kernel modules are not checked: kernel {} brings "
                        "no list of its own (symvers.gz)",
                        tree.kernel));
        return;
    }
    const Offer offer{std::move(*kernel), present_modules(tree), other_exports(ctx, tree, modules)};
    for (const auto& [path, info] : modules) {
        for (const auto& [symbol, version] : info.imports) {
            check_import(tree, offer, fmt::format("{} of {}", path, package), symbol, version);
        }
    }
}

}  // namespace edgegpu
