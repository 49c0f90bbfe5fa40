#include "image/entries.hpp"

#include <utility>

namespace edgegpu {

namespace {

/// The common prefix of all paths below a directory.
std::string with_slash(std::string_view directory) {
    std::string prefix(directory);
    if (!prefix.ends_with('/')) {
        prefix += '/';
    }
    return prefix;
}

/// The range of paths that begin with `prefix`, which must not end with byte 255.
template <typename Map>
auto bounds(Map& entries, std::string prefix) {
    const auto first = entries.lower_bound(prefix);
    if (prefix.empty()) {
        return std::pair(first, entries.end());
    }
    ++prefix.back();
    return std::pair(first, entries.lower_bound(prefix));
}

/// The range of paths below a directory, without "/" itself.
template <typename Map>
auto bounds_below(Map& entries, std::string_view directory) {
    auto [first, last] = bounds(entries, with_slash(directory));
    if (first != last && first->first == "/") {
        ++first;
    }
    return std::pair(first, last);
}

}  // namespace

Entry directory_entry(unsigned mode) {
    Entry entry;
    entry.type = EntryType::directory;
    entry.mode = mode;
    return entry;
}

Entry link_to(std::string_view target) {
    Entry entry;
    entry.type = EntryType::symlink;
    entry.mode = 0777;
    entry.target = target;
    return entry;
}

EntryRange entries_below(const Entries& entries, std::string_view directory) {
    const auto [first, last] = bounds_below(entries, directory);
    return {first, last};
}

EntryRange entries_with_prefix(const Entries& entries, std::string_view prefix) {
    const auto [first, last] = bounds(entries, std::string(prefix));
    return {first, last};
}

void erase_below(Entries& entries, std::string_view directory) {
    const auto [first, last] = bounds_below(entries, directory);
    entries.erase(first, last);
}

void erase_subtree(Entries& entries, std::string_view path) {
    const auto top = entries.find(path);
    // Before the entry itself, of whose key `path` may be a view.
    erase_below(entries, path);
    if (top != entries.end()) {
        entries.erase(top);
    }
}

Entries take_subtree(Entries& entries, std::string_view path) {
    Entries taken;
    const auto top = entries.find(path);
    auto [at, last] = bounds_below(entries, path);
    if (top != entries.end()) {
        taken.insert(entries.extract(top));
    }
    while (at != last) {
        taken.insert(entries.extract(at++));
    }
    return taken;
}

}  // namespace edgegpu
