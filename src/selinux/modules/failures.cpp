#include "selinux/modules/failures.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <regex>
#include <string_view>

#include <fmt/format.h>

#include "blueprint/sources/policy_source.hpp"
#include "selinux/modules/translate.hpp"
#include "support/files/file.hpp"
#include "support/text/text.hpp"

namespace edgegpu::selinux {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t largest_text = 16U << 20U;
constexpr std::string_view neverallow_mark = "neverallow check failed at ";

/// 1-based number of the first line for which `fits` is true; 0 if there is none.
template <typename Fits>
unsigned line_where(const fs::path& file, const Fits& fits) {
    const std::string text = read_file(file, largest_text);
    const std::vector<std::string_view> lines = lines_of(text);
    const auto found = std::find_if(lines.begin(), lines.end(), fits);
    return found == lines.end() ? 0 : static_cast<unsigned>(found - lines.begin()) + 1;
}

bool has_word(std::string_view line, std::string_view word) {
    std::size_t at = 0;
    const auto is_word = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_';
    };
    while ((at = line.find(word, at)) != std::string_view::npos) {
        const std::size_t end = at + word.size();
        if ((at == 0 || !is_word(line[at - 1])) && (end == line.size() || !is_word(line[end]))) {
            return true;
        }
        at = end;
    }
    return false;
}

/// A line in the CIL of a module of the blueprint.
struct Place {
    const CompiledModule* module = nullptr;
    unsigned number = 0;
    /// text of that line, or empty
    std::string line;
};

/// The CIL of the module, or empty.
std::string cil_of(const Context& ctx, const CompiledModule& module) {
    return translate(ctx, module).cil;
}

/// The error for a compiled module that cannot be read: semodule does not say which one it is.
std::optional<Error> unreadable(const Context& ctx, const std::vector<CompiledModule>& modules) {
    for (const CompiledModule& module : modules) {
        if (module.source.extension() == ".te") {
            continue;
        }
        const Translation translation = translate(ctx, module);
        if (!translation.failure.empty()) {
            return error(ErrorKind::usage, "{}: not a module that the policy tools can read",
                         display_path(module.source))
                .traced(translation.failure)
                .hinted("compile it again from its source, or use the .te itself");
        }
    }
    return std::nullopt;
}

/// The first "…/modules/400/x/cil:7" in a text where x is a module of the blueprint.
std::optional<Place> find_place(const std::vector<CompiledModule>& modules,
                                const std::string& text) {
    static const std::regex located(R"(modules/\d+/([^/\s]+)/cil:(\d+))");
    for (auto it = std::sregex_iterator(text.begin(), text.end(), located);
         it != std::sregex_iterator(); ++it) {
        const auto module =
            std::find_if(modules.begin(), modules.end(),
                         [&](const CompiledModule& known) { return known.name == (*it)[1].str(); });
        if (module != modules.end()) {
            return Place{&*module, static_cast<unsigned>(std::stoul((*it)[2].str())), {}};
        }
    }
    return std::nullopt;
}

/// "x.te:3", or "x.te" if `line` is 0.
std::string shown_place(const fs::path& file, unsigned line) {
    return line == 0 ? display_path(file) : fmt::format("{}:{}", display_path(file), line);
}

/// The user's file and line for a place: of a `.cil` the same line, of a `.te` the first one for
/// which `fits` is true.
template <typename Fits>
std::string source_place(const Place& place, const Fits& fits) {
    const fs::path& source = place.module->source;
    if (source.extension() == ".cil") {
        return shown_place(source, place.number);
    }
    return shown_place(source, source.extension() == ".te" ? line_where(source, fits) : 0);
}

std::string place_of_word(const Place& place, const std::string& word) {
    return source_place(place, [&](std::string_view line) { return has_word(line, word); });
}

/// Names so similar to `symbol` that it is a typing mistake: "did you mean container_t?", or empty.
std::string near_types(const std::string& symbol, const KnownTypes& known) {
    // Short names differ by as few letters from others that are meant.
    const std::size_t edits = std::clamp<std::size_t>(symbol.size() / 5, 1, 2);
    const std::vector<std::string> near = nearest_names(symbol, known.names, 3, edits);
    return near.empty() ? "" : fmt::format("did you mean {}?", fmt::join(near, " or "));
}

/// A guess of the package that defines a missing type: in EL, policy modules outside of
/// selinux-policy are in packages NAME-selinux, and their types begin with NAME. Empty if the name
/// has no prefix.
std::string guessed_package(const std::string& symbol) {
    const std::size_t end = symbol.find('_');
    return end == std::string::npos || end == 0
               ? ""
               : fmt::format("perhaps in {}-selinux, by its name", symbol.substr(0, end));
}

/// "x.te:3: the image's policy has no 'a_t', …".
std::string no_symbol_text(const Place& place, const std::string& symbol) {
    const std::string where = place_of_word(place, symbol);
    const fs::path& source = place.module->source;
    const bool called = source.extension() == ".te" && where == display_path(source);
    return fmt::format("{}: the image's policy has no '{}'{}", where, symbol,
                       called ? ", which an interface that it calls requires" : "");
}

/// A type or attribute that a module requires and that does not exist.
struct Missing {
    Place place;
    std::string symbol;
};

/// Calls `function` with the line number, from 1, and name of each type that a module requires.
template <typename Function>
void for_each_required(const std::string& cil, const Function& function) {
    constexpr std::string_view begin = "(typeattributeset cil_gen_require ";
    unsigned number = 0;
    for (const std::string_view line : lines_of(cil)) {
        ++number;
        if (line.starts_with(begin) && line.ends_with(")")) {
            function(number,
                     std::string(line.substr(begin.size(), line.size() - begin.size() - 1)));
        }
    }
}

/// Everything that the modules require and neither the policy nor they themselves define, in order.
std::vector<Missing> missing_symbols(const Context& ctx, const std::vector<CompiledModule>& modules,
                                     const KnownTypes& known) {
    const std::set<std::string> own = declared_types(ctx, modules);
    std::vector<Missing> missing;
    for (const CompiledModule& module : modules) {
        std::set<std::string> seen;
        for_each_required(cil_of(ctx, module), [&](unsigned number, const std::string& symbol) {
            if (!own.contains(symbol) && !known.has(symbol) && seen.insert(symbol).second) {
                missing.push_back({{&module, number, {}}, symbol});
            }
        });
    }
    return missing;
}

/// The error for the missing `symbol` that semodule reported, with all others that are missing.
Error no_symbol(const Context& ctx, const Place& place, const std::string& symbol,
                const std::vector<CompiledModule>& modules, const KnownTypes& known) {
    const std::vector<Missing> missing =
        known.has ? missing_symbols(ctx, modules, known) : std::vector<Missing>();
    Error problem = error(ErrorKind::usage, "{}", no_symbol_text(place, symbol));
    std::string near = near_types(symbol, known);
    std::size_t of_packages = near.empty() ? 1 : 0;
    const std::string guess = near.empty() ? guessed_package(symbol) : "";
    if (!guess.empty()) {
        problem.traced(fmt::format("'{}': {}", symbol, guess));
    }
    for (const Missing& other : missing) {
        if (other.symbol == symbol && other.place.module == place.module) {
            continue;
        }
        std::string more = near_types(other.symbol, known);
        if (more.empty()) {
            ++of_packages;
            more = guessed_package(other.symbol);
        }
        problem.traced(no_symbol_text(other.place, other.symbol) +
                       (more.empty() ? "" : ": " + more));
    }
    if (of_packages > 0) {
        near += fmt::format("{}install the {}", near.empty() ? "" : " And ",
                            of_packages == 1 ? "package whose policy module defines it"
                                             : "packages whose policy modules define them");
    }
    return problem.hinted(std::move(near));
}

/// A rule "(allow a b (file (read)))" in the syntax of a `.te`: "allow a b:file { read }".
std::string rule_text(const std::string& cil) {
    static const std::regex rule(R"(\((\w+) (\S+) (\S+) \((\S+) \(([^()]*)\)\)\))");
    std::smatch match;
    return std::regex_search(cil, match, rule)
               ? fmt::format("{} {} {}:{} {{ {} }}", match[1].str(), match[2].str(), match[3].str(),
                             match[4].str(), match[5].str())
               : cil;
}

/// The lines of an output, in one block for each neverallow rule.
std::vector<std::vector<std::string>> neverallow_blocks(const std::string& output) {
    std::vector<std::vector<std::string>> blocks;
    for (const std::string_view line : lines_of(output)) {
        if (line.starts_with(neverallow_mark)) {
            blocks.emplace_back();
        }
        if (!blocks.empty()) {
            blocks.back().emplace_back(line);
        }
    }
    return blocks;
}

/// The error for rules of the blueprint's modules that violate neverallow rules, which are traced.
std::optional<Error> broken_neverallow(const std::vector<CompiledModule>& modules,
                                       const std::string& output) {
    std::optional<Error> problem;
    for (const std::vector<std::string>& block : neverallow_blocks(output)) {
        for (std::size_t i = 2; i + 1 < block.size(); ++i) {
            const std::optional<Place> place = find_place(modules, block[i]);
            if (!place || !trim(block[i]).starts_with("allow at ")) {
                continue;
            }
            const std::string allow = rule_text(std::string(trim(block[i + 1])));
            const std::string never = rule_text(std::string(trim(block[1])));
            if (!problem) {
                // "allow SOURCE TARGET"
                const auto words = words_of(std::string_view(allow).substr(0, allow.find(':')));
                const std::string where = source_place(*place, [&](std::string_view line) {
                    return words.size() >= 3 && has_word(line, "allow") &&
                           has_word(line, words[1]) && has_word(line, words[2]);
                });
                problem = error(ErrorKind::usage,
                                "{}: '{}' violates a neverallow rule of the policy", where, allow);
                problem->hinted(
                    "remove the rule, or define a separate domain for the program that needs it");
            }
            problem->traced(never);
            break;
        }
    }
    return problem;
}

/// The error for "Re-declaration of type container_t", whose location may be that of either
/// declaration.
std::optional<Error> declared_twice(const Context& ctx, const std::vector<CompiledModule>& modules,
                                    const std::string& output) {
    static const std::regex twice(R"((?:Re-declaration|Duplicate declaration) of (\w+) (\S+))");
    std::smatch match;
    if (!std::regex_search(output, match, twice)) {
        return std::nullopt;
    }
    const std::string kind = match[1].str();
    const std::string name = match[2].str();
    for (const CompiledModule& module : modules) {
        const std::string cil = cil_of(ctx, module);
        const std::vector<std::string_view> lines = lines_of(cil);
        const std::string declaration = fmt::format("({} {}", kind, name);
        const auto found = std::find_if(lines.begin(), lines.end(), [&](std::string_view line) {
            return line.starts_with(declaration + ")") || line.starts_with(declaration + " ");
        });
        if (found == lines.end()) {
            continue;
        }
        Place place{&module, static_cast<unsigned>(found - lines.begin()) + 1, std::string(*found)};
        return error(ErrorKind::usage, "{}: the image's policy declares the {} '{}' already",
                     place_of_word(place, name), kind, name)
            .hinted(fmt::format("require it instead of declaring it, or choose another name"));
    }
    return std::nullopt;
}

/// The error for a statement that refers to something that the policy does not have.
std::optional<Error> unresolved(const Context& ctx, const Place& place, const std::string& output,
                                const std::vector<CompiledModule>& modules,
                                const KnownTypes& known) {
    static const std::regex required(R"(cil_gen_require\s+([A-Za-z0-9_.-]+)\))");
    static const std::regex permission(R"(Failed to resolve permission (\S+))");
    static const std::regex rule(R"(\(\w+ \S+ \S+ \((\S+) \()");
    static const std::regex context(R"re(\(filecon "([^"]*)" \S+ \((\S+) (\S+) (\S+))re");
    std::smatch match;
    if (std::regex_search(place.line, match, required)) {
        return no_symbol(ctx, place, match[1].str(), modules, known);
    }
    if (std::regex_search(place.line, match, context)) {
        const std::string pattern = match[1].str();
        const fs::path file = beside_module(place.module->source, ".fc");
        const bool te = place.module->source.extension() == ".te" && fs::exists(file);
        const auto fits = [&](std::string_view line) { return trim(line).starts_with(pattern); };
        const std::string near =
            known.has && known.has(match[4].str()) ? "" : near_types(match[4].str(), known);
        return error(ErrorKind::usage, "{}: the image's policy has no context '{}:{}:{}'",
                     te ? shown_place(file, line_where(file, fits)) : source_place(place, fits),
                     match[2].str(), match[3].str(), match[4].str())
            .hinted(near.empty() ? "install the package whose policy module defines the type"
                                 : near);
    }
    if (std::regex_search(place.line, match, rule)) {
        const std::string tclass = match[1].str();
        std::smatch missing;
        if (std::regex_search(output, missing, permission)) {
            return error(ErrorKind::usage, "{}: the class '{}' has no permission '{}'",
                         place_of_word(place, missing[1].str()), tclass, missing[1].str());
        }
    }
    return std::nullopt;
}

}  // namespace

bool is_broken_neverallow(const std::string& output) {
    return output.find(neverallow_mark) != std::string::npos;
}

bool concerns(const std::vector<CompiledModule>& modules, const std::string& output) {
    return find_place(modules, output).has_value();
}

std::set<std::string> declared_types(const Context& ctx,
                                     const std::vector<CompiledModule>& modules) {
    static const std::regex declaration(
        R"(\((?:type|typeattribute|typealias) ([A-Za-z0-9_.-]+)\))");
    std::set<std::string> declared;
    for (const CompiledModule& module : modules) {
        const std::string cil = cil_of(ctx, module);
        for (const std::string_view line : lines_of(cil)) {
            std::cmatch match;
            if (line.size() < 1024 &&
                std::regex_match(line.data(), line.data() + line.size(), match, declaration)) {
                declared.insert(match[1].str());
            }
        }
    }
    return declared;
}

Error explain_failure(const Context& ctx, const std::vector<CompiledModule>& modules,
                      const std::string& output, const KnownTypes& known) {
    if (auto problem = broken_neverallow(modules, output)) {
        return *std::move(problem);
    }
    if (auto problem = declared_twice(ctx, modules, output)) {
        return *std::move(problem);
    }
    if (std::optional<Place> place = find_place(modules, output)) {
        const std::string cil = cil_of(ctx, *place->module);
        const std::vector<std::string_view> lines = lines_of(cil);
        if (place->number >= 1 && place->number <= lines.size()) {
            place->line = lines[place->number - 1];
        }
        if (auto problem = unresolved(ctx, *place, output, modules, known)) {
            return *std::move(problem);
        }
        const bool is_cil = place->module->source.extension() == ".cil";
        Error problem = error(ErrorKind::usage, "{}: incompatible with the image's policy",
                              shown_place(place->module->source, is_cil ? place->number : 0));
        if (!is_cil && !place->line.empty()) {
            problem.traced("statement: " + rule_text(std::string(trim(place->line))));
        }
        return problem.traced(fmt::format("semodule: {}", trim_end(output, "\n")));
    }
    if (auto problem = unreadable(ctx, modules)) {
        return problem->traced(fmt::format("semodule: {}", trim_end(output, "\n")));
    }
    return error("the image's semodule failed").traced(std::string(trim_end(output, "\n")));
}

}  // namespace edgegpu::selinux
