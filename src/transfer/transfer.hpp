#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "support/context.hpp"
#include "support/error.hpp"
#include "transfer/part_file.hpp"

namespace edgegpu {

/// A file to be transferred.
struct WantedFile {
    /// Relative to a mirror, or a URL of its own, which no mirror has a say in.
    std::string location;
    std::filesystem::path destination;
    Promise promise;
    /// Looks at the whole file (its path until it is accepted, and the mirror that sent it) before
    /// it gets its name; an Error means that this mirror's file is not taken.
    std::function<void(const std::filesystem::path&, const std::string&)> accept = {};
};

/// How a transfer failed, as far as somebody decides by it.
enum class TransferFailureKind {
    missing,      ///< 404 or 410: the server does not have it
    refused,      ///< log-in, certificate or permission
    unreachable,  ///< not one byte came
    broken,       ///< cut off, too slow, an error of the server that may pass
    wrong         ///< something came that is not what was promised
};

/// Why one mirror did not give a file.
struct TransferFailure {
    TransferFailureKind kind = TransferFailureKind::broken;
    /// Place of the mirror in the list.
    std::size_t mirror = 0;
    /// Without user and password.
    std::string url;
    /// Goes on from the URL: "answers 404 (not found)".
    std::string reason;
    /// The way out, where there is one that only this failure has.
    std::string hint;
    /// The reason is about the file, not about what the server does: "FILE has 3 bytes, but …".
    bool of_file = false;
    /// What `accept` threw.
    std::optional<Error> error;
};

/// What became of a file.
struct TransferResult {
    bool done = false;
    /// The mirror that gave it (its place in the list).
    std::size_t mirror = 0;
    /// One for each mirror that failed, in order; the last of each.
    std::vector<TransferFailure> failures;
};

/// Called after each file that is complete, with its place in the list.
using OnTransferred = std::function<void(std::size_t)>;

/// Transfers files of one repository in parallel: at most 6 at a time, at most 3 from a host. Each
/// comes from the first mirror that has it as promised. What may pass is tried again, on another
/// mirror at once, on the same one after growing waits, as `repository.transfer` says; partial
/// files are continued. Mirrors that failed while another one had the file are warned of. The first
/// file that no mirror has ends the whole: the results of the rest are neither done nor failed.
/// Throws ErrorKind::interrupted on cancellation, and Error for what is this machine's own trouble.
[[nodiscard]] std::vector<TransferResult> transfer(const Context& ctx, const Repository& repository,
                                                   const std::vector<std::string>& mirrors,
                                                   const std::vector<WantedFile>& files,
                                                   const OnTransferred& on_transferred = {});

/// The content of `url` (http, https, file or a path), which the repository itself names: a key, a
/// list of mirrors; at most `limit` bytes. `what` names it in errors: "key". Throws
/// ErrorKind::fetch naming repository and URL.
[[nodiscard]] std::string transfer_text(const Context& ctx, const Repository& repository,
                                        const std::string& url, std::uint64_t limit,
                                        const std::string& what);

/// The error for a file ("repomd.xml") that no mirror gave: what is wrong with it or that it cannot
/// be had, one line for each mirror, and the way out.
[[nodiscard]] Error transfer_error(const Repository& repository, const std::string& name,
                                   const TransferResult& result);

}  // namespace edgegpu
