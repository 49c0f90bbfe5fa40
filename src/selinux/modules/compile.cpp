#include "selinux/modules/compile.hpp"

#include <algorithm>
#include <optional>
#include <regex>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "blueprint/sources/policy_package.hpp"
#include "blueprint/sources/policy_source.hpp"
#include "sandbox/program_digest.hpp"
#include "sandbox/tool.hpp"
#include "selinux/modules/contexts.hpp"
#include "selinux/modules/interfaces.hpp"
#include "selinux/store/calls.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/text/text.hpp"

namespace edgegpu::selinux {

namespace fs = std::filesystem;

namespace {

/// The newest format that RHEL 8's libsepol 2.9 reads.
constexpr std::string_view module_format = "19";
constexpr std::uint64_t source_limit = 16U << 20U;

/// First error of checkmodule's output: "FILE:LINE:ERROR 'TEXT' at token 'TOKEN' on line N:".
Error compile_error(const std::string& shown, const std::string& output) {
    static const std::regex located(R"(:(\d+):ERROR '([^\n]*?)' at token '([^\n]*?)' on line)");
    static const std::regex renamed(R"(Module name (\S+) is different)");
    std::smatch match;
    if (std::regex_search(output, match, located)) {
        return error(ErrorKind::usage, "{}:{}: {} at '{}'", shown, match[1].str(), match[2].str(),
                     match[3].str());
    }
    if (std::regex_search(output, match, renamed)) {
        return error(ErrorKind::usage, "{}: the name of the module is '{}'", shown, match[1].str())
            .hinted("a module must have the name of its file: module NAME VERSION; in NAME.te");
    }
    return error(ErrorKind::usage, "{}: the policy compiler rejected it", shown)
        .traced(std::string(trim_end(output, "\n")));
}

/// Runs one of the compilers in a sandbox; returns its output file.
std::string compile(const Context& ctx, const std::string& shown, const ToolCommand& command) {
    ToolResult result = run_tool(ctx, command);
    if (result.status > 128) {
        throw error(ErrorKind::usage, "{}: the policy compiler crashed", shown)
            .traced(fmt::format("{} was ended by signal {}", command.argv.front(),
                                result.status - 128));
    }
    const std::string& made = command.outputs.front();
    if (result.status != 0 || !result.files.contains(made)) {
        throw compile_error(shown, result.output);
    }
    return std::move(result.files.at(made));
}

/// The compiled module of a `.te` without macros, as checkmodule writes it.
std::string compile_source(const Context& ctx, const fs::path& source, bool mls) {
    // The compiler compares the module's name with that of its output.
    const std::string name = policy_module_name(source);
    ToolCommand compiler;
    compiler.argv = {"checkmodule", "-m", "-c", std::string(module_format)};
    if (mls) {
        compiler.argv.emplace_back("-M");
    }
    compiler.argv.insert(compiler.argv.end(), {"-o", "./" + name + ".mod", "./" + name + ".te"});
    compiler.inputs = {{name + ".te", read_file(source, source_limit)}};
    compiler.outputs = {name + ".mod"};
    return compile(ctx, display_path(source), compiler);
}

/// Copies a compiled module to `directory`, so that the sandbox does not see the files beside it.
CompiledModule take_module(const fs::path& source, const fs::path& directory) {
    check_policy_module(source);
    CompiledModule result{policy_module_name(source), source, directory / source.filename()};
    fs::copy_file(source, result.file, fs::copy_options::overwrite_existing);
    return result;
}

void refuse_twins(const std::vector<fs::path>& modules) {
    std::map<std::string, fs::path> names;
    for (const fs::path& source : modules) {
        const std::string name = policy_module_name(source);
        if (!names.emplace(name, source).second) {
            throw error(ErrorKind::usage, "{}: another module has the name '{}' too",
                        display_path(source), name);
        }
    }
}

/// The modules that use macros, with all files to which one of them may refer.
MacroModules macro_modules(const CompileInputs& inputs,
                           const std::map<fs::path, std::string>& contexts) {
    MacroModules result;
    result.type = inputs.paths.type;
    result.mls = inputs.mls;
    for (const fs::path& source : inputs.modules) {
        if (source.extension() != ".te") {
            continue;
        }
        result.files[source.filename().string()] = read_file(source, source_limit);
        const fs::path interfaces = beside_module(source, ".if");
        if (fs::exists(interfaces)) {
            result.files[interfaces.filename().string()] = read_file(interfaces, source_limit);
        }
        if (needs_interfaces(source)) {
            result.sources.push_back(source);
            result.files[beside_module(source, ".fc").filename().string()] = contexts.at(source);
        }
    }
    return result;
}

}  // namespace

void digest_module(Sha256& digest, const fs::path& source) {
    const std::vector<fs::path> files = files_of_module(source);
    digest.update_field(fmt::format("{} files", files.size()));
    for (const fs::path& file : files) {
        digest.update_field(file.filename().string());
        digest.update_field(sha256_file(file));
    }
}

void digest_modules(const Context& ctx, Sha256& digest, const CompileInputs& inputs) {
    bool sources = false;
    bool interfaces = false;
    digest.update_field(fmt::format("{} modules", inputs.modules.size()));
    for (const fs::path& source : inputs.modules) {
        digest_module(digest, source);
        sources = sources || source.extension() == ".te";
        interfaces = interfaces || needs_interfaces(source).has_value();
    }
    if (sources) {
        // What a module allows depends on the sources alone, but its bytes depend on the compiler.
        for (const std::string_view tool : {"checkmodule", "semodule_package"}) {
            digest.update_field(program_digest(ctx, tool_file(tool)));
        }
    }
    if (interfaces) {
        digest_interfaces(digest, inputs.policy_root, inputs.tree);
    }
}

CompiledModule compile_module(const Context& ctx, const fs::path& source,
                              const std::string& contexts, const fs::path& directory, bool mls) {
    if (source.extension() != ".te") {
        return take_module(source, directory);
    }
    const std::string name = policy_module_name(source);
    const std::string compiled = name + ".mod";
    const std::string packed = name + ".pp";
    ToolCommand packager;
    packager.argv = {"semodule_package", "-o", "./" + packed, "-m", "./" + compiled};
    packager.inputs = {{compiled, compile_source(ctx, source, mls)}};
    packager.outputs = {packed};
    if (!contexts.empty()) {
        packager.argv.insert(packager.argv.end(), {"-f", "./" + compiled + ".fc"});
        packager.inputs.emplace(compiled + ".fc", contexts);
    }
    CompiledModule result{name, source, directory / packed};
    write_file(result.file, compile(ctx, display_path(source), packager));
    return result;
}

void check_module_source(const Context& ctx, const fs::path& source) {
    if (source.extension() != ".te") {
        return;
    }
    if (needs_interfaces(source)) {
        check_macro_brackets(read_file(source, source_limit), display_path(source));
        return;
    }
    try {
        static_cast<void>(compile_source(ctx, source, true));
    } catch (const Error&) {
        try {
            static_cast<void>(compile_source(ctx, source, false));
            return;
        } catch (const Error& failure) {
            if (failure.kind() != ErrorKind::usage) {
                throw;
            }
        }
        throw;
    }
}

std::vector<CompiledModule> compile_modules(const Context& ctx, const CompileInputs& inputs,
                                            const fs::path& directory) {
    refuse_twins(inputs.modules);
    make_directories(directory);
    std::map<fs::path, std::string> contexts;
    std::optional<ContextMap> known;
    for (const fs::path& source : inputs.modules) {
        if (source.extension() == ".te" && fs::exists(beside_module(source, ".fc")) && !known) {
            known = known_contexts(inputs.tree, inputs.paths, inputs.module_files);
        }
        contexts[source] = known ? new_contexts(ctx, source, *known, inputs.mls) : std::string();
    }
    const MacroModules macros = macro_modules(inputs, contexts);
    if (!macros.sources.empty()) {
        compile_with_interfaces(ctx, inputs.policy_root, inputs.tree, macros, directory);
    }
    std::vector<CompiledModule> modules;
    for (const fs::path& source : inputs.modules) {
        const bool made =
            std::find(macros.sources.begin(), macros.sources.end(), source) != macros.sources.end();
        const std::string name = policy_module_name(source);
        modules.push_back(
            made ? CompiledModule{name, source, directory / (name + ".pp")}
                 : compile_module(ctx, source, contexts.at(source), directory, inputs.mls));
    }
    return modules;
}

void refuse_collisions(const std::vector<fs::path>& modules, const std::set<ModuleId>& present,
                       const std::vector<std::string>& module_files) {
    for (const fs::path& source : modules) {
        const std::string name = policy_module_name(source);
        const auto same = std::find_if(present.begin(), present.end(), [&](const ModuleId& module) {
            return module.second == name;
        });
        if (same == present.end()) {
            continue;
        }
        const auto file =
            std::find_if(module_files.begin(), module_files.end(),
                         [&](const std::string& path) { return policy_module_name(path) == name; });
        throw error(ErrorKind::usage,
                    "{}: the image has a policy module '{}' already, at priority {}, from {}",
                    display_path(source), name, same->first,
                    file == module_files.end() ? "the policy's own packages" : *file)
            .hinted("rename yours, or remove it from selinux.modules");
    }
}

}  // namespace edgegpu::selinux
