#pragma once

#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace edgegpu {

/// The cache's memory of (content, header) → object checksum, so that unchanged content is neither
/// read nor hashed again. A text file, a line each: key, checksum, CRC-32 of both; lines that
/// are torn or damaged are ignored. `find` and `add` may be called from any thread.
class ObjectIndex {
public:
    /// Reads `path`; an absent file is an empty index.
    explicit ObjectIndex(std::filesystem::path path);

    /// The key of a content's digest and the digest of its `object_header`, both in hexadecimal.
    [[nodiscard]] static std::string key(std::string_view digest, std::string_view header_digest);
    /// The object's checksum, or an empty view; valid as long as the index lives.
    [[nodiscard]] std::string_view find(const std::string& key) const;
    void add(const std::string& key, const std::string& checksum);
    /// Appends what was added; when most lines are of no use any more (`used` of this build
    /// against all), writes only those that `add` and `find` touched. Throws Error.
    void save();

private:
    void compact();

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
