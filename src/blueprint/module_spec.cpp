#include "blueprint/module_spec.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <vector>

#include "support/text/text.hpp"

namespace edgegpu {

namespace {

constexpr std::string_view globs = "*?[]!";

bool is_part(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("+._-*?[]!").find(c) != std::string_view::npos;
    });
}

bool is_version_glob(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789-*?[]!") == std::string_view::npos;
}

}  // namespace

bool ModuleSpec::exact() const {
    return !stream.empty() && (name + stream).find_first_of(globs) == std::string::npos;
}

std::optional<ModuleSpec> parse_module_spec(std::string_view text) {
    ModuleSpec spec;
    const std::size_t slash = text.find('/');
    if (slash != std::string_view::npos) {
        // A trailing slash is ignored, as in dnf.
        spec.profile = text.substr(slash + 1);
        text = text.substr(0, slash);
        if (!spec.profile.empty() && !is_part(spec.profile)) {
            return std::nullopt;
        }
    }
    std::vector<std::string_view> parts = split(text, ':');
    const std::size_t gap =
        static_cast<std::size_t>(std::ranges::find(parts, std::string_view()) - parts.begin());
    if (gap + 2 == parts.size()) {
        // "::" precedes the architecture, whichever parts are omitted.
        spec.arch = parts.back();
        parts.resize(gap);
    } else if (gap != parts.size() || parts.size() > 5) {
        return std::nullopt;
    } else if (parts.size() == 5) {
        spec.arch = parts.back();
        parts.pop_back();
    }
    parts.resize(4);
    spec.name = parts[0];
    spec.stream = parts[1];
    spec.version = parts[2];
    spec.context = parts[3];
    const bool good = is_part(spec.name) && (spec.stream.empty() || is_part(spec.stream)) &&
                      (spec.version.empty() || is_version_glob(spec.version)) &&
                      (spec.context.empty() || is_part(spec.context)) &&
                      (spec.arch.empty() || is_part(spec.arch));
    return good ? std::optional(spec) : std::nullopt;
}

bool glob_or_any(const std::string& glob, const std::string& text) {
    return glob.empty() || fnmatch(glob.c_str(), text.c_str(), 0) == 0;
}

}  // namespace edgegpu
