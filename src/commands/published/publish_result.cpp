#include "commands/published/publish_result.hpp"

#include <fmt/format.h>

#include "delta/static_delta.hpp"
#include "support/error.hpp"
#include "support/ranges.hpp"
#include "support/text/quantity.hpp"
#include "support/text/terminal_text.hpp"

namespace edgegpu {

namespace {

std::string delta_text(const PublishedDelta& published) {
    const StaticDelta& delta = published.delta;
    const std::uint64_t bytes = delta.bytes + delta.fallback_bytes;
    std::string text = fmt::format(
        "from {}: {}", published.from.empty() ? "nothing" : published.from.substr(0, 10),
        human_size(bytes));
    if (delta.stored != 0) {
        text += fmt::format(" instead of {}", human_size(delta.stored));
    }
    return published.useless
               ? text + ": not kept"
               : text + fmt::format("; devices need {} free", human_size(delta.unpacked));
}

nlohmann::ordered_json delta_json(const PublishedDelta& published) {
    const StaticDelta& delta = published.delta;
    nlohmann::ordered_json one;
    add_text(one, "from", published.from);
    one["bytes"] = delta.bytes;
    one["object_bytes"] = delta.fallback_bytes;
    if (delta.stored != 0) {
        one["bytes_without"] = delta.stored;
    }
    one["free_bytes_needed"] = delta.unpacked;
    one["parts"] = delta.parts;
    one["objects"] = delta.fallbacks;
    one["new"] = published.made || published.renewed;
    one["kept"] = !published.useless;
    return one;
}

}  // namespace

std::string delta_rows(const std::vector<PublishedDelta>& deltas) {
    return sum_of(
        deltas, [](const PublishedDelta& delta) { return result_row("delta", delta_text(delta)); });
}

nlohmann::ordered_json deltas_json(const std::vector<PublishedDelta>& deltas) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const PublishedDelta& delta : deltas) {
        list.push_back(delta_json(delta));
    }
    return list;
}

DeltaRequest delta_request(const DeltaChoice& choice) {
    DeltaRequest request;
    request.from = choice.from;
    if (!choice.fleet.empty()) {
        request.fleet = read_fleet_versions(choice.fleet);
    }
    if (!choice.largest_file.empty()) {
        request.largest_compared = parse_size(choice.largest_file).value_or(0);
        if (request.largest_compared == 0 || request.largest_compared > largest_comparable) {
            throw error(ErrorKind::usage, "--delta-max-file {}: not between 1 and 480M",
                        choice.largest_file)
                .hinted(
                    "devices take no differences of larger files; deltas make these of pieces of "
                    "the "
                    "old file, which needs no option");
        }
    }
    return request;
}

}  // namespace edgegpu
