#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/diff.hpp"

namespace edgegpu {

/// The text of a diff while it is written. Whatever is put in may come from a repository: control
/// characters are escaped here.
class DiffPage {
public:
    explicit DiffPage(bool colored) : colored_(colored) {}

    /// "+" for "added", "enabled", …; "-" for what is less; "~" for "changed".
    [[nodiscard]] static std::string sign(std::string_view change);

    /// Begins a section where something differs; else its name is among those that `end` lists.
    void section(std::string_view title, std::string_view summary, bool differs);
    /// Leaves a section out of those that `end` lists as without a difference.
    void not_compared(std::string_view title) { std::erase(same_, title); }
    /// A heading inside a section.
    void subsection(std::string_view title, std::string_view summary);
    /// A line as it is.
    void plain(std::string_view line);
    /// Lines with a sign in front, `indent` steps further in; after `limit` of them only how many
    /// more there are.
    void lines(std::string_view sign, const std::vector<std::string>& lines,
               std::size_t limit = static_cast<std::size_t>(-1), std::size_t indent = 1);
    /// Rows whose first column is a sign; the others are as wide as their widest value, up to a
    /// limit that keeps one long name from pushing all others out of sight.
    void columns(const std::vector<std::vector<std::string>>& rows, std::string_view indent = "  ");
    /// "… N more", for N other than 0.
    void more(std::size_t count, std::string_view where = "--json has all");
    /// The sections without a difference, and what could not be compared.
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
    explicit DiffCounts(const std::vector<std::string>& names);
    /// Counts `name`; "enabled" and the like must be among the names given first.
    void add(std::string_view name, std::size_t count = 1);
    [[nodiscard]] std::string text() const;

private:
    std::vector<std::pair<std::string, std::size_t>> counts_;
};

/// The section of files: figures, then the largest paths, or all of them. A directory that came or
/// went with all that it holds is one line, unless all are shown.
void show_files(DiffPage& page, const Diff& diff, bool all);

}  // namespace edgegpu
