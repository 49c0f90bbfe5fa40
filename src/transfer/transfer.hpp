#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "execution/context.hpp"
#include "support/error.hpp"
#include "transfer/part_file.hpp"
#include "transfer/repository.hpp"

namespace edgegpu {

/// A file to be transferred.
struct WantedFile {
    /// Relative to the mirrors, or an absolute URL, for which they are not used.
    std::string location;
    std::filesystem::path destination;
    Promise promise;
    /// Called with the path of the complete part and the mirror before the file is renamed to
    /// `destination`. Throws Error to reject this mirror's file.
    std::function<void(const std::filesystem::path&, const std::string&)> accept = {};
};

/// How a transfer failed; determines whether it is retried.
enum class TransferFailureKind {
    missing,      ///< 404, 410, or no such local file
    refused,      ///< credentials, certificate or permission
    unreachable,  ///< no connection, or no response in time
    broken,       ///< interrupted, too slow, or a temporary error of the server
    wrong         ///< the response is not the expected file
};

/// Why one mirror did not deliver a file.
struct TransferFailure {
    TransferFailureKind kind = TransferFailureKind::broken;
    /// Index of the mirror.
    std::size_t mirror = 0;
    /// Without credentials and query values.
    std::string url;
    /// Continues the URL: "answers 404 (not found)".
    std::string reason;
    /// A hint specific to this failure, or empty.
    std::string hint;
    /// The reason is about the file, not the server: "FILE has 3 bytes, but …".
    bool of_file = false;
    /// The error that `accept` threw.
    std::optional<Error> error;
};

/// The outcome for one file.
struct TransferResult {
    bool done = false;
    /// No mirror delivers it, which ended the transfer: true for one file at most. Other files may
    /// have failures because they were waiting for another attempt.
    bool given_up = false;
    /// Index of the mirror that delivered it.
    std::size_t mirror = 0;
    /// The last failure of each mirror that failed, oldest first.
    std::vector<TransferFailure> failures;
};

/// Called with the index of each file that is complete.
using OnTransferred = std::function<void(std::size_t)>;

/// Transfers files of one repository in parallel: at most 6 at a time, at most 3 from one host.
/// Each is taken from the first mirror that delivers the expected file. Temporary failures are
/// retried, immediately on another mirror, after increasing delays on the same one, as often as
/// `repository.transfer` allows; partial files are continued. Warns of mirrors that failed for
/// files that another one delivered. The first file that no mirror delivers (`given_up`) ends the
/// transfer: other files may then be incomplete, with or without failures. Throws
/// ErrorKind::interrupted on cancellation, and Error for local failures, such as a full disk.
[[nodiscard]] std::vector<TransferResult> transfer(const Context& ctx, const Repository& repository,
                                                   const std::vector<std::string>& mirrors,
                                                   const std::vector<WantedFile>& files,
                                                   const OnTransferred& on_transferred = {});

/// The content of `url` (http, https, file or a path), which the repository's definition names: a
/// key or a list of mirrors. At most `limit` bytes. `what` names it in errors: "key". Throws
/// ErrorKind::fetch naming repository and URL.
[[nodiscard]] std::string transfer_text(const Context& ctx, const Repository& repository,
                                        const std::string& url, std::uint64_t limit,
                                        const std::string& what);

/// The error for the file `name` ("repomd.xml") that no mirror delivered, with a trace for each
/// mirror (at most five) and a hint.
[[nodiscard]] Error transfer_error(const Repository& repository, const std::string& name,
                                   const TransferResult& result);

}  // namespace edgegpu
