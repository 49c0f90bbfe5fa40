#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <sstream>

#include "resolve/solve/filtered.hpp"
#include "resolve/solve/pool.hpp"
#include "support/error.hpp"
#include "support/text/nevra.hpp"

namespace edgegpu {

namespace {

constexpr const char* glob_characters = "*?[";

bool is_glob(const std::string& text) {
    return text.find_first_of(glob_characters) != std::string::npos;
}

/// The forms in which dnf accepts the name of a package.
std::array<std::string, 9> forms(const Nevra& nevra) {
    const std::string bare = fmt::format("{}-{}", nevra.version, nevra.release);
    const std::string full = fmt::format("{}:{}", nevra.epoch, bare);
    return {nevra.name,
            fmt::format("{}.{}", nevra.name, nevra.arch),
            fmt::format("{}-{}", nevra.name, nevra.version),
            fmt::format("{}-{}:{}", nevra.name, nevra.epoch, nevra.version),
            fmt::format("{}-{}", nevra.name, bare),
            fmt::format("{}-{}", nevra.name, full),
            fmt::format("{}-{}.{}", nevra.name, bare, nevra.arch),
            fmt::format("{}-{}.{}", nevra.name, full, nevra.arch),
            fmt::format("{}:{}-{}.{}", nevra.epoch, nevra.name, bare, nevra.arch)};
}

/// A cheap test that rules out nearly all packages: whether the name and the first `fixed`
/// characters of the pattern agree as far as both go.
bool may_match(const char* name, const std::string& pattern, std::size_t fixed) {
    std::size_t i = 0;
    for (; i < fixed && name[i] != '\0'; ++i) {
        if (name[i] != pattern[i]) {
            return false;
        }
    }
    return true;
}

std::vector<Id> providers(const PackagePool& pool, Id dependency) {
    std::vector<Id> found = all_providers(pool, dependency);
    std::erase_if(found, [&](Id id) { return !pool.visible(id); });
    return found;
}

std::vector<Id> match_relation(const PackagePool& pool, const std::string& spec) {
    std::istringstream words(spec);
    std::string name;
    std::string sign;
    std::string evr;
    if (!(words >> name >> sign >> evr)) {
        return {};
    }
    int flags = 0;
    for (const char c : sign) {
        flags |= c == '<' ? REL_LT : c == '=' ? REL_EQ : c == '>' ? REL_GT : 8;
    }
    if (flags == 0 || flags > 7) {
        return {};
    }
    Pool* raw = pool.get();
    return providers(pool, pool_rel2id(raw, pool_str2id(raw, name.c_str(), 1),
                                       pool_str2id(raw, evr.c_str(), 1), flags, 1));
}

std::vector<Id> match_path(const PackagePool& pool, const std::string& path) {
    std::vector<Id> found;
    Dataiterator iterator;
    dataiterator_init(&iterator, pool.get(), nullptr, 0, SOLVABLE_FILELIST, path.c_str(),
                      SEARCH_STRING | SEARCH_FILES | SEARCH_COMPLETE_FILELIST);
    while (dataiterator_step(&iterator) != 0) {
        if (pool.visible(iterator.solvid)) {
            found.push_back(iterator.solvid);
            dataiterator_skip_solvable(&iterator);
        }
    }
    dataiterator_free(&iterator);
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

}  // namespace

bool matches_package(const PackagePool& pool, Id id, const std::string& pattern) {
    const char* name = pool_id2str(pool.get(), pool.solvable(id)->name);
    std::size_t fixed = std::min(pattern.find_first_of(glob_characters), pattern.size());
    const std::size_t colon = pattern.find(':');
    if (colon != std::string::npos && colon > 0 &&
        pattern.find_first_not_of("0123456789") == colon) {
        fixed = 0;
    }
    if (!may_match(name, pattern, fixed)) {
        return false;
    }
    const std::array<std::string, 9> texts = forms(pool.nevra(id));
    if (!is_glob(pattern)) {
        return std::find(texts.begin(), texts.end(), pattern) != texts.end();
    }
    return std::any_of(texts.begin(), texts.end(), [&](const std::string& text) {
        return ::fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
    });
}

std::vector<Id> matching_packages(const PackagePool& pool, const std::string& pattern) {
    std::vector<Id> found;
    if (is_glob(pattern)) {
        std::copy_if(pool.packages().begin(), pool.packages().end(), std::back_inserter(found),
                     [&](Id id) { return matches_package(pool, id, pattern); });
        return found;
    }
    // In every form the name ends at '-', '.' or the end; one form begins with the epoch.
    const std::size_t digits = pattern.find_first_not_of("0123456789");
    const bool epoch = digits != 0 && digits != std::string::npos && pattern[digits] == ':';
    for (const std::size_t begin : {std::size_t{0}, epoch ? digits + 1 : std::size_t{0}}) {
        for (std::size_t end = begin; end <= pattern.size(); ++end) {
            end = std::min(pattern.find_first_of("-.", end), pattern.size());
            const Id name = pool_strn2id(pool.get(), pattern.c_str() + begin,
                                         static_cast<unsigned>(end - begin), 0);
            for (const Id id : pool.with_name(name)) {
                if (matches_package(pool, id, pattern)) {
                    found.push_back(id);
                }
            }
        }
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

std::vector<Id> match_spec(const PackagePool& pool, const std::string& spec, bool hidden_too) {
    std::vector<Id> found = matching_packages(pool, spec);
    if (!hidden_too) {
        std::erase_if(found, [&](Id id) { return !pool.visible(id); });
    }
    if (!found.empty() || hidden_too || is_glob(spec)) {
        return found;
    }
    if (spec.find(' ') != std::string::npos) {
        return match_relation(pool, spec);
    }
    if (const Id capability = pool_str2id(pool.get(), spec.c_str(), 0); capability != 0) {
        found = providers(pool, capability);
    }
    if (found.empty() && spec.starts_with('/')) {
        found = match_path(pool, spec);
    }
    return found;
}

}  // namespace edgegpu
