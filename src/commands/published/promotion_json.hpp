#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "publish/promotion.hpp"

namespace edgegpu {

/// What `promote` and `channels` say of a promotion.

/// "edge/canary 0123456789 by NAME, 2026-11-28 10:15: REASON"; control characters are those of the
/// repository.
[[nodiscard]] std::string promotion_text(const Promotion& promotion);

/// Rows (result_row) of the end of a ref; empty if it has not ended.
[[nodiscard]] std::string end_of_life_rows(const EndOfLife& end);

/// Adds `promoted`, `end_of_life` and `rebase_to` of their schemas, as far as there are any.
void add_channel_record(nlohmann::ordered_json& document, const ChannelRecord& record);

}  // namespace edgegpu
