#include "blueprint/sources/configuration_syntax.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <nlohmann/json.hpp>
#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

#include "blueprint/toml/toml_depth.hpp"
#include "support/error.hpp"
#include "support/path_glob.hpp"

namespace edgegpu {

namespace {

enum class Syntax { json, toml };

struct KnownSyntax {
    std::string_view pattern;
    Syntax syntax = Syntax::toml;
    std::string_view consequence;
};

constexpr std::string_view no_images = "podman and CRI-O would pull no image";
constexpr std::string_view no_podman = "podman would not start";
constexpr std::string_view no_crio = "CRI-O would not start";

/// containers-policy.json(5), containers-registries.conf(5), containers.conf(5), crio.conf(5). What
/// else the build reads itself (storage.conf) is not here.
constexpr std::array known_syntaxes{
    KnownSyntax{"/etc/containers/policy.json", Syntax::json, no_images},
    KnownSyntax{"/etc/containers/registries.conf", Syntax::toml, no_images},
    KnownSyntax{"/etc/containers/registries.conf.d/*.conf", Syntax::toml, no_images},
    KnownSyntax{"/etc/containers/containers.conf", Syntax::toml, no_podman},
    KnownSyntax{"/etc/containers/containers.conf.d/*.conf", Syntax::toml, no_podman},
    KnownSyntax{"/etc/crio/crio.conf", Syntax::toml, no_crio},
    KnownSyntax{"/etc/crio/crio.conf.d/*", Syntax::toml, no_crio},
};

/// With the patterns compiled: an overlay may have a million files.
const std::vector<PathGlob>& syntax_patterns() {
    static const std::vector<PathGlob> made = [] {
        std::vector<PathGlob> list;
        list.reserve(known_syntaxes.size());
        for (const KnownSyntax& known : known_syntaxes) {
            list.emplace_back(known.pattern);
        }
        return list;
    }();
    return made;
}

const KnownSyntax* syntax_of(std::string_view path) {
    const auto& patterns = syntax_patterns();
    const auto found =
        std::ranges::find_if(patterns, [&](const PathGlob& glob) { return glob.matches(path); });
    return found == patterns.end()
               ? nullptr
               : &known_syntaxes[static_cast<std::size_t>(found - patterns.begin())];
}

/// The line of the first mistake; 0: there is none.
std::size_t json_fault(std::string_view text) {
    try {
        [[maybe_unused]] const auto value = nlohmann::json::parse(text);
        return 0;
    } catch (const nlohmann::json::parse_error& failure) {
        const std::string_view before = text.substr(0, failure.byte > 0 ? failure.byte - 1 : 0);
        return 1 + static_cast<std::size_t>(std::ranges::count(before, '\n'));
    }
}

std::size_t toml_fault(std::string_view text) {
    try {
        require_shallow_toml("", text);
        [[maybe_unused]] const toml::table table = toml::parse(text);
        return 0;
    } catch (const toml::parse_error& failure) {
        return failure.source().begin.line;
    } catch (const Error&) {
        return 1;  // deeper than any configuration is
    }
}

}  // namespace

bool has_known_syntax(std::string_view path) {
    return syntax_of(path) != nullptr;
}

std::optional<SyntaxFault> configuration_fault(std::string_view path, std::string_view text) {
    const KnownSyntax* known = syntax_of(path);
    if (known == nullptr) {
        return std::nullopt;
    }
    const bool json = known->syntax == Syntax::json;
    const std::size_t line = json ? json_fault(text) : toml_fault(text);
    if (line == 0) {
        return std::nullopt;
    }
    return SyntaxFault{json ? "it is not JSON" : "it is not TOML", line, known->consequence};
}

}  // namespace edgegpu
