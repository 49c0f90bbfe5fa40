#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "transfer/part_file.hpp"
#include "transfer/transfer.hpp"

namespace edgegpu {

/// Whether a file that starts with `beginning` is an HTML page.
[[nodiscard]] bool looks_like_web_page(std::string_view beginning);

/// Renames the complete part to its destination if it has the expected size and checksum and
/// `accept` accepts it; the failure names `url`. Throws Error for local failures, such as a full
/// disk.
[[nodiscard]] std::optional<TransferFailure> finish_part(const WantedFile& file,
                                                         const std::string& mirror,
                                                         const std::string& url, PartFile& part);

/// Copies the local file `source` into the part and finishes it: what TransferAttempt does for
/// URLs.
[[nodiscard]] std::optional<TransferFailure> copy_local(const WantedFile& file,
                                                        const std::string& mirror,
                                                        const std::filesystem::path& source,
                                                        PartFile& part);

}  // namespace edgegpu
