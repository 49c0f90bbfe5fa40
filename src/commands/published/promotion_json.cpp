#include "commands/published/promotion_json.hpp"

#include "commands/published/publish_result.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

std::string promotion_text(const Promotion& promotion) {
    std::string text = promotion.from.substr(0, 10);
    if (!promotion.from_ref.empty()) {
        text = promotion.from_ref + ' ' + text;
    }
    if (!promotion.by.empty()) {
        text += " by " + promotion.by;
    }
    text += ", " + minute_text(promotion.at);
    if (!promotion.reason.empty()) {
        text += ": " + promotion.reason;
    }
    return text;
}

std::string end_of_life_rows(const EndOfLife& end) {
    std::string text;
    text += row_unless_empty("ended", end.text);
    text += row_unless_empty("goes on as", end.rebase);
    return text;
}

void add_channel_record(nlohmann::ordered_json& document, const ChannelRecord& record) {
    if (record.promotion) {
        nlohmann::ordered_json promoted{{"from", record.promotion->from}};
        add_text(promoted, "ref", record.promotion->from_ref);
        promoted["by"] = record.promotion->by;
        promoted["at"] = iso_time(record.promotion->at);
        add_text(promoted, "reason", record.promotion->reason);
        document["promoted"] = std::move(promoted);
    }
    add_text(document, "end_of_life", record.end.text);
    add_text(document, "rebase_to", record.end.rebase);
}

}  // namespace edgegpu
