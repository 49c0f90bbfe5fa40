#pragma once

#include <cstdint>
#include <optional>

namespace edgegpu {

/// The environment variable SOURCE_DATE_EPOCH, Unix time; nothing if it is not set or empty. Throws
/// ErrorKind::usage if it is no time.
[[nodiscard]] std::optional<std::int64_t> source_date_epoch();

}  // namespace edgegpu
