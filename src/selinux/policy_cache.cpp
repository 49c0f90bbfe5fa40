#include "selinux/policy_cache.hpp"

#include <charconv>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "support/digest.hpp"
#include "support/error.hpp"
#include "support/file.hpp"

namespace edgegpu::selinux {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view magic = "edgegpu policy 1";

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    while (true) {
        const std::size_t end = text.find(separator);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) {
            return parts;
        }
        text.remove_prefix(end + 1);
    }
}

template <typename Number>
bool parse(std::string_view text, Number& number, int base = 10) {
    const char* end = text.data() + text.size();
    const auto [last, code] = std::from_chars(text.data(), end, number, base);
    return code == std::errc{} && last == end;
}

/// Fields: type, mode, uid, gid, size, digest, content below the cache, path, link target.
std::string line_of(const Context& ctx, const std::string& path, const Entry& entry) {
    const std::string content =
        entry.type == EntryType::file ? entry.content.lexically_relative(ctx.cache).string() : "";
    const char type = entry.type == EntryType::directory ? 'd'
                      : entry.type == EntryType::symlink ? 'l'
                                                         : 'f';
    return fmt::format("{}\t{:o}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", type, entry.mode, entry.uid,
                       entry.gid, entry.size, entry.digest, content, path, entry.target);
}

bool read_line(const Context& ctx, std::string_view line, PolicyResult& result) {
    const std::vector<std::string_view> fields = split(line, '\t');
    if (fields.size() != 9 || fields[0].size() != 1) {
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
        entry.content = ctx.cache / fields[6];
        std::error_code code;
        if (fs::file_size(entry.content, code) != entry.size || code) {
            return false;
        }
    }
    result.entries[std::string(fields[7])] = std::move(entry);
    return true;
}

fs::path manifest(const Context& ctx, const std::string& digest) {
    return ctx.cache / "policy" / digest;
}

}  // namespace

std::optional<PolicyResult> load_policy(const Context& ctx, const std::string& digest) {
    const fs::path path = manifest(ctx, digest);
    if (!fs::exists(path)) {
        return std::nullopt;
    }
    const std::string text = read_file(path);
    // The last line proves that the manifest is whole and unchanged.
    const std::size_t end = text.rfind('\n', text.size() < 2 ? 0 : text.size() - 2);
    if (end == std::string::npos ||
        text.substr(end + 1) != sha256_hex(text.substr(0, end)) + "\n") {
        return std::nullopt;
    }
    PolicyResult result;
    const std::vector<std::string_view> lines = split(std::string_view(text).substr(0, end), '\n');
    if (lines.size() < 4 || lines[0] != magic) {
        return std::nullopt;
    }
    result.type = lines[1];
    const auto list = [](std::string_view line, std::vector<std::string>& into) {
        for (const std::string_view part : split(line, '\t')) {
            if (!part.empty()) {
                into.emplace_back(part);
            }
        }
    };
    list(lines[2], result.modules);
    list(lines[3], result.removed);
    for (std::size_t i = 4; i < lines.size(); ++i) {
        if (!read_line(ctx, lines[i], result)) {
            return std::nullopt;
        }
    }
    return result;
}

void store_policy(const Context& ctx, const std::string& digest, const PolicyResult& policy) {
    std::string text = fmt::format("{}\n{}\n", magic, policy.type);
    for (const std::vector<std::string>* names : {&policy.modules, &policy.removed}) {
        for (const std::string& name : *names) {
            text += name + "\t";
        }
        text += "\n";
    }
    for (const auto& [path, entry] : policy.entries) {
        if (path.find_first_of("\t\n") != std::string::npos ||
            entry.target.find_first_of("\t\n") != std::string::npos) {
            return;  // such names cannot be kept here; the next build does the work again
        }
        text += line_of(ctx, path, entry);
    }
    text.pop_back();
    text += "\n" + sha256_hex(text) + "\n";
    make_directories(ctx.cache / "policy");
    write_file(manifest(ctx, digest), text, 0644);
}

}  // namespace edgegpu::selinux
