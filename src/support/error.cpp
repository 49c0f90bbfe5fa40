#include "support/error.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>

#include "support/secrets.hpp"
#include "support/text/terminal_text.hpp"

namespace edgegpu {

int Error::exit_status() const noexcept {
    switch (kind_) {
        case ErrorKind::failure:
            return 1;
        case ErrorKind::usage:
            return 2;
        case ErrorKind::unsolvable:
            return 3;
        case ErrorKind::fetch:
            return 4;
        case ErrorKind::interrupted:
            return 130;
    }
    return 1;
}

std::string Error::render(bool colored) const {
    std::string text = colored ? "\033[1;31merror\033[0m: " : "error: ";
    const auto shown = [](const std::string& part) { return printable(hide_secrets(part)); };
    text += shown(message_) + '\n';
    for (const std::string& trace : traces_) {
        text += "  " + shown(trace) + '\n';
    }
    if (!hint_.empty()) {
        text += (colored ? "\033[1;36mhint\033[0m: " : "hint: ") + shown(hint_) + '\n';
    }
    return text;
}

Error errno_error(std::string_view what, int code) {
    // strerror is not thread-safe; strerrordesc_np (glibc 2.32) is, and ignores the locale.
    const char* description = strerrordesc_np(code);
    Error failure = error("{}: {}", what, description != nullptr ? description : "unknown error");
    if (code == ENOSPC || code == EDQUOT) {
        failure.hinted("free some space, and run the command again");
    } else if (code == EFBIG) {
        failure.hinted(
            "files have a largest size: that of this shell (`ulimit -f`), or of the file system "
            "(FAT "
            "has none of 4 GiB)");
    } else if (code == EMFILE) {
        failure.hinted("raise the limit of open files: ulimit -Hn 8192");
    }
    return failure;
}

namespace {

/// Insertions, deletions, replacements and swaps of neighbours ("biuld" is one from "build").
/// Tens of thousands of names are compared: `rows` is memory that the calls reuse.
std::size_t edit_distance(std::string_view a, std::string_view b,
                          std::array<std::vector<std::size_t>, 3>& rows) {
    for (std::vector<std::size_t>& row : rows) {
        row.resize(b.size() + 1);
    }
    for (std::size_t i = 0; i <= a.size(); ++i) {
        std::vector<std::size_t>& row = rows[i % 3];
        const std::vector<std::size_t>& above = rows[(i + 2) % 3];
        const std::vector<std::size_t>& top = rows[(i + 1) % 3];
        for (std::size_t j = 0; j <= b.size(); ++j) {
            if (i == 0 || j == 0) {
                row[j] = i + j;
                continue;
            }
            row[j] = std::min(
                {above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U)});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = std::min(row[j], top[j - 2] + 1);
            }
        }
    }
    return rows[a.size() % 3][b.size()];
}

}  // namespace

std::vector<std::string> nearest_names(std::string_view wanted,
                                       const std::vector<std::string>& candidates,
                                       std::size_t limit, std::size_t most_edits) {
    const std::size_t tolerance = std::min(most_edits, std::max<std::size_t>(1, wanted.size() / 3));
    std::vector<std::pair<std::size_t, std::string>> near;
    std::array<std::vector<std::size_t>, 3> rows;
    for (const std::string& candidate : candidates) {
        // No shorter way than by the letters that one has more than the other.
        if (candidate.size() > wanted.size() + tolerance ||
            wanted.size() > candidate.size() + tolerance) {
            continue;
        }
        const std::size_t distance = edit_distance(wanted, candidate, rows);
        if (distance <= tolerance) {
            near.emplace_back(distance, candidate);
        }
    }
    std::ranges::sort(near);
    std::vector<std::string> names;
    for (auto& [distance, name] : near) {
        if (names.size() == limit) {
            break;
        }
        names.push_back(std::move(name));
    }
    return names;
}

std::string near_names_hint(std::string_view wanted, const std::vector<std::string>& candidates) {
    std::string hint;
    for (const std::string& name : nearest_names(wanted, candidates, 3)) {
        hint += fmt::format("{}'{}'", hint.empty() ? "did you mean " : " or ", name);
    }
    return hint.empty() ? hint : hint + "?";
}

std::optional<std::string> reason_of_failure(const std::function<void()>& work) {
    try {
        work();
    } catch (const std::bad_alloc&) {
        return "out of memory";
    } catch (const std::exception& failure) {
        return failure.what();
    }
    return std::nullopt;
}

}  // namespace edgegpu
