#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "execution/context.hpp"

namespace edgegpu {

/// A piece of a new content: bytes of the old one, or its own.
struct ContentPiece {
    bool copied = false;
    /// in the old content if it is copied, else in the new one
    std::size_t offset = 0;
    std::size_t size = 0;
    bool operator==(const ContentPiece&) const = default;
};

/// The pieces of which `made` consists, in order: everything that has at least 64 bytes in a row
/// that `old` has anywhere is copied, as far as blocks of 32 bytes of `old` lead to it.
///
/// For large files, where `binary_diff` would take minutes, and five times the size of `old` in
/// memory: this takes half the size of `old`, and time that grows with the size alone. It is worse
/// where bytes change every few dozen of them (addresses in code): GPU libraries consist of parts
/// that stay or change as a whole. Throws Error if `ctx` is cancelled.
[[nodiscard]] std::vector<ContentPiece> find_copies(const Context& ctx, std::string_view old,
                                                    std::string_view made);

/// Whether a client that puts the pieces together gets `made`.
[[nodiscard]] bool makes(const std::vector<ContentPiece>& pieces, std::string_view old,
                         std::string_view made);

/// Bytes of `made` that are not copied.
[[nodiscard]] std::size_t own_size(const std::vector<ContentPiece>& pieces);

}  // namespace edgegpu
