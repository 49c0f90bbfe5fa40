#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "support/error.hpp"

namespace edgegpu {

// What somebody else's compressed file may become. First counts what its headers and manifests
// declare; these are the limits for what they declare.

/// How many bytes a content may have when it is decompressed.
struct UnpackLimit {
    // A number is a limit as well.
    UnpackLimit(std::uint64_t most, std::string why = {})  // NOLINT(google-explicit-constructor)
        : bytes(most), reason(std::move(why)) {}

    std::uint64_t bytes;
    /// To follow the number in a message: ", its size in X"; or empty.
    std::string reason;

    /// The lower one.
    [[nodiscard]] UnpackLimit with(const UnpackLimit& other) const {
        return other.bytes < bytes ? other : *this;
    }
};

/// Bytes to which `packed` bytes may be unpacked: `ratio` times as many, and `spare`. Programs,
/// texts and metadata become 2 to 20 times as large; a file of zeros, 1,000 times and more.
[[nodiscard]] UnpackLimit most_unpacked(std::uint64_t packed, std::uint64_t spare,
                                        std::uint64_t ratio = 100);

/// Throws Error of `kind` unless the file system of `directory`, which exists, has space for
/// `bytes`, and as much again or 256 MiB for what else is written there. `what` needs them.
/// Nothing is set aside: of several that are unpacked at once, one may still find the disk full.
/// To subtract what others will write would count what they have written twice, and refuse what
/// fits.
void require_space(const std::filesystem::path& directory, std::uint64_t bytes,
                   std::string_view what, ErrorKind kind = ErrorKind::failure);

}  // namespace edgegpu
