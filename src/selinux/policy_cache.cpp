#include "selinux/policy_cache.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "image/kept_entries.hpp"
#include "support/text/text.hpp"

namespace edgegpu::selinux {

namespace {

std::string join(const std::vector<std::string>& names) {
    return fmt::format("{}\n", fmt::join(names, "\t"));
}

std::vector<std::string> tab_separated(std::string_view line) {
    const std::vector<std::string_view> names = words_of(line, "\t");
    return {names.begin(), names.end()};
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
        entry.forget();  // The format has no representation for such names.
        return;
    }
    entry.add(result_name, fmt::format("{}\n{}\n", policy.type, policy.gpu_access) +
                               join(policy.modules) + join(policy.removed) + *entries);
}

}  // namespace edgegpu::selinux
