#pragma once

#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "execution/context.hpp"

namespace edgegpu {

/// Cached checksums of objects by content and header, so that unchanged content is neither read nor
/// hashed again. A text file with lines "KEY CHECKSUM CRC-32" (hexadecimal; the CRC is of what
/// precedes it); damaged lines are ignored. `find` and `add` are thread-safe.
class ObjectIndex {
public:
    /// Reads `path`; a missing file is an empty index.
    explicit ObjectIndex(std::filesystem::path path);

    /// The key for the digest of a content and the digest of its `object_header`, both hexadecimal.
    [[nodiscard]] static std::string key(std::string_view digest, std::string_view header_digest);
    /// The object's checksum, or an empty view; valid as long as the index exists.
    [[nodiscard]] std::string_view find(const std::string& key) const;
    void add(const std::string& key, const std::string& checksum);
    /// Appends added lines to the file. If most lines of a large file were not used by this build,
    /// rewrites it with added and used ones, and those that other builds added since it was read.
    /// Other builds wait meanwhile (wait_for_lock). Throws Error, interrupted if `ctx` is cancelled
    /// while another build has the lock.
    void save(const Context& ctx);

private:
    void compact(const Context& ctx);
    void append(const Context& ctx);

    std::filesystem::path path_;
    std::string text_;
    struct Known {
        std::string_view checksum;
        mutable bool used = false;
    };
    std::unordered_map<std::string_view, Known> known_;
    std::vector<std::string> added_;
    mutable std::mutex mutex_;
};

}  // namespace edgegpu
