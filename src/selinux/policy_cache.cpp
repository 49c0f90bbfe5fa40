#include "selinux/policy_cache.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "image/kept_entries.hpp"

namespace edgegpu::selinux {

namespace {

/// Takes the first line off `text`.
std::string_view take_line(std::string_view& text) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return line;
}

std::string join(const std::vector<std::string>& names) {
    return fmt::format("{}\n", fmt::join(names, "\t"));
}

std::vector<std::string> tab_separated(std::string_view line) {
    std::vector<std::string> names;
    while (!line.empty()) {
        const std::size_t end = std::min(line.find('\t'), line.size());
        names.emplace_back(line.substr(0, end));
        line.remove_prefix(std::min(end + 1, line.size()));
    }
    return names;
}

constexpr const char* result_name = "result";

}  // namespace

std::optional<PolicyResult> load_policy(const Context& ctx, const StoredEntry& entry) {
    const std::string* kept = entry.find(result_name);
    if (kept == nullptr) {
        return std::nullopt;
    }
    std::string_view text = *kept;
    PolicyResult result;
    result.type = take_line(text);
    result.gpu_access = take_line(text);
    result.modules = tab_separated(take_line(text));
    result.removed = tab_separated(take_line(text));
    std::optional<Entries> entries = parse_entries(ctx, text);
    if (!entries) {
        return std::nullopt;
    }
    result.entries = std::move(*entries);
    return result;
}

void store_policy(const Context& ctx, NewEntry& entry, const PolicyResult& policy) {
    const auto odd = [](const std::string& name) {
        return name.find_first_of("\t\n") != std::string::npos;
    };
    const std::optional<std::string> entries = format_entries(ctx, policy.entries);
    if (!entries || std::any_of(policy.removed.begin(), policy.removed.end(), odd) ||
        std::any_of(policy.modules.begin(), policy.modules.end(), odd)) {
        entry.forget();  // A package's name for a file is no line of the cache's.
        return;
    }
    entry.add(result_name, fmt::format("{}\n{}\n", policy.type, policy.gpu_access) +
                               join(policy.modules) + join(policy.removed) + *entries);
}

}  // namespace edgegpu::selinux
