#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/diff.hpp"

namespace edgegpu {

/// Rows of cells; the first cell of each is a sign, or empty.
using PageRows = std::vector<std::vector<std::string>>;

/// Formats a diff for people. What comes from a repository is in cells and lines alone, which each
/// form escapes; titles, summaries and signs are the program's own.
class DiffPage {
public:
    DiffPage() = default;
    DiffPage(const DiffPage&) = delete;
    DiffPage& operator=(const DiffPage&) = delete;
    virtual ~DiffPage() = default;

    /// "+" for "added", "enabled" and "unmasked", "~" for "changed", "-" for others.
    [[nodiscard]] static std::string sign(std::string_view change);

    /// Begins a section if something `differs`; else remembers its title for `end`.
    void section(std::string_view title, std::string_view summary, bool differs);
    /// Removes a title from those without a difference.
    void not_compared(std::string_view title) { std::erase(same_, title); }
    /// Adds a heading inside a section.
    virtual void subsection(std::string_view title, std::string_view summary) = 0;
    /// Adds a line without a sign.
    virtual void plain(std::string_view line) = 0;
    /// Adds lines with a sign, indented by `indent` steps; after `limit` lines only the number of
    /// the others.
    void lines(std::string_view sign, const std::vector<std::string>& lines,
               std::size_t limit = static_cast<std::size_t>(-1), std::size_t indent = 1);
    /// Adds rows. `titles` are those of the columns behind the sign, for forms that have titles.
    virtual void columns(const PageRows& rows, const std::vector<std::string>& titles) = 0;
    /// Adds "… N more (WHERE)" unless `count` is 0.
    void more(std::size_t count, std::string_view where = "--json has all");
    /// Adds the titles of sections without a difference, and what could not be compared.
    void end(const std::vector<Unknown>& unknown);

    [[nodiscard]] const std::string& text() const noexcept { return text_; }

protected:
    virtual void heading(std::string_view title, std::string_view summary) = 0;
    virtual void line(std::string_view sign, std::string_view line, std::size_t indent) = 0;
    virtual void left_out(std::size_t count, std::string_view where) = 0;
    virtual void unknown_line(const Unknown& one) = 0;
    /// Adds text as it is.
    void add(std::string_view text) { text_ += text; }

private:
    std::string text_;
    std::vector<std::string> same_;
};

/// For a terminal: control characters are escaped.
class TextPage final : public DiffPage {
public:
    explicit TextPage(bool colored) : colored_(colored) {}

    void subsection(std::string_view title, std::string_view summary) override;
    void plain(std::string_view line) override;
    /// Columns are aligned to their widest value, up to a limit, so that one long name does not
    /// move all others out of sight.
    void columns(const PageRows& rows, const std::vector<std::string>& titles) override;

protected:
    void heading(std::string_view title, std::string_view summary) override;
    void line(std::string_view sign, std::string_view line, std::size_t indent) override;
    void left_out(std::size_t count, std::string_view where) override;
    void unknown_line(const Unknown& one) override;

private:
    [[nodiscard]] std::string marked(std::string_view sign, std::string_view text) const;

    bool colored_;
};

/// GitHub Flavored Markdown: sections are headings, rows tables, lines lists. What comes from a
/// repository is code, since no other text is safe from being a link, a mention or HTML.
class MarkdownPage final : public DiffPage {
public:
    /// `title` is the first heading, shown as code behind "Changes of".
    explicit MarkdownPage(std::string_view title);

    void subsection(std::string_view title, std::string_view summary) override;
    void plain(std::string_view line) override;
    void columns(const PageRows& rows, const std::vector<std::string>& titles) override;

protected:
    void heading(std::string_view title, std::string_view summary) override;
    void line(std::string_view sign, std::string_view line, std::size_t indent) override;
    void left_out(std::size_t count, std::string_view where) override;
    void unknown_line(const Unknown& one) override;

private:
    /// An empty line comes before the first item of a list.
    bool in_list_ = false;
};

/// `text` as code of Markdown on one line, also in a cell of a table; empty if it is empty.
[[nodiscard]] std::string markdown_code(std::string_view text);

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

/// Adds what an upgrade costs a device, and the advisories that it fixes.
void show_upgrade(DiffPage& page, const Diff& diff);
void show_advisories(DiffPage& page, const std::vector<CommitAdvisory>& advisories);
/// Adds what changed of the GPU software, if anything.
void show_gpu_stack(DiffPage& page, const std::vector<StackChange>& changes);

/// Adds the section of files: totals, then the largest paths, or all of them. Unless `all`, a
/// directory that was added or removed with its content is one line.
void show_files(DiffPage& page, const Diff& diff, bool all);

}  // namespace edgegpu
