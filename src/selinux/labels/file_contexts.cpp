// Selects PCRE2's functions for 8-bit characters.
#define PCRE2_CODE_UNIT_WIDTH 8  // NOLINT(cppcoreguidelines-macro-usage)

#include "selinux/labels/file_contexts.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <pcre2.h>

#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/handles.hpp"
#include "support/text/text.hpp"

namespace edgegpu::selinux {

namespace fs = std::filesystem;

namespace {

using Pattern = Handle<pcre2_code, pcre2_code_free>;
using MatchData = Handle<pcre2_match_data, pcre2_match_data_free>;

constexpr std::uint64_t largest_file = 64U << 20U;
constexpr std::string_view metacharacters = ".^$?*+|[({";
constexpr std::string_view quantifiers = "?*+{";

/// One line of file_contexts.
struct Spec {
    std::string regex;
    /// '-', 'd', 'l', … or 0 for all
    char type = 0;
    std::string context;
    std::string file;
    unsigned line = 0;

    /// Bytes of the regex up to the second '/', if they are plain text; else 0.
    std::size_t stem = 0;
    /// All matching paths begin with this.
    std::string prefix;
    /// Only `prefix` itself matches.
    bool literal = false;
    /// Compiled when it is first needed.
    mutable std::once_flag once;
    mutable Pattern pattern;
};

struct StringHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept {
        return std::hash<std::string_view>{}(text);
    }
};
using Index =
    std::unordered_map<std::string, std::vector<std::uint32_t>, StringHash, std::equal_to<>>;

/// Whether a spec has metacharacters according to libselinux, that is, without a backslash.
bool has_metacharacters(std::string_view regex) {
    for (std::size_t i = 0; i < regex.size(); ++i) {
        if (regex[i] == '\\') {
            ++i;
        } else if (metacharacters.find(regex[i]) != std::string_view::npos) {
            return true;
        }
    }
    return false;
}

std::size_t stem_of_spec(std::string_view regex) {
    const std::size_t end = regex.find('/', 1);
    if (end == std::string_view::npos ||
        regex.substr(0, end).find_first_of(metacharacters) != std::string_view::npos) {
        return 0;
    }
    return end;
}

/// Whether the pattern has '|' outside of parentheses: then '^' and '$', which are added to it,
/// each apply to one alternative only.
bool has_open_alternative(std::string_view regex) {
    int depth = 0;
    bool in_class = false;
    for (std::size_t i = 0; i < regex.size(); ++i) {
        const char c = regex[i];
        if (c == '\\') {
            ++i;
        } else if (in_class) {
            in_class = c != ']';
        } else if (c == '[') {
            in_class = true;
        } else if (c == '(' || c == ')') {
            depth += c == '(' ? 1 : -1;
        } else if (c == '|' && depth <= 0) {
            return true;
        }
    }
    return false;
}

/// The plain text at the beginning of a pattern, and whether that is the whole pattern.
std::pair<std::string, bool> plain_beginning(std::string_view regex) {
    std::string text;
    for (std::size_t i = 0; i < regex.size(); ++i) {
        char c = regex[i];
        if (c == '\\') {
            // a class or an escape: "\d", "\x2f", "\Q"
            if (i + 1 == regex.size() || std::isalnum(static_cast<unsigned char>(regex[i + 1]))) {
                return {text, false};
            }
            c = regex[++i];
        } else if (metacharacters.find(c) != std::string_view::npos) {
            if (quantifiers.find(c) != std::string_view::npos && !text.empty()) {
                text.pop_back();
            }
            return {text, false};
        }
        text += c;
    }
    return {text, true};
}

/// Sets the members that are derived from `regex`.
void analyse(Spec& spec) {
    spec.stem = stem_of_spec(spec.regex);
    if (has_open_alternative(spec.regex)) {
        spec.prefix = spec.regex.substr(0, spec.stem);
        return;
    }
    std::tie(spec.prefix, spec.literal) = plain_beginning(spec.regex);
}

Pattern compile(const Spec& spec) {
    const std::string text = fmt::format("^{}$", std::string_view(spec.regex).substr(spec.stem));
    int code = 0;
    PCRE2_SIZE offset = 0;
    Pattern pattern(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                                  PCRE2_DOTALL, &code, &offset, nullptr));
    if (!pattern) {
        std::array<unsigned char, 256> message{};
        pcre2_get_error_message(code, message.data(), message.size());
        throw error("{}:{}: '{}' is not a regular expression: {}", spec.file, spec.line, spec.regex,
                    reinterpret_cast<const char*>(message.data()));
    }
    // May fail: without just-in-time compiler pcre2_match interprets the pattern.
    pcre2_jit_compile(pattern.get(), PCRE2_JIT_COMPLETE);
    return pattern;
}

bool matches(const Spec& spec, std::string_view path, pcre2_match_data* data) {
    std::call_once(spec.once, [&] { spec.pattern = compile(spec); });
    const std::string_view rest = path.substr(spec.stem);
    const int found = pcre2_match(spec.pattern.get(), reinterpret_cast<PCRE2_SPTR>(rest.data()),
                                  rest.size(), 0, 0, data, nullptr);
    if (found < 0 && found != PCRE2_ERROR_NOMATCH) {
        throw error("{}:{}: '{}' cannot be matched against {} (PCRE error {})", spec.file,
                    spec.line, spec.regex, path, found);
    }
    return found >= 0;
}

/// The part of a path that libselinux compares with the stem of a spec: "/usr/lib/x" → "/usr",
/// "/x" → "".
std::string_view stem_of_path(std::string_view path) {
    const std::size_t end = path.find('/', 1);
    return end == std::string_view::npos ? std::string_view{} : path.substr(0, end);
}

bool fits(const Spec& spec, std::string_view path, char type, pcre2_match_data* data) {
    if ((spec.type != 0 && spec.type != type) || !path.starts_with(spec.prefix)) {
        return false;
    }
    if (spec.stem != 0 && stem_of_path(path) != std::string_view(spec.regex).substr(0, spec.stem)) {
        return false;
    }
    return spec.literal ? path.size() == spec.prefix.size() : matches(spec, path, data);
}

/// Calls `take(words, line number)` for each line of a file that is neither empty nor a comment.
template <typename Take>
void read_lines(const fs::path& file, const Take& take) {
    const std::string text = read_file(file, largest_file);
    unsigned number = 0;
    for (const std::string_view line : lines_of(text)) {
        ++number;
        const std::vector<std::string_view> words = words_of(line, " \t\r\v\f");
        if (!words.empty() && words.front().front() != '#') {
            take(words, number);
        }
    }
}

/// An alias of a directory: paths below `from` are looked up below `to`.
struct Substitution {
    std::string from;
    std::string to;
};

/// The substitutions in a file, last line first, as in libselinux.
std::vector<Substitution> read_substitutions(const fs::path& file) {
    std::vector<Substitution> result;
    if (fs::exists(file)) {
        read_lines(file, [&](const std::vector<std::string_view>& words, unsigned /*line*/) {
            if (words.size() >= 2) {
                result.push_back({std::string(words[0]), std::string(words[1])});
            }
        });
    }
    std::reverse(result.begin(), result.end());
    return result;
}

std::optional<std::string> substitute(const std::vector<Substitution>& list,
                                      std::string_view path) {
    for (const auto& [from, to] : list) {
        if (path.starts_with(from) && (path.size() == from.size() || path[from.size()] == '/')) {
            const bool slash_twice = path.size() > from.size() && to == "/";
            return to + std::string(path.substr(from.size() + (slash_twice ? 1 : 0)));
        }
    }
    return std::nullopt;
}

}  // namespace

struct FileContexts::Impl {
    /// In libselinux's order; the last match wins.
    std::deque<Spec> specs;
    /// Ascending indexes of specs: of literal ones by path, of others by the directory part of
    /// `prefix`.
    Index literals;
    Index by_directory;
    std::vector<Substitution> local_substitutions;
    std::vector<Substitution> substitutions;

    void read(const fs::path& file, bool with_metacharacters);
    void build_index();
    [[nodiscard]] const Spec* find(std::string_view path, char type) const;
};

/// Reads either the specs with metacharacters or those without.
void FileContexts::Impl::read(const fs::path& file, bool with_metacharacters) {
    read_lines(file, [&](const std::vector<std::string_view>& words, unsigned line) {
        const bool typed = words.size() > 2;
        if (words.size() < 2 ||
            (typed && (words[1].size() != 2 || words[1][0] != '-' ||
                       std::string_view("-dlbcps").find(words[1][1]) == std::string_view::npos))) {
            throw error("{}:{}: not a line of file contexts", file.string(), line);
        }
        if (has_metacharacters(words[0]) != with_metacharacters) {
            return;
        }
        Spec& spec = specs.emplace_back();
        spec.regex = words[0];
        spec.type = typed ? words[1][1] : '\0';
        spec.context = words[typed ? 2 : 1];
        spec.file = file.string();
        spec.line = line;
        analyse(spec);
    });
}

void FileContexts::Impl::build_index() {
    for (std::uint32_t i = 0; i < specs.size(); ++i) {
        const Spec& spec = specs[i];
        if (spec.literal) {
            literals[spec.prefix].push_back(i);
        } else {
            const std::size_t slash = spec.prefix.rfind('/');
            by_directory[slash == std::string::npos ? "" : spec.prefix.substr(0, slash + 1)]
                .push_back(i);
        }
    }
}

const Spec* FileContexts::Impl::find(std::string_view path, char type) const {
    // The lists of specs that may match, each with the number of specs that remain to be tried.
    std::vector<std::pair<const std::vector<std::uint32_t>*, std::size_t>> lists;
    const auto add = [&](const Index& index, std::string_view key) {
        if (const auto found = index.find(key); found != index.end()) {
            lists.emplace_back(&found->second, found->second.size());
        }
    };
    add(literals, path);
    add(by_directory, "");
    for (std::size_t at = path.find('/'); at != std::string_view::npos;
         at = path.find('/', at + 1)) {
        add(by_directory, path.substr(0, at + 1));
    }
    const MatchData data(pcre2_match_data_create(1, nullptr));
    while (true) {
        std::pair<const std::vector<std::uint32_t>*, std::size_t>* last = nullptr;
        for (auto& list : lists) {
            if (list.second != 0 && (last == nullptr || (*list.first)[list.second - 1] >
                                                            (*last->first)[last->second - 1])) {
                last = &list;
            }
        }
        if (last == nullptr) {
            return nullptr;
        }
        const Spec& spec = specs[(*last->first)[--last->second]];
        if (fits(spec, path, type, data.get())) {
            return &spec;
        }
    }
}

FileContexts::FileContexts(const fs::path& file) : impl_(std::make_unique<Impl>()) {
    const std::string base = file.string();
    for (const bool with_metacharacters : {true, false}) {
        for (const char* suffix : {"", ".homedirs", ".local"}) {
            if (*suffix == '\0' || fs::exists(base + suffix)) {
                impl_->read(base + suffix, with_metacharacters);
            }
        }
    }
    impl_->build_index();
    impl_->local_substitutions = read_substitutions(base + ".subs");
    impl_->substitutions = read_substitutions(base + ".subs_dist");
}

FileContexts::FileContexts(FileContexts&&) noexcept = default;
FileContexts& FileContexts::operator=(FileContexts&&) noexcept = default;
FileContexts::~FileContexts() = default;

std::string FileContexts::look_up(std::string_view path, EntryType type) const {
    const std::optional<std::string> local = substitute(impl_->local_substitutions, path);
    const std::string_view wanted = local ? *local : path;
    const std::optional<std::string> other = substitute(impl_->substitutions, wanted);
    const Spec* spec = impl_->find(other ? *other : wanted, type_letter(type, '-'));
    return spec == nullptr || spec->context == "<<none>>" ? std::string() : spec->context;
}

}  // namespace edgegpu::selinux
