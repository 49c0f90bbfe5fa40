#include "publish/retention_record.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <string>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <unistd.h>

#include "commit/repository.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/text/shell_text.hpp"
#include "support/text/terminal_text.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

constexpr std::uint64_t largest_retention = 64ULL << 20U;

void append_lines(std::string& text, std::string_view what,
                  const std::map<std::string, std::int64_t>& times) {
    for (const auto& [name, time] : times) {
        text += fmt::format("{} {} {}\n", what, name, time);
    }
}

/// Before the number of the lines that follow.
constexpr std::string_view count_word = "lines ";

Error unusable(const std::string& shown, const std::string& what) {
    return error("{}: {}", shown, what)
        .hinted(fmt::format("it has the pinned commits: mend it, or, if none is pinned, remove it: "
                            "rm {}",
                            shell_word(shown)));
}

/// The lines of the record. Throws if the file was cut, and may have had more pins. Records of
/// edgegpu from before `count_word` do not tell.
std::vector<std::string_view> whole_lines(std::string_view text, const std::string& shown) {
    std::vector<std::string_view> lines = lines_of(text);
    if (lines.empty() || !text.ends_with('\n')) {
        throw unusable(shown, text.empty() ? "is empty" : "has no end");
    }
    if (lines[0].starts_with(count_word) &&
        lines[0].substr(count_word.size()) != std::to_string(lines.size() - 1)) {
        throw unusable(shown, fmt::format("has {} lines behind \"{}\"", lines.size() - 1,
                                          printable_line(lines[0])));
    }
    return lines;
}

bool is_delta_name(std::string_view name) {
    const std::vector<std::string_view> commits = split(name, '-');
    return commits.size() <= 2 && std::ranges::all_of(commits, is_sha256);
}

}  // namespace

std::string retention_text(const RetentionRecord& record) {
    std::string text;
    append_lines(text, "pin", record.pins);
    append_lines(text, "commit", record.commits);
    append_lines(text, "delta", record.deltas);
    return fmt::format("{}{}\n{}", count_word, std::ranges::count(text, '\n'), text);
}

RetentionRecord parse_retention(std::string_view text, const std::string& shown) {
    RetentionRecord record;
    std::size_t number = 0;
    for (const std::string_view line : whole_lines(text, shown)) {
        if (++number == 1 && line.starts_with(count_word)) {
            continue;
        }
        const std::vector<std::string_view> words = split(line, ' ');
        std::int64_t time = 0;
        const bool known =
            words.size() == 3 &&
            std::from_chars(words[2].data(), words[2].data() + words[2].size(), time).ptr ==
                words[2].data() + words[2].size() &&
            !words[2].empty();
        if (known && words[0] == "pin" && is_sha256(words[1])) {
            record.pins.emplace(words[1], time);
        } else if (known && words[0] == "commit" && is_sha256(words[1])) {
            record.commits.emplace(words[1], time);
        } else if (known && words[0] == "delta" && is_delta_name(words[1])) {
            record.deltas.emplace(words[1], time);
        } else {
            throw unusable(shown, fmt::format("line {} is not one of edgegpu prune", number));
        }
    }
    return record;
}

RetentionRecord read_retention(const RepositoryView& repository) {
    const std::string shown = repository.path() + '/' + retention_file;
    const Fd file = open_at(ostree_repo_get_dfd(repository.handle()), retention_file,
                            O_RDONLY | O_NONBLOCK, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
    if (!file) {
        if (errno == ENOENT) {
            return {};
        }
        throw errno_error(shown, errno);
    }
    return parse_retention(read_file(file.get(), shown, largest_retention), shown);
}

void write_retention(const Repo& repository, const RetentionRecord& record) {
    const Repo::Impl& repo = repository.impl();
    const std::string name = retention_file;
    const std::size_t slash = name.find('/');
    const Fd place = repo.open_directory(name.substr(0, slash));
    remove_leftovers_at(place.get(), name.substr(slash + 1));
    if (!try_write_file_at(place.get(), name.substr(slash + 1), retention_text(record), 0644,
                           repo.fsync) ||
        (repo.fsync && ::fsync(place.get()) != 0)) {
        throw write_error(repo.path.string(), repo.shown(name), errno);
    }
}

Unneeded judge_unneeded(const std::set<std::string>& names,
                        const std::map<std::string, std::int64_t>& noted, std::int64_t now,
                        std::chrono::seconds grace) {
    Unneeded unneeded;
    for (const std::string& name : names) {
        const auto known = noted.find(name);
        const std::int64_t since = known == noted.end() ? now : std::min(known->second, now);
        const bool due = now - since >= grace.count();
        (due ? unneeded.due : unneeded.waiting).emplace(name, since);
    }
    return unneeded;
}

}  // namespace edgegpu
