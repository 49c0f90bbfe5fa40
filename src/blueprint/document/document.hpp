#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "blueprint/document/parameters.hpp"
#include "blueprint/toml/toml_value.hpp"

namespace edgegpu {

/// A file that a blueprint consists of.
struct BlueprintFile {
    /// As messages call it: relative to the working directory where the command line is.
    std::string name;
    /// SHA-256 of what was read, hexadecimal
    std::string sha256;
};

/// A blueprint as TOML: the files that it extends merged, its parameters replaced.
struct Document {
    /// A table without `extends`, `without` and `[parameters]`. Each value says which file has it.
    std::shared_ptr<const TomlValue> values;
    /// The blueprint itself, then what each one extends.
    std::vector<BlueprintFile> files;
    /// About parameters that are not used.
    std::vector<std::string> warnings;
};

/// Reads a blueprint with the files that it extends (docs/blueprint.md, "Variants of one
/// blueprint"). Throws ErrorKind::usage with all mistakes, each at its place, if it cannot be read,
/// extends itself, or does not fit the parameters that are given.
[[nodiscard]] Document read_document(const std::filesystem::path& path,
                                     const GivenParameters& given);

/// SHA-256 of the values of a document: of their keys, types and contents, not of the files that
/// have them.
[[nodiscard]] std::string values_digest(const Document& document);

}  // namespace edgegpu
