#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "transfer/part_file.hpp"
#include "transfer/transfer.hpp"

namespace edgegpu {

/// Whether the beginning of a file is that of a web page.
[[nodiscard]] bool looks_like_web_page(std::string_view beginning);

/// Gives the complete part its name if it is what was promised and `accept` takes it; the failure
/// names `url`. Throws Error for this machine's own trouble.
[[nodiscard]] std::optional<TransferFailure> finish_part(const WantedFile& file,
                                                         const std::string& mirror,
                                                         const std::string& url, PartFile& part);

/// The same as an attempt, for a file of this machine, at `source`.
[[nodiscard]] std::optional<TransferFailure> copy_local(const WantedFile& file,
                                                        const std::string& mirror,
                                                        const std::filesystem::path& source,
                                                        PartFile& part);

}  // namespace edgegpu
