#include "image/kept_entries.hpp"

#include <atomic>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sys/stat.h>

#include "cache/last_use.hpp"
#include "cache/stored_file.hpp"
#include "execution/parallel.hpp"
#include "support/base64.hpp"
#include "support/files/digest.hpp"
#include "support/files/file.hpp"
#include "support/text/number.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

template <typename Number>
bool parse(std::string_view text, Number& number, int base = 10) {
    const auto read = whole_number<Number>(text, base);
    number = read.value_or(0);
    return read.has_value();
}

/// Whether the content exists and matches its digest. If not, it is removed, because
/// make_file_entry would use it again.
bool is_content(const Context& ctx, const Entry& entry) {
    ctx.check_cancelled();
    struct stat status {};
    if (!mark_used(ctx, entry.content) || ::lstat(entry.content.c_str(), &status) != 0) {
        return false;
    }
    if (S_ISREG(status.st_mode) && static_cast<std::uint64_t>(status.st_size) == entry.size &&
        sha256_file(entry.content) == entry.digest) {
        return true;
    }
    if (entry.content == content_path(ctx, entry.digest)) {
        remove_tree(entry.content);
    }
    return false;
}

bool read_line(const Context& ctx, std::string_view line, Entries& entries) {
    const std::vector<std::string_view> fields = split(line, '\t');
    if (fields.size() != 10 || fields[0].size() != 1) {
        return false;
    }
    Entry entry;
    entry.type = fields[0] == "d"   ? EntryType::directory
                 : fields[0] == "l" ? EntryType::symlink
                                    : EntryType::file;
    if (!parse(fields[1], entry.mode, 8) || !parse(fields[2], entry.uid) ||
        !parse(fields[3], entry.gid) || !parse(fields[4], entry.size)) {
        return false;
    }
    entry.digest = fields[5];
    entry.target = fields[8];
    if (entry.type == EntryType::file) {
        // Content is always in the cache.
        if (fields[6].starts_with('/') || fields[6].find("..") != std::string_view::npos) {
            return false;
        }
        entry.content = ctx.cache / fields[6];
        entry.capabilities = from_base64(std::string(fields[9]));
    }
    entries[std::string(fields[7])] = std::move(entry);
    return true;
}

}  // namespace

std::optional<std::string> format_entries(const Context& ctx, const Entries& entries) {
    std::string text;
    for (const auto& [path, entry] : entries) {
        if (path.find_first_of("\t\n") != std::string::npos ||
            entry.target.find_first_of("\t\n") != std::string::npos) {
            return std::nullopt;
        }
        const std::string content = entry.type == EntryType::file
                                        ? entry.content.lexically_relative(ctx.cache).string()
                                        : std::string();
        text +=
            fmt::format("{}\t{:o}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", type_letter(entry.type, 'f'),
                        entry.mode, entry.uid, entry.gid, entry.size, entry.digest, content, path,
                        entry.target, to_base64(entry.capabilities));
    }
    return text;
}

std::optional<Entries> parse_entries(const Context& ctx, std::string_view text) {
    Entries entries;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        if (end == std::string_view::npos || !read_line(ctx, text.substr(0, end), entries)) {
            return std::nullopt;
        }
        text.remove_prefix(end + 1);
    }
    std::vector<const Entry*> files;
    for (const auto& [path, entry] : entries) {
        if (entry.type == EntryType::file) {
            files.push_back(&entry);
        }
    }
    std::atomic<bool> complete = true;
    parallel_for(ctx, files.size(), [&](std::size_t i) {
        if (!is_content(ctx, *files[i])) {
            complete = false;
        }
    });
    return complete ? std::optional(std::move(entries)) : std::nullopt;
}

}  // namespace edgegpu
