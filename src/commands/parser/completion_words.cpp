#include "commands/parser/completion_words.hpp"

#include <set>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "commands/commands.hpp"
#include "gpu/gpus.hpp"
#include "repository/commit_view.hpp"
#include "rollout/plan.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

constexpr std::string_view digits = "0123456789";

/// Whether a shell takes it as it is: a repository may be somebody else's.
bool is_plain(std::string_view word) {
    return word.find_first_not_of(
               "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
               "._-/:+") == std::string_view::npos;
}

/// Of a name such as "NVIDIA RTX A2000 Laptop GPU / NVIDIA A30 24GB" A2000 and A30.
void add_models(const std::string& name, std::set<std::string>& words) {
    for (const std::string_view word : words_of(name, " /")) {
        if (is_plain(word) && word.find_first_of(digits) != std::string_view::npos &&
            word.find_first_of(digits) != 0) {
            words.emplace(word);
        }
    }
}

}  // namespace

std::string completion_words(const std::string& kind, const std::filesystem::path& repo) {
    std::set<std::string> words;
    if (kind == "commits") {
        for (const auto& [ref, checksum] : RepositoryView(repo).refs()) {
            if (is_plain(ref) && !is_plan_ref(ref)) {
                words.insert(ref);
            }
        }
    } else if (kind == "bundles") {
        for (const std::string& name : shipped_bundles()) {
            words.insert(name);
        }
    } else {
        for (const Gpu& gpu : shipped_gpus().gpus) {
            add_models(gpu.name, words);
        }
    }
    return words.empty() ? "" : fmt::format("{}\n", fmt::join(words, "\n"));
}

}  // namespace edgegpu
