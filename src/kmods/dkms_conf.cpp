#include "kmods/dkms_conf.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "support/error.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

/// The value of an assignment, or nothing if only a shell can expand it.
std::optional<std::string> plain_value(std::string_view text) {
    text = trim(text);
    if (!text.empty() && (text.front() == '"' || text.front() == '\'')) {
        const std::size_t end = text.find(text.front(), 1);
        if (end == std::string_view::npos) {
            return std::nullopt;
        }
        text = text.substr(1, end - 1);
    } else {
        text = text.substr(0, text.find_first_of(" \t;#"));
    }
    if (text.find_first_of("$`\\") != std::string_view::npos) {
        return std::nullopt;
    }
    return std::string(text);
}

/// Names are used as arguments of programs and as file names.
bool is_plain(std::string_view name) {
    return !name.empty() && name.front() != '-' && name.front() != '.' &&
           std::ranges::all_of(name, [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      std::string_view("._+~-").find(c) != std::string_view::npos;
           });
}

/// "KEY" → "KEY", "0"; "KEY[3]" → "KEY", "3"; an empty key for anything else.
std::pair<std::string, std::string> split_key(std::string_view key) {
    std::string index = "0";
    if (const std::size_t bracket = key.find('['); bracket != std::string_view::npos) {
        if (key.back() != ']') {
            return {};
        }
        index = key.substr(bracket + 1, key.size() - bracket - 2);
        key = key.substr(0, bracket);
    }
    const bool plain = !key.empty() && std::ranges::all_of(key, [](char c) {
        return (c >= 'A' && c <= 'Z') || c == '_';
    });
    return plain ? std::pair(std::string(key), index) : std::pair<std::string, std::string>();
}

using Assignments = std::map<std::pair<std::string, std::string>, std::string>;

Assignments read_assignments(std::string_view text) {
    Assignments found;
    for (const std::string_view whole : lines_of(text)) {
        const std::string_view line = trim(whole);
        const std::size_t equals = line.find('=');
        if (equals == std::string_view::npos) {
            continue;
        }
        auto key = split_key(line.substr(0, equals));
        if (key.first.empty()) {
            continue;
        }
        if (auto value = plain_value(line.substr(equals + 1))) {
            found[std::move(key)] = *value;
        }
    }
    return found;
}

}  // namespace

DkmsConf parse_dkms_conf(std::string_view text, const std::string& origin) {
    const Assignments assignments = read_assignments(text);
    const auto value = [&](const std::string& key, const std::string& index) {
        const auto found = assignments.find({key, index});
        return found == assignments.end() ? std::string() : found->second;
    };
    const auto require = [&](const char* key, const std::string& name) {
        if (!is_plain(name)) {
            throw error("{}: {} '{}' is not a plain name", origin, key, name);
        }
        return name;
    };
    DkmsConf conf;
    conf.name = require("PACKAGE_NAME", value("PACKAGE_NAME", "0"));
    conf.version = require("PACKAGE_VERSION", value("PACKAGE_VERSION", "0"));
    for (const auto& [key, built] : assignments) {
        if (key.first == "BUILT_MODULE_NAME") {
            const std::string installed = value("DEST_MODULE_NAME", key.second);
            conf.modules.push_back(
                require("BUILT_MODULE_NAME", installed.empty() ? built : installed));
        }
    }
    // dkms(8): with a single module its name may be omitted.
    if (conf.modules.empty()) {
        conf.modules.push_back(conf.name);
    }
    std::ranges::sort(conf.modules);
    conf.modules.erase(std::unique(conf.modules.begin(), conf.modules.end()), conf.modules.end());
    return conf;
}

}  // namespace edgegpu
