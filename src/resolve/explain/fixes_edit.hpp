#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"

namespace edgegpu {

/// A change of a text file: the lines `removed`, which begin at `line` (1-based), give way to
/// `inserted`; without removed lines the others go in before `line`.
struct Edit {
    std::string file;
    std::uint32_t line = 0;
    std::vector<std::string> removed;
    std::vector<std::string> inserted;
};

/// "FILE:LINE" and the lines, those removed with "- " before them, those inserted with "+ ".
[[nodiscard]] std::vector<std::string> edit_lines(const Edit& edit);

/// The text of a blueprint and of the .repo files it names, to point at and to change: edits keep
/// the user's own spacing and comments. Files that cannot be read give edits written from the
/// values, so that a blueprint made in memory has edits too.
class BlueprintText {
public:
    /// `table` is any place inside the table (or the .repo file's section) that has `key`, or is to
    /// get it. `old_value` and `value` are as they are written in the file, quotes included;
    /// `old_value` is empty where the key may not be there.
    [[nodiscard]] Edit set_key(const SourceLocation& table, const std::string& key,
                               const std::string& old_value, const std::string& value);
    /// Removes a whole table of an array of tables; `place` is any place inside. `text` is how to
    /// write it where the file cannot be read.
    [[nodiscard]] Edit remove_table(const SourceLocation& place, const std::string& text);
    /// Appends a table, header first.
    [[nodiscard]] Edit append(const std::string& file, std::vector<std::string> lines);
    /// Removes the string `element` from the array `key` of the table around `table` (line 0: the
    /// top of the file).
    [[nodiscard]] Edit remove_element(const SourceLocation& table, const std::string& key,
                                      const std::string& element);
    /// The place of a table's header ("[customizations.kernel]"); line 0 where there is none.
    [[nodiscard]] SourceLocation find_table(const std::string& file, const std::string& header);

private:
    struct Range {
        std::size_t begin = 0;
        std::size_t end = 0;
    };
    const std::vector<std::string>& lines(const std::string& file);
    /// The lines of the table around a place, header included, blank lines and comments of the
    /// next table left out.
    Range table_range(const SourceLocation& place);
    static bool is_header(const std::string& line);

    std::map<std::string, std::vector<std::string>> files_;
};

}  // namespace edgegpu
