#include "customise/initramfs/mentioned_names.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>

namespace edgegpu {

namespace {

constexpr std::string_view word_ends = " \t\n\r;|&()<>=`\\,";
/// Consecutive letters or digits that a pattern must have: `*-*` would match almost anything.
constexpr std::ptrdiff_t least_letters = 3;
/// Larger files are not scripts.
constexpr std::uint64_t largest_named_script = 1U << 20U;

bool is_word(char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

/// The position behind the brace that closes the one at `at`; the end of the text if none does.
std::size_t end_of_braces(std::string_view text, std::size_t at) {
    int depth = 0;
    for (; at < text.size(); ++at) {
        if (text[at] == '{') {
            ++depth;
        } else if (text[at] == '}' && --depth == 0) {
            return at + 1;
        }
    }
    return at;
}

/// The end of the word that begins at `at`; commas inside of "{a,b}" do not end it.
std::size_t end_of_word(std::string_view text, std::size_t at) {
    int depth = 0;
    for (; at < text.size(); ++at) {
        if (text[at] == '{') {
            ++depth;
        } else if (text[at] == '}') {
            --depth;
        } else if (word_ends.find(text[at]) != std::string_view::npos &&
                   (text[at] != ',' || depth <= 0)) {
            return at;
        }
    }
    return at;
}

/// The end of the variable whose name begins at `at`, behind its `$`.
std::size_t end_of_variable(std::string_view text, std::size_t at) {
    if (at < text.size() && text[at] == '{') {
        return end_of_braces(text, at);
    }
    if (at < text.size() && !is_word(text[at])) {
        return at + (text[at] == '/' ? 0 : 1);  // $@, $$ and the like
    }
    return static_cast<std::size_t>(
        std::find_if_not(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), is_word) -
        text.begin());
}

/// A shell word with `*` for everything that the shell would substitute.
std::string as_pattern(std::string_view word) {
    std::string pattern;
    for (std::size_t at = 0; at < word.size();) {
        const char letter = word[at];
        std::size_t next = at + 1;
        if (letter == '$') {
            next = end_of_variable(word, at + 1);
        } else if (letter == '{') {
            next = end_of_braces(word, at);
        } else if (letter == '[' && word.find(']', at) != std::string_view::npos) {
            next = word.find(']', at) + 1;
        } else if (letter != '*' && letter != '?') {
            pattern += letter;
            at = next;
            continue;
        }
        if (!pattern.ends_with('*')) {
            pattern += '*';
        }
        at = next;
    }
    return pattern;
}

bool fits(std::string_view pattern, std::string_view name) {
    std::size_t at = 0;
    std::size_t retry = std::string_view::npos;
    std::size_t retry_at = 0;
    std::size_t in = 0;
    while (at < name.size()) {
        if (in < pattern.size() && pattern[in] == '*') {
            retry = ++in;
            retry_at = at;
        } else if (in < pattern.size() && pattern[in] == name[at]) {
            ++in;
            ++at;
        } else if (retry != std::string_view::npos) {
            in = retry;
            at = ++retry_at;
        } else {
            return false;
        }
    }
    return pattern.substr(in).find_first_not_of('*') == std::string_view::npos;
}

/// Whether the text ends with "==", "!=" or "=~": a pattern after it is compared, and is no path.
bool ends_in_comparison(std::string_view before) {
    before = before.substr(0, before.find_last_not_of(" \t") + 1);
    return before.ends_with("==") || before.ends_with("!=") || before.ends_with("=~");
}

bool has_letters(std::string_view pattern) {
    std::ptrdiff_t row = 0;
    return std::ranges::any_of(pattern, [&](char letter) {
        row = is_word(letter) ? row + 1 : 0;
        return row >= least_letters;
    });
}

}  // namespace

void MentionedNames::add_pattern(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
    if (name != "*") {
        if (has_letters(name)) {
            patterns_.insert(name);
        }
        return;
    }
    if (slash == std::string::npos) {
        return;
    }
    // The directories behind the last variable: "$root/usr/lib/x/*" → "/usr/lib/x".
    const std::size_t star = path.rfind('*', slash);
    const std::size_t begin =
        star == std::string::npos ? 0 : std::min(path.find('/', star) + 1, slash);
    const std::string directory = path.substr(begin, slash - begin);
    if (!directory.empty()) {
        directories_.insert(directory.starts_with('/') ? directory : '/' + directory);
    }
}

void MentionedNames::add_path(std::string_view path) {
    if (path.starts_with("*/")) {
        path.remove_prefix(1);
    }
    const std::string_view before = path.substr(0, path.find('*'));
    const auto names = std::ranges::count(before, '/');
    if (!path.starts_with('/') || names < 2) {
        return;
    }
    if (before.size() == path.size()) {
        paths_.emplace(path);
    } else if (names > 2 && before != "/usr/share/") {
        path_patterns_.emplace(path);
    }
}

void MentionedNames::add(std::string_view given, bool with_patterns) {
    std::string text(given);
    // "$dir/"a is the same word as $dir/a.
    std::erase_if(text, [](char letter) { return letter == '"' || letter == '\''; });
    const std::string_view all(text);
    for (std::size_t at = all.find_first_not_of(word_ends); at < all.size();) {
        const std::size_t end = end_of_word(all, at);
        // Next to a command substitution, the word continues with its output.
        std::string word = at > 0 && (all[at - 1] == ')' || all[at - 1] == '`') ? "*" : "";
        word += all.substr(at, end - at);
        if (end < all.size() && all[end] == '`') {
            word += '*';
        }
        const std::string pattern = as_pattern(word);
        if (with_patterns) {
            add_path(pattern);
        }
        if (pattern.find('*', pattern.rfind('/') + 1) == std::string::npos) {
            words_.insert(pattern.substr(pattern.rfind('/') + 1));
        } else if (with_patterns && !ends_in_comparison(all.substr(0, at))) {
            add_pattern(pattern);
        }
        at = std::min(all.find_first_not_of(word_ends, end), all.size());
    }
}

void MentionedNames::add_script(std::string_view text) {
    add(text, true);
}

void MentionedNames::add_words(std::string_view text) {
    add(text, false);
}

bool MentionedNames::contains(std::string_view path) const {
    const std::size_t slash = path.rfind('/');
    const std::string_view name = path.substr(slash + 1);
    const std::string_view directory = path.substr(0, slash);
    return words_.contains(std::string(name)) ||
           std::ranges::any_of(directories_,
                               [&](const std::string& end) { return directory.ends_with(end); }) ||
           std::ranges::any_of(patterns_,
                               [&](const std::string& pattern) { return fits(pattern, name); });
}

bool MentionedNames::has_path(std::string_view path) const {
    return paths_.contains(std::string(path)) ||
           std::ranges::any_of(path_patterns_,
                               [&](const std::string& pattern) { return fits(pattern, path); });
}

MentionedNames names_of_dracut(const Tree& tree) {
    constexpr std::array<std::string_view, 5> scripts{"/usr/lib/dracut/", "/usr/bin/dracut",
                                                      "/usr/sbin/dracut", "/usr/bin/lsinitrd",
                                                      "/etc/dracut.conf"};
    constexpr std::array<std::string_view, 2> rules{"/usr/lib/udev/rules.d/", "/etc/udev/rules.d/"};
    MentionedNames names;
    const auto each = [&](std::string_view prefix, const auto& function) {
        for (const auto& [path, entry] : entries_with_prefix(tree.entries, prefix)) {
            if (entry.type == EntryType::file && entry.size <= largest_named_script) {
                const std::string text = read_entry(tree, path);
                if (text.find('\0') == std::string::npos) {
                    function(text);
                }
            }
        }
    };
    for (const std::string_view prefix : scripts) {
        each(prefix, [&](const std::string& text) { names.add_script(text); });
    }
    for (const std::string_view prefix : rules) {
        each(prefix, [&](const std::string& text) { names.add_words(text); });
    }
    return names;
}

}  // namespace edgegpu
