#include "selinux/compile.hpp"

#include <algorithm>
#include <optional>
#include <regex>
#include <sstream>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "selinux/calls.hpp"
#include "support/file.hpp"
#include "support/process.hpp"

namespace edgegpu::selinux {

namespace fs = std::filesystem;

namespace {

/// The newest format that RHEL 8's libsepol 2.9 reads.
constexpr std::string_view module_format = "19";
/// Translates a `.pp` into CIL, as semodule does (Debian's and RHEL's place of it).
constexpr std::string_view pp_to_cil = "/usr/libexec/selinux/hll/pp";
constexpr std::uint64_t source_limit = 16U << 20U;

/// checkmodule knows the plain policy language; interfaces of the reference policy are m4 macros,
/// whose syntax errors would be hard to understand.
void refuse_macros(const std::string& source, const std::string& shown) {
    static const std::regex macro(R"(^\s*([a-z_][a-z0-9_]*)\s*\()");
    static const std::vector<std::string> plain{"if"};
    std::istringstream lines(source);
    std::string line;
    for (unsigned number = 1; std::getline(lines, line); ++number) {
        std::smatch match;
        if (std::regex_search(line, match, macro) &&
            std::find(plain.begin(), plain.end(), match[1].str()) == plain.end()) {
            throw error(ErrorKind::usage,
                        "{}:{}: '{}' is a macro of the reference policy; only the plain policy "
                        "language is understood",
                        shown, number, match[1].str())
                .hinted(
                    "write 'module NAME 1.0;' and 'require { type …; }', or build a .pp with "
                    "selinux-policy-devel and name that");
        }
    }
}

/// First error of checkmodule's output: "FILE:LINE:ERROR 'TEXT' at token 'TOKEN' on line N:".
Error compile_error(const std::string& shown, const std::string& output) {
    static const std::regex located(R"(:(\d+):ERROR '([^']*(?:'[^']*)*)' at token '([^']*)')");
    std::smatch match;
    if (std::regex_search(output, match, located)) {
        return error(ErrorKind::usage, "{}:{}: {} at '{}'", shown, match[1].str(), match[2].str(),
                     match[3].str());
    }
    return error(ErrorKind::usage, "{}: the policy compiler refused it", shown)
        .traced(output.substr(0, output.find_last_not_of('\n') + 1));
}

void run_compiler(const Context& ctx, const std::string& shown,
                  const std::vector<std::string>& argv) {
    const ProcessResult result = run_process(ctx, argv);
    if (result.status != 0) {
        throw compile_error(shown, result.output);
    }
}

/// 1-based line of the first occurrence of `symbol` as a word; 0: none.
unsigned line_of(const std::string& source, const std::string& symbol) {
    const std::regex word("\\b" + symbol + "\\b");
    std::istringstream lines(source);
    std::string line;
    for (unsigned number = 1; std::getline(lines, line); ++number) {
        if (std::regex_search(line, word)) {
            return number;
        }
    }
    return 0;
}

/// Text of a line of the module's CIL form, or empty.
std::string cil_line(const Context& ctx, const CompiledModule& module, unsigned number) {
    std::string text;
    if (module.file.extension() == ".cil") {
        text = read_file(module.file, source_limit);
    } else if (fs::exists(pp_to_cil)) {
        text = run_process(ctx, {std::string(pp_to_cil), module.file.string()}).output;
    }
    std::istringstream lines(text);
    std::string line;
    for (unsigned at = 0; at < number && std::getline(lines, line); ++at) {
    }
    return line;
}

/// "(typeattributeset cil_gen_require foo_t)" → "foo_t"
std::optional<std::string> required_symbol(const std::string& line) {
    static const std::regex required(R"(cil_gen_require\s+([A-Za-z0-9_.-]+)\))");
    std::smatch match;
    if (std::regex_search(line, match, required)) {
        return match[1].str();
    }
    return std::nullopt;
}

}  // namespace

std::string display_path(const fs::path& path) {
    std::error_code code;
    const fs::path relative = fs::proximate(path, code);
    return code || relative.empty() || *relative.begin() == ".." ? path.string()
                                                                 : relative.string();
}

CompiledModule compile_module(const Context& ctx, const fs::path& source, const fs::path& directory,
                              bool mls) {
    const std::string shown = display_path(source);
    CompiledModule result{module_name(source.string()), source, {}};
    if (source.extension() != ".te") {
        if (source.extension() != ".cil" && source.extension() != ".pp" &&
            source.extension() != ".bz2") {
            throw error(ErrorKind::usage, "{}: a policy module is a .te, .cil or .pp file", shown);
        }
        // Under a name of its own, so that the sandbox sees nothing beside it.
        result.file = directory / source.filename();
        fs::copy_file(source, result.file, fs::copy_options::overwrite_existing);
        return result;
    }
    const std::string text = read_file(source, source_limit);
    refuse_macros(text, shown);
    result.name = source.stem().string();
    const fs::path compiled = directory / (result.name + ".mod");
    result.file = directory / (result.name + ".pp");
    std::vector<std::string> compiler{"checkmodule", "-m", "-c", std::string(module_format)};
    if (mls) {
        compiler.emplace_back("-M");
    }
    compiler.insert(compiler.end(), {"-o", compiled.string(), source.string()});
    run_compiler(ctx, shown, compiler);
    std::vector<std::string> packager{"semodule_package", "-o", result.file.string(), "-m",
                                      compiled.string()};
    const fs::path contexts = fs::path(source).replace_extension(".fc");
    if (fs::exists(contexts)) {
        packager.insert(packager.end(), {"-f", contexts.string()});
    }
    run_compiler(ctx, shown, packager);
    return result;
}

Error explain_failure(const Context& ctx, const std::vector<CompiledModule>& modules,
                      const std::string& output) {
    static const std::regex located(R"(modules/\d+/([^/\s]+)/cil:(\d+))");
    std::smatch match;
    if (std::regex_search(output, match, located)) {
        const std::string name = match[1].str();
        const auto module = std::find_if(modules.begin(), modules.end(),
                                         [&](const auto& m) { return m.name == name; });
        if (module != modules.end()) {
            const std::string line =
                cil_line(ctx, *module, static_cast<unsigned>(std::stoul(match[2].str())));
            const std::string shown = display_path(module->source);
            const auto symbol = required_symbol(line);
            const unsigned number = symbol && module->source.extension() == ".te"
                                        ? line_of(read_file(module->source, source_limit), *symbol)
                                        : 0;
            if (symbol && number != 0) {
                return error(ErrorKind::usage, "{}:{}: the image's policy has no '{}'", shown,
                             number, *symbol)
                    .hinted("install the package whose policy module defines it");
            }
            return error(ErrorKind::usage, "{}: does not fit the image's policy", shown)
                .traced("semodule: " + output.substr(0, output.find_last_not_of('\n') + 1));
        }
    }
    return error("the image's semodule failed")
        .traced(output.substr(0, output.find_last_not_of('\n') + 1));
}

}  // namespace edgegpu::selinux
