#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"

namespace edgegpu {

/// A change of a text file: the lines `removed`, beginning at `line` (1-based), are replaced by
/// `inserted`. Without removed lines, `inserted` goes before `line`.
struct Edit {
    std::string file;
    std::uint32_t line = 0;
    std::vector<std::string> removed;
    std::vector<std::string> inserted;
};

/// "FILE:LINE", then the removed lines with "- " and the inserted ones with "+ ".
[[nodiscard]] std::vector<std::string> edit_lines(const Edit& edit);

/// Makes edits of a blueprint and its .repo files that keep the user's spacing and comments. If a
/// file cannot be read, for example because the blueprint exists only in memory, edits are derived
/// from the values.
class BlueprintText {
public:
    /// Sets `key` in the table (or section of a .repo file) around the location `table`.
    /// `old_value` and `value` are written as in the file, including quotes; `old_value` is empty
    /// if the key may be absent.
    [[nodiscard]] Edit set_key(const SourceLocation& table, const std::string& key,
                               const std::string& old_value, const std::string& value);
    /// Removes the element of an array of tables around `place`. `text` describes it if the file
    /// cannot be read.
    [[nodiscard]] Edit remove_table(const SourceLocation& place, const std::string& text);
    /// Appends a table, header first.
    [[nodiscard]] Edit append(const std::string& file, std::vector<std::string> lines);
    /// Removes the string `element` from the array `key` in the table around the location `table`
    /// (line 0: the top of the file).
    [[nodiscard]] Edit remove_element(const SourceLocation& table, const std::string& key,
                                      const std::string& element);
    /// Location of a table's header ("[customizations.kernel]"); line 0 if there is none.
    [[nodiscard]] SourceLocation find_table(const std::string& file, const std::string& header);

private:
    struct Range {
        std::size_t begin = 0;
        std::size_t end = 0;
    };
    const std::vector<std::string>& lines(const std::string& file);
    /// The lines of the table around a location, including its header, without trailing blank lines
    /// and comments.
    Range table_range(const SourceLocation& place);
    static bool is_header(const std::string& line);

    std::map<std::string, std::vector<std::string>> files_;
};

}  // namespace edgegpu
