#include "blueprint/document/merged_text.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "blueprint/toml/validate.hpp"
#include "support/text/terminal_text.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

std::string written_key(const std::string& key) {
    const bool bare = is_plain_name("a" + key, "_-") && !key.empty();
    return bare ? key : toml_string(key);
}

/// A number that is read as a floating-point one again.
std::string written_number(double number) {
    std::string text = fmt::format("{}", number);
    const bool is_float = !std::isfinite(number) || text.find_first_of(".e") != std::string::npos;
    return is_float ? text : text + ".0";
}

bool has_tables_only(const TomlArray& array) {
    return !array.empty() && std::ranges::all_of(array, [](const TomlValue& element) {
        return element.get<TomlTable>() != nullptr;
    });
}

/// "base.toml:14", and where the values of parameters are from.
std::string said_by(const TomlValue& value) {
    const SourceLocation at = value.place.location();
    std::string text = fmt::format("{}:{}", at.file, at.line);
    if (!value.origin.empty()) {
        text += fmt::format(" ({})", value.origin);
    }
    return printable_line(text);
}

class Writing {
public:
    /// `directory`: of the blueprint itself, absolute.
    Writing(std::filesystem::path directory, const LocatedPaths& paths, const Secrets& secrets)
        : directory_(std::move(directory)), paths_(paths), secrets_(secrets) {}

    // NOLINTNEXTLINE(misc-no-recursion): the parser has limited the depth
    void write_table(const TomlTable& table, const std::string& prefix) {
        std::vector<std::string> inner;
        for (const std::string& key : ordered_keys(table)) {
            const TomlValue& value = *find_value(table, key);
            const auto* array = value.get<TomlArray>();
            if (value.get<TomlTable>() != nullptr ||
                (array != nullptr && has_tables_only(*array))) {
                inner.push_back(key);
            } else {
                write_value(key, value);
            }
        }
        for (const std::string& key : inner) {
            const std::string name = prefix + written_key(key);
            const TomlValue& value = *find_value(table, key);
            if (const auto* sub = value.get<TomlTable>()) {
                result.text += fmt::format("\n[{}]  # {}\n", name, said_by(value));
                write_table(*sub, name + '.');
                continue;
            }
            for (const TomlValue& element : *value.get<TomlArray>()) {
                result.text += fmt::format("\n[[{}]]  # {}\n", name, said_by(element));
                write_table(*element.get<TomlTable>(), name + '.');
            }
        }
    }

    MergedText result;

private:
    void write_value(const std::string& key, const TomlValue& value) {
        const bool secret = key == "password" || key == "proxy_password";
        const auto* array = value.get<TomlArray>();
        const std::string said = said_by(value);
        const bool spread = array != nullptr && std::ranges::any_of(*array, [&](const auto& one) {
                                return said_by(one) != said;
                            });
        if (!spread) {
            result.text +=
                fmt::format("{} = {}  # {}\n", written_key(key), written(value, secret), said);
            return;
        }
        result.text += fmt::format("{} = [\n", written_key(key));
        for (const TomlValue& element : *array) {
            result.text += fmt::format("    {},  # {}\n", written(element), said_by(element));
        }
        result.text += "]\n";
    }

    // NOLINTNEXTLINE(misc-no-recursion)
    std::string written(const TomlValue& value, bool secret = false) {
        std::vector<std::string> parts;
        if (const auto* table = value.get<TomlTable>()) {
            for (const std::string& key : ordered_keys(*table)) {
                parts.push_back(
                    fmt::format("{} = {}", written_key(key), written(*find_value(*table, key))));
            }
            return fmt::format("{{ {} }}", fmt::join(parts, ", "));
        }
        if (const auto* array = value.get<TomlArray>()) {
            for (const TomlValue& element : *array) {
                parts.push_back(written(element));
            }
            return fmt::format("[{}]", fmt::join(parts, ", "));
        }
        if (const auto* text = value.get<std::string>()) {
            return written_string(value.place.location(), *text, secret);
        }
        if (const auto* integer = value.get<std::int64_t>()) {
            return std::to_string(*integer);
        }
        if (const auto* number = value.get<double>()) {
            return written_number(*number);
        }
        // The tables take no dates: a blueprint with one is not written.
        const bool* boolean = value.get<bool>();
        return boolean != nullptr && *boolean ? "true" : "false";
    }

    std::string written_string(const SourceLocation& location, const std::string& text,
                               bool secret) {
        const std::string plain = written_path(location, text);
        const std::string shown =
            secret && !plain.empty() ? std::string(hidden_mark) : secrets_.hide(plain);
        result.hidden += shown == plain ? 0 : 1;
        return toml_string(without_parameters(shown));
    }

    /// A path in a base of another directory becomes one that is relative to the blueprint, like
    /// the blueprint's own; what is no path, or an absolute one, stays.
    [[nodiscard]] std::string written_path(const SourceLocation& location,
                                           const std::string& text) const {
        const auto path = paths_.find({location.text(), text});
        if (path == paths_.end() || directory_of(location) == directory_) {
            return text;
        }
        // "oci:" precedes the path of a container image.
        const std::string& located = path->second;
        const std::size_t root = located.find('/');
        const std::string transport = located.substr(0, root);
        if (text.starts_with(transport + '/')) {
            return text;
        }
        const std::string relative =
            std::filesystem::path(located.substr(root)).lexically_relative(directory_);
        // Without a slash it might be the name of what ships with edgegpu, or no path of a URL.
        const bool plain = !transport.empty() || relative.starts_with("../");
        return transport + (plain ? "" : "./") + relative;
    }

    std::filesystem::path directory_;
    const LocatedPaths& paths_;
    const Secrets& secrets_;
};

}  // namespace

MergedText merged_text(const Document& document, const LocatedPaths& paths,
                       const Secrets& secrets) {
    std::vector<std::string> files;
    for (const BlueprintFile& file : document.files) {
        files.push_back(printable_line(file.name));
    }
    Writing writing(directory_of({document.files.front().name, 0, 0}), paths, secrets);
    writing.result.text =
        fmt::format("# {}: parameters replaced, paths relative to the directory of {}\n",
                    fmt::join(files, ", extending "), files.front());
    writing.write_table(*document.values->get<TomlTable>(), "");
    return std::move(writing.result);
}

}  // namespace edgegpu
