#include "selinux/gpu_plan.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "blueprint/sources/policy_source.hpp"
#include "embedded_gpu_plan.hpp"
#include "image/image_root.hpp"
#include "selinux/policy/modules.hpp"
#include "selinux/policy/policydb.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/ranges.hpp"
#include "support/text/text.hpp"

namespace edgegpu::selinux {

namespace fs = std::filesystem;

namespace {

/// Directory of the module packages in the sandbox.
constexpr std::string_view packages_in_sandbox = "/run/edgegpu/packages";

/// Collects modules as CIL; module packages are translated together.
class Gathering {
public:
    explicit Gathering(fs::path directory) : directory_(std::move(directory)) {
        make_directories(directory_);
    }

    /// Adds a module in the file `content`, which is named after `path` (of the image or builder).
    void add(const std::string& path, const fs::path& content) {
        ModuleText module{policy_module_name(path), 0, read_module_file(content)};
        if (!path.ends_with(".cil")) {
            packages_.push_back(modules_.size());
            write_file(package(packages_.size() - 1, "pp"), module.cil);
            module.cil.clear();
        }
        modules_.push_back(std::move(module));
    }
    /// Adds a module of the blueprint: of a `.te` its unconditional allow rules.
    void add_source(const fs::path& source) {
        if (source.extension() != ".te") {
            add(source.string(), source);
            return;
        }
        ModuleText module{source.stem().string(), 0, {}};
        for (const AllowRule& rule : source_rules(source)) {
            module.cil += fmt::format("(allow {} {} ({} ({})))\n", rule.source, rule.target,
                                      rule.tclass, fmt::join(rule.permissions, " "));
        }
        modules_.push_back(std::move(module));
    }
    /// Translates the packages; returns all modules.
    std::vector<ModuleText> take(ToolRoot& tools) {
        if (!packages_.empty()) {
            SandboxCommand command;
            command.read_only_root = true;
            command.writable_binds = {{directory_, std::string(packages_in_sandbox)}};
            // Starts the sandbox once for all packages, which have numbers as names.
            command.argv = {"sh", "-c", std::string(embedded::translate_packages),
                            "translate-packages", std::string(packages_in_sandbox)};
            const ProcessResult result = tools.run(std::move(command));
            if (result.status != 0) {
                throw error("the image's tools cannot read a policy module to be installed")
                    .traced(std::string(trim_end(result.output, "\n")));
            }
        }
        // The image's tools can write anything to the directory.
        const ImageRoot results(directory_);
        for (std::size_t i = 0; i < packages_.size(); ++i) {
            modules_[packages_[i]].cil =
                results.read(fmt::format("/{}.cil", i), module_limit, LastLink::not_followed);
        }
        return std::move(modules_);
    }

private:
    [[nodiscard]] fs::path package(std::size_t number, std::string_view suffix) const {
        return directory_ / fmt::format("{}.{}", number, suffix);
    }

    fs::path directory_;
    std::vector<ModuleText> modules_;
    /// indices of modules_
    std::vector<std::size_t> packages_;
};

/// Permissions of container_t on the GPU's device nodes that the module for `map` grants.
std::set<std::string> module_gives(const fs::path& module) {
    std::set<std::string> result;
    const AllowRule wanted = gpu_rule();
    for (const AllowRule& rule : source_rules(module)) {
        if (rule.source == wanted.source && rule.target == wanted.target &&
            rule.tclass == wanted.tclass) {
            result.insert(rule.permissions.begin(), rule.permissions.end());
        }
    }
    return result;
}

/// Those of the two booleans that the blueprint sets to false.
std::set<std::string> switched_off(const SelinuxRequest& request) {
    std::set<std::string> result;
    for (const char* boolean : {narrow_boolean, wide_boolean}) {
        const auto found = request.booleans.find(boolean);
        if (found != request.booleans.end() && !found->second) {
            result.insert(boolean);
        }
    }
    return result;
}

std::vector<ModuleText> added_modules(const SelinuxRequest& request, const Tree& tree,
                                      ToolRoot& tools, const Transaction& transaction,
                                      const StoreCopy& copy) {
    Gathering gathering(copy.directory() / "packages");
    for (const std::string& file : transaction.module_files) {
        gathering.add(file, find_entry(tree, file)->content);
    }
    for (const fs::path& source : request.modules) {
        gathering.add_source(source);
    }
    return gathering.take(tools);
}

bool replaces_any(const std::vector<ModuleText>& modules, const std::set<ModuleId>& stored) {
    return std::any_of(stored.begin(), stored.end(), [&](const ModuleId& id) {
        return std::any_of(modules.begin(), modules.end(),
                           [&](const ModuleText& module) { return module.name == id.second; });
    });
}

/// Adds those modules of the store that `modules` does not replace.
void add_stored(std::vector<ModuleText> stored, std::vector<ModuleText>& modules) {
    const auto added = mapped_to<std::set<std::string>>(modules, &ModuleText::name);
    for (ModuleText& module : stored) {
        if (!added.contains(module.name)) {
            modules.push_back(std::move(module));
        }
    }
}

}  // namespace

GpuAccess plan_gpu_access(const SelinuxRequest& request, const Tree& tree, ToolRoot& tools,
                          const PolicyPaths& paths, const StoreCopy& copy,
                          Transaction& transaction) {
    if (!request.gpu_containers) {
        return {};
    }
    std::vector<ModuleText> modules = added_modules(request, tree, tools, transaction, copy);
    std::optional<PolicyDb> policy;
    if (replaces_any(modules, stored_modules(tree, paths))) {
        // The binary policy still has the rules of the module that is replaced.
        add_stored(store_modules(tree.entries, paths.store), modules);
    } else {
        policy.emplace(copy.binary_policy());
    }
    const GpuRules rules =
        find_gpu_rules(policy ? &*policy : nullptr, modules, transaction.booleans);
    GpuAccess access = choose_gpu_access(rules, module_gives(request.map_module),
                                         switched_off(request), request.location);
    if (access.boolean) {
        transaction.booleans[*access.boolean] = true;
    }
    return access;
}

std::vector<fs::path> module_sources(const SelinuxRequest& request, const GpuAccess& access) {
    std::vector<fs::path> sources = request.modules;
    if (access.module) {
        sources.push_back(request.map_module);
    }
    return sources;
}

}  // namespace edgegpu::selinux
