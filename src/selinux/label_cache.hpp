#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "compose/tree.hpp"
#include "support/context.hpp"

namespace edgegpu::selinux {

/// Labels looked up before with the same file contexts: `labels/DIGEST` of the cache, one file of
/// sorted lines "TYPE PATH\tLABEL" with TYPE one of d, f, l.
class LabelCache {
public:
    /// Reads the file of `digest`; empty where there is none.
    LabelCache(const Context& ctx, const std::string& digest);

    /// The label of (type, path), or an empty view. Valid as long as the cache is.
    [[nodiscard]] std::string_view find(EntryType type, std::string_view path) const;
    /// Adds labels ("TYPE PATH" → label) and replaces the file atomically.
    void add(const Context& ctx, const std::map<std::string, std::string>& labels);

    /// "TYPE PATH", the key of a line.
    [[nodiscard]] static std::string key(EntryType type, std::string_view path);

private:
    std::filesystem::path file_;
    std::string text_;
    std::unordered_map<std::string_view, std::string_view> labels_;
};

}  // namespace edgegpu::selinux
