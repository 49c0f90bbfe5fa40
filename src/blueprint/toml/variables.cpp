#include "blueprint/toml/variables.hpp"

#include <algorithm>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "blueprint/toml/toml_reader.hpp"
#include "blueprint/toml/validate.hpp"
#include "support/error.hpp"
#include "support/files/data_directory.hpp"
#include "support/secrets.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view name_characters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

std::string value_of(std::string_view variable, const ParseScope& scope,
                     const SourceLocation& location) {
    if (variable == "basearch" || variable == "arch") {
        return scope.basearch;
    }
    if (const auto known = scope.variables.find(variable); known != scope.variables.end()) {
        return known->second;
    }
    if (variable != "releasever" && variable != "releasever_major") {
        if (scope.keep_unknown) {
            return '$' + std::string(variable);
        }
        throw error_at(location, "unknown variable \"${}\"", variable)
            .hinted("known are $releasever, $releasever_major, $basearch and $arch");
    }
    if (scope.releasever.empty()) {
        throw error_at(location, "\"${}\" has no value", variable)
            .hinted("set distro = \"NAME-VERSION\" or releasever = \"VERSION\", or give --distro");
    }
    return variable == "releasever" ? scope.releasever
                                    : scope.releasever.substr(0, scope.releasever.find('.'));
}

}  // namespace

std::string expand_variables(std::string_view text, const ParseScope& scope,
                             const SourceLocation& location) {
    std::string expanded;
    while (!text.empty()) {
        const std::size_t dollar = text.find('$');
        expanded += text.substr(0, dollar);
        if (dollar == std::string_view::npos) {
            break;
        }
        text.remove_prefix(dollar + 1);
        const bool braced = !text.empty() && text.front() == '{';
        const std::string_view rest = text.substr(braced ? 1 : 0);
        const std::size_t length = std::min(rest.find_first_not_of(name_characters), rest.size());
        if (braced && (length == 0 || length == rest.size() || rest[length] != '}')) {
            if (scope.keep_unknown) {
                expanded += '$';
                continue;
            }
            throw error_at(location, "\"${{\" without a name and \"}}\"");
        }
        if (length == 0) {
            expanded += '$';
            continue;
        }
        expanded += value_of(rest.substr(0, length), scope, location);
        text = rest.substr(length + (braced ? 1 : 0));
    }
    return expanded;
}

fs::path resolve_path(const fs::path& base, std::string_view text) {
    fs::path path = (base / fs::path(text)).lexically_normal();
    // "dir/" normalises to a path with an empty last component.
    return path.has_filename() || path == path.root_path() ? path : path.parent_path();
}

std::string resolve_url(const fs::path& base, std::string_view text,
                        const SourceLocation& location) {
    const auto begins = [&](std::string_view prefix) {
        return text.substr(0, prefix.size()) == prefix;
    };
    if (begins("/") || begins("./") || begins("../")) {
        // A path is no URL: what looks like a percent-encoding in it is none.
        std::string url = "file://";
        for (const char c : resolve_path(base, text).string()) {
            url += c == '%' ? "%25" : std::string(1, c);
        }
        return url;
    }
    const bool known = begins("http://") || begins("https://") || begins("file:///");
    if (!known || text.find(' ') != std::string_view::npos || has_control_characters(text)) {
        throw error_at(location, "not a URL that can be fetched: \"{}\"", url_to_show(text))
            .hinted("http://, https://, file:///…, or a path beginning \"/\", \"./\" or \"../\"");
    }
    return std::string(text);
}

fs::path directory_of(const SourceLocation& location) {
    return resolve_path(fs::current_path(), location.file).parent_path();
}

void record_path(const ParseScope& scope, const LocatedString& text, const std::string& absolute) {
    if (scope.paths != nullptr) {
        (*scope.paths)[{text.location.text(), text.value}] = absolute;
    }
}

fs::path path_at(const ParseScope& scope, const SourceLocation& location, std::string_view text) {
    fs::path path = resolve_path(directory_of(location), text);
    record_path(scope, {std::string(text), location}, path.string());
    return path;
}

fs::path find_shipped(const ParseScope& scope, std::string_view kind, const LocatedString& text,
                      std::string_view suffix) {
    const std::string& name = text.value;
    const fs::path extension = suffix.empty() ? fs::path{} : fs::path(name).extension();
    const bool has_extension = extension == ".te" || extension == ".cil" || extension == ".pp" ||
                               (!suffix.empty() && name.ends_with(".pp.bz2"));
    if (!is_plain_name(name, "_.-+") || has_extension) {
        return path_at(scope, text.location, name);
    }
    const fs::path file = fs::path(kind) / (name + std::string(suffix));
    fs::path beside = resolve_path(directory_of(text.location).parent_path(), file.string());
    fs::path installed = resolve_path(data_directory(), file.string());
    std::error_code ignored;
    if (!fs::exists(beside, ignored) && fs::exists(installed, ignored)) {
        // The name says it wherever the blueprint is.
        return installed;
    }
    record_path(scope, text, beside.string());
    return beside;
}

std::string absent_file_hint(const fs::path& path, std::string_view kind) {
    std::vector<fs::path> places{path.parent_path()};
    const bool shipped = !kind.empty() && path.parent_path().filename() == kind;
    // Shipped policy modules are given by their names alone.
    const bool module = shipped && path.extension() == ".te";
    if (shipped && data_directory() / kind != places.front()) {
        places.push_back(data_directory() / kind);
    }
    std::vector<std::string> names;
    for (const fs::path& place : places) {
        std::error_code failure;
        for (fs::directory_iterator at(place, failure), end; !failure && at != end;
             at.increment(failure)) {
            const fs::path name = at->path().filename();
            if (!module || name.extension() == ".te") {
                names.push_back(module ? name.stem() : name);
            }
        }
    }
    std::ranges::sort(names);
    names.erase(std::unique(names.begin(), names.end()), names.end());
    const fs::path wanted = module ? path.stem() : path.filename();
    std::string hint = near_names_hint(wanted.string(), names);
    if (shipped) {
        hint += fmt::format("{}looked for in {}", hint.empty() ? "" : " It was ",
                            places.front().string());
        hint += places.size() > 1 ? " and " + places.back().string() : "";
    }
    return hint;
}

}  // namespace edgegpu
