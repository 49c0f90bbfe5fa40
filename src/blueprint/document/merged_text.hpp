#pragma once

#include <cstddef>
#include <string>

#include "blueprint/document/document.hpp"
#include "blueprint/toml/variables.hpp"
#include "support/secrets.hpp"

namespace edgegpu {

/// A document as one TOML file.
struct MergedText {
    std::string text;
    /// Values in which something is hidden: with them it is not the same blueprint.
    std::size_t hidden = 0;
};

/// Writes a document as TOML 1.0 that is read as the same blueprint in the directory of the
/// document's file: paths are as written there, and those of bases in other directories relative to
/// it (`paths`, as the tables recorded them), so that the text is the same on every machine. A
/// comment behind each value names the file and line that has it, and where the values of its
/// parameters are from. `secrets`, and what looks like one, are hidden.
[[nodiscard]] MergedText merged_text(const Document& document, const LocatedPaths& paths,
                                     const Secrets& secrets);

}  // namespace edgegpu
