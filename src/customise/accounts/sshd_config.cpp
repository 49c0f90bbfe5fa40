#include "customise/accounts/sshd_config.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fnmatch.h>
#include <strings.h>

#include "support/text/text.hpp"

namespace edgegpu {

namespace {

constexpr const char* main_config = "/etc/ssh/sshd_config";
constexpr const char* own_drop_in = "/etc/ssh/sshd_config.d/20-edgegpu.conf";
/// sshd's default for AuthorizedKeysFile.
constexpr const char* usual_key_files = ".ssh/authorized_keys .ssh/authorized_keys2";

/// A line of sshd_config(5): keyword (case-insensitive) and arguments, separated by white space or
/// '='.
struct SshdLine {
    std::string keyword;
    std::string arguments;
};

SshdLine split_sshd_line(std::string_view line) {
    constexpr const char* space = " \t\r";
    const std::size_t first = line.find_first_not_of(space);
    if (first == std::string_view::npos || line[first] == '#') {
        return {};
    }
    const std::size_t end = std::min(line.find_first_of(" \t\r=", first), line.size());
    const std::size_t rest = line.find_first_not_of(" \t\r=", end);
    SshdLine result;
    result.keyword = line.substr(first, end - first);
    if (rest != std::string_view::npos) {
        result.arguments = line.substr(rest, line.find_last_not_of(space) + 1 - rest);
    }
    return result;
}

bool is_keyword(const SshdLine& line, const char* keyword) {
    return ::strcasecmp(line.keyword.c_str(), keyword) == 0;
}

/// The lines that hold for all users: those before the first Match block, which ends with its file.
std::vector<SshdLine> lines_for_all(const std::string& config) {
    std::vector<SshdLine> lines;
    for (const std::string_view text : lines_of(config)) {
        SshdLine line = split_sshd_line(text);
        if (is_keyword(line, "Match")) {
            break;
        }
        lines.push_back(std::move(line));
    }
    return lines;
}

/// The patterns of an Include line as absolute paths.
std::vector<std::string> include_patterns(const std::string& arguments) {
    std::vector<std::string> patterns;
    for (const std::string_view pattern : words_of(arguments, " \t\"")) {
        if (pattern.starts_with('#')) {
            break;
        }
        patterns.push_back(
            fmt::format("{}{}", pattern.starts_with('/') ? "" : "/etc/ssh/", pattern));
    }
    return patterns;
}

/// Reads the configuration in sshd's order up to the first value of AuthorizedKeysFile.
class FirstKeyFiles {
public:
    explicit FirstKeyFiles(const Tree& tree) : tree_(tree) { read(main_config, 0); }

    /// The value, if there is one, and the file that has it; else sshd_config.
    [[nodiscard]] const std::optional<std::string>& value() const noexcept { return value_; }
    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    /// Whether sshd reads our drop-in, and no other value before it.
    [[nodiscard]] bool drop_in_first() const noexcept { return drop_in_first_; }

private:
    void read(const std::string& path, int depth) {
        constexpr int deepest = 16;  // sshd refuses more
        drop_in_first_ = drop_in_first_ || path == own_drop_in;
        const Entry* entry = find_entry(tree_, path);
        // What had no value when it was read first has none the second time.
        if (entry == nullptr || entry->type != EntryType::file || depth > deepest ||
            !seen_.insert(path).second) {
            return;
        }
        for (const SshdLine& line : lines_for_all(read_entry(tree_, path))) {
            if (is_keyword(line, "AuthorizedKeysFile")) {
                value_ = line.arguments;
                path_ = path;
            } else if (is_keyword(line, "Include")) {
                include(line.arguments, depth);
            }
            if (value_) {
                return;
            }
        }
    }

    void include(const std::string& arguments, int depth) {
        for (const std::string& pattern : include_patterns(arguments)) {
            for (const std::string& path : matches(pattern)) {
                if (!value_) {
                    read(path, depth + 1);
                }
            }
        }
    }

    /// The files that glob(3) finds in sshd, in its order, and our drop-in as if it existed.
    [[nodiscard]] std::set<std::string> matches(const std::string& pattern) const {
        std::set<std::string> found;
        const auto consider = [&](const std::string& path) {
            if (::fnmatch(pattern.c_str(), path.c_str(), FNM_PATHNAME | FNM_PERIOD) == 0) {
                found.insert(path);
            }
        };
        const std::size_t glob = std::min(pattern.find_first_of("*?[\\"), pattern.size());
        for (const auto& [path, entry] :
             entries_with_prefix(tree_.entries, pattern.substr(0, glob))) {
            consider(path);
        }
        consider(own_drop_in);
        return found;
    }

    const Tree& tree_;
    std::set<std::string> seen_;
    std::optional<std::string> value_;
    std::string path_ = main_config;
    bool drop_in_first_ = false;
};

/// The files of AuthorizedKeysFile with `more` added; "none" means no file at all.
std::string joined(const std::optional<std::string>& files, const std::string& more) {
    if (!files || files->empty()) {
        return fmt::format("{} {}", usual_key_files, more);
    }
    const std::vector<std::string_view> named = words_of(*files, " \t");
    if (std::ranges::find(named, more) != named.end()) {
        return *files;  // as in the parent of a layer
    }
    return *files == "none" ? more : fmt::format("{} {}", *files, more);
}

std::optional<std::string> key_files(const std::string& config) {
    for (const SshdLine& line : lines_for_all(config)) {
        if (is_keyword(line, "AuthorizedKeysFile")) {
            return line.arguments;
        }
    }
    return std::nullopt;
}

}  // namespace

void add_authorized_keys_file(const Context& ctx, const std::string& file, Tree& tree) {
    if (find_entry(tree, main_config) == nullptr) {
        ctx.console->warn("the image has no sshd that would read the keys of its users");
        return;
    }
    const FirstKeyFiles first(tree);
    if (first.drop_in_first()) {
        put_entry(
            tree, own_drop_in,
            make_file_entry(ctx,
                            fmt::format("# Keys of the blueprint's users come with the image.\n"
                                        "AuthorizedKeysFile {}\n",
                                        joined(first.value(), file)),
                            0644));
        return;
    }
    const std::string path = resolve_in_tree(tree, first.path());
    const Entry& old = tree.entries.at(path);
    Entry entry =
        make_file_entry(ctx, with_authorized_keys(read_entry(tree, path), file), old.mode);
    entry.uid = old.uid;
    entry.gid = old.gid;
    put_entry(tree, path, entry);
}

std::string with_authorized_keys(const std::string& config, const std::string& file) {
    const std::string wanted = "AuthorizedKeysFile " + joined(key_files(config), file);
    std::vector<std::string_view> lines = lines_of(config);
    auto at = lines.begin();
    for (; at != lines.end(); ++at) {
        const SshdLine line = split_sshd_line(*at);
        if (is_keyword(line, "AuthorizedKeysFile")) {
            *at = wanted;
            return fmt::format("{}\n", fmt::join(lines, "\n"));
        }
        if (is_keyword(line, "Match")) {
            break;
        }
    }
    lines.insert(at, wanted);
    return fmt::format("{}\n", fmt::join(lines, "\n"));
}

}  // namespace edgegpu
