#pragma once

#include <string>

#include "report/diff.hpp"

namespace edgegpu {

/// Options of diff_text.
struct DiffTextOptions {
    bool colored = false;
    /// every path, instead of the largest ones
    bool all_files = false;
};

/// The differences as text: one section for each kind of change, with counts; long lists are
/// truncated, with the number of lines left out.
[[nodiscard]] std::string diff_text(const Diff& diff, const DiffTextOptions& options);

/// The differences as a JSON document "edgegpu-diff/1" (docs/schemas/diff.json); `repository` is
/// the repository's absolute path.
[[nodiscard]] std::string diff_json(const Diff& diff, const std::string& repository);

/// The differences as Markdown, as release notes of the second commit: headings, lists and tables.
/// What comes from the repository is code, or escaped: neither Markdown nor HTML in a name has an
/// effect. Long lists are truncated as in the text.
[[nodiscard]] std::string diff_markdown(const Diff& diff);

}  // namespace edgegpu
