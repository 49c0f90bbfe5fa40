#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/diff.hpp"

namespace edgegpu {

/// Formats the text of a diff. Control characters in its arguments, which come from a repository,
/// are escaped.
class DiffPage {
public:
    explicit DiffPage(bool colored) : colored_(colored) {}

    /// "+" for "added", "enabled" and "unmasked", "~" for "changed", "-" for others.
    [[nodiscard]] static std::string sign(std::string_view change);

    /// Begins a section if something `differs`; else remembers its title for `end`.
    void section(std::string_view title, std::string_view summary, bool differs);
    /// Removes a title from those without a difference.
    void not_compared(std::string_view title) { std::erase(same_, title); }
    /// Adds a heading inside a section.
    void subsection(std::string_view title, std::string_view summary);
    /// Adds a line without a sign.
    void plain(std::string_view line);
    /// Adds lines with a sign, indented by `indent` steps; after `limit` lines only the number of
    /// the others.
    void lines(std::string_view sign, const std::vector<std::string>& lines,
               std::size_t limit = static_cast<std::size_t>(-1), std::size_t indent = 1);
    /// Adds rows whose first column is a sign. Columns are aligned to their widest value, up to a
    /// limit, so that one long name does not move all others out of sight.
    void columns(const std::vector<std::vector<std::string>>& rows, std::string_view indent = "  ");
    /// Adds "… N more (WHERE)" unless `count` is 0.
    void more(std::size_t count, std::string_view where = "--json has all");
    /// Adds the titles of sections without a difference, and what could not be compared.
    void end(const std::vector<Unknown>& unknown);

    [[nodiscard]] const std::string& text() const noexcept { return text_; }

private:
    [[nodiscard]] std::string marked(std::string_view sign, std::string_view text) const;

    bool colored_;
    std::string text_;
    std::vector<std::string> same_;
};

/// Counts by name, shown in a fixed order: "2 added, 1 removed".
class DiffCounts {
public:
    /// `names` in the order of `text`.
    explicit DiffCounts(const std::vector<std::string>& names);
    /// Adds to the count of `name`; other names than those given to the constructor are ignored.
    void add(std::string_view name, std::size_t count = 1);
    /// The counts that are not 0.
    [[nodiscard]] std::string text() const;

private:
    std::vector<std::pair<std::string, std::size_t>> counts_;
};

/// Adds the section of files: totals, then the largest paths, or all of them. Unless `all`, a
/// directory that was added or removed with its content is one line.
void show_files(DiffPage& page, const Diff& diff, bool all);

}  // namespace edgegpu
