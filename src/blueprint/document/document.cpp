#include "blueprint/document/document.hpp"

#include <cstdint>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "blueprint/document/merge.hpp"
#include "blueprint/toml/toml_reader.hpp"
#include "blueprint/toml/validate.hpp"
#include "support/files/digest.hpp"
#include "support/files/file.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t largest_blueprint = 16U << 20U;
/// How many files a blueprint may consist of.
constexpr unsigned most_files = 16;

/// One file, and what it says of the file that it extends.
struct Layer {
    fs::path path;
    TomlValue values;
    /// Nothing: it extends none.
    std::optional<LocatedString> extends;
    std::vector<LocatedString> without;
};

/// Takes a string out of a table of TOML; it may have no parameters.
LocatedString taken_text(const TomlValue& value, std::string_view key) {
    const SourceLocation location = value.place.location();
    const auto* text = value.get<std::string>();
    if (text == nullptr) {
        throw error_at(location, "\"{}\" must be a string, not {}", key, value.type_name());
    }
    if (text->empty() || has_control_characters(*text)) {
        throw error_at(location, "\"{}\" {}", key,
                       text->empty() ? "is empty" : "contains a control character");
    }
    if (text->find(parameter_mark) != std::string::npos) {
        throw error_at(location, "\"{}\" cannot have parameters", key)
            .hinted("parameters are replaced once the files are merged");
    }
    return {*text, location};
}

/// Takes `extends` and `without` out of a file.
void take_inheritance(Layer& layer) {
    TomlTable& table = *layer.values.get<TomlTable>();
    if (auto member = table.extract("extends")) {
        layer.extends = taken_text(member.mapped().value, "extends");
    }
    auto member = table.extract("without");
    if (!member) {
        return;
    }
    const TomlValue& value = member.mapped().value;
    const auto* names = value.get<TomlArray>();
    if (names == nullptr) {
        throw error_at(value.place.location(), "\"without\" must be an array of strings, not {}",
                       value.type_name());
    }
    if (!layer.extends) {
        throw error_at(value.place.location(), "\"without\" has no effect without \"extends\"");
    }
    for (const TomlValue& name : *names) {
        layer.without.push_back(taken_text(name, "without"));
    }
}

/// The name of a base in messages: relative to the path of the blueprint as the user gave it.
fs::path base_path(const fs::path& blueprint, const std::string& text) {
    return (blueprint.parent_path() / text).lexically_normal();
}

/// Reads a file and the files that it extends.
class LayerReader {
public:
    std::vector<Layer> read(const fs::path& path) {
        add(path, read_text(path));
        while (layers_.back().extends) {
            add_base(*layers_.back().extends);
        }
        return std::move(layers_);
    }

    std::vector<BlueprintFile> files;

private:
    static std::string read_text(const fs::path& path) {
        try {
            return read_file(path, largest_blueprint);
        } catch (const Error& failure) {
            throw Error(ErrorKind::usage, failure.message());
        }
    }

    void add_base(const LocatedString& extends) {
        const fs::path path = base_path(layers_.back().path, extends.value);
        for (const Layer& layer : layers_) {
            std::error_code ignored;
            if (fs::equivalent(layer.path, path, ignored)) {
                throw error_at(extends.location, "{} extends itself: {}", layer.path.string(),
                               chain_to(path));
            }
        }
        if (layers_.size() >= most_files) {
            throw error_at(extends.location,
                           "a blueprint consists of more than {} files: {} is one too many",
                           most_files, path.string());
        }
        std::string text;
        try {
            text = read_text(path);
        } catch (const Error& failure) {
            throw error_at(extends.location, "cannot extend {}", failure.message());
        }
        add(path, text);
    }

    void add(const fs::path& path, const std::string& text) {
        files.push_back({path.string(), sha256_hex(text)});
        const auto rank = most_files - static_cast<unsigned>(layers_.size());
        layers_.push_back({path, parse_toml(path.string(), text, rank), {}, {}});
        take_inheritance(layers_.back());
    }

    /// "a.toml → b.toml → a.toml"
    [[nodiscard]] std::string chain_to(const fs::path& path) const {
        std::string chain;
        for (const Layer& layer : layers_) {
            chain += layer.path.string() + " → ";
        }
        return chain + path.string();
    }

    std::vector<Layer> layers_;
};

/// Feeds values into a digest, each with its type and size.
// NOLINTNEXTLINE(misc-no-recursion): the parser has limited the depth
void add_value(Sha256& digest, const TomlValue& value) {
    digest.update_field(value.type_name());
    if (const auto* table = value.get<TomlTable>()) {
        digest.update_field(std::to_string(table->size()));
        for (const auto& [key, member] : *table) {
            digest.update_field(key);
            add_value(digest, member.value);
        }
    } else if (const auto* array = value.get<TomlArray>()) {
        digest.update_field(std::to_string(array->size()));
        for (const TomlValue& element : *array) {
            add_value(digest, element);
        }
    } else if (const auto* text = value.get<std::string>()) {
        digest.update_field(*text);
    } else if (const auto* integer = value.get<std::int64_t>()) {
        digest.update_field(std::to_string(*integer));
    } else if (const auto* number = value.get<double>()) {
        digest.update_field(fmt::format("{}", *number));
    } else if (const bool* boolean = value.get<bool>()) {
        digest.update_field(*boolean ? "true" : "false");
    }
}

}  // namespace

Document read_document(const fs::path& path, const GivenParameters& given) {
    LayerReader reader;
    std::vector<Layer> layers = reader.read(path);
    Mistakes mistakes;
    TomlValue root = std::move(layers.back().values);
    for (auto layer = std::next(layers.rbegin()); layer != layers.rend(); ++layer) {
        for (const LocatedString& name : layer->without) {
            remove_inherited(root, name, mistakes);
        }
        root.place = layer->values.place;
        merge_over(*root.get<TomlTable>(), std::move(*layer->values.get<TomlTable>()), mistakes);
    }
    Document document;
    document.files = std::move(reader.files);
    document.warnings = replace_parameters(root, path.string(), given, mistakes);
    mistakes.throw_any(path.string());
    document.values = std::make_shared<const TomlValue>(std::move(root));
    return document;
}

std::string values_digest(const Document& document) {
    Sha256 digest;
    add_value(digest, *document.values);
    return digest.hex();
}

}  // namespace edgegpu
