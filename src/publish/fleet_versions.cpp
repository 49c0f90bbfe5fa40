#include "publish/fleet_versions.hpp"

#include <string_view>

#include <nlohmann/json.hpp>

#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

constexpr std::uint64_t largest_document = 16U << 20U;
/// More devices than there are, so that sums do not overflow.
constexpr std::uint64_t most_devices = 1ULL << 32U;
/// Of all devices, one in as many at least.
constexpr std::uint64_t worth_it = 100;

constexpr const char* form =
    "it has the devices of each commit that some run: {\"CHECKSUM\": 1200, \"CHECKSUM\": 31}";

}  // namespace

std::uint64_t FleetVersions::all() const {
    std::uint64_t sum = 0;
    for (const auto& [commit, count] : devices) {
        sum += count;
    }
    return sum;
}

bool FleetVersions::is_worth_a_delta(const std::string& commit) const {
    const auto found = devices.find(commit);
    return found != devices.end() && found->second * worth_it >= all();
}

FleetVersions read_fleet_versions(const std::filesystem::path& file) {
    FleetVersions fleet{file.string(), {}};
    std::string twice;
    const nlohmann::json document = nlohmann::json::parse(
        read_file(file, largest_document),
        [&](int depth, nlohmann::json::parse_event_t event, const nlohmann::json& key) {
            // The parser keeps the last of several members of one name.
            if (depth == 1 && event == nlohmann::json::parse_event_t::key &&
                !fleet.devices.emplace(key.get<std::string>(), 0).second) {
                twice = key.get<std::string>();
            }
            return true;
        },
        false);
    const auto refuse = [&](std::string_view what) {
        return error(ErrorKind::usage, "{}: {}", fleet.origin, what).hinted(form);
    };
    if (!document.is_object()) {
        throw refuse("no JSON object");
    }
    if (!twice.empty()) {
        throw refuse("two members \"" + twice + "\"");
    }
    for (auto& [commit, count] : fleet.devices) {
        const nlohmann::json& value = document.at(commit);
        if (!is_sha256(commit)) {
            throw refuse("\"" + commit + "\" is not the checksum of a commit");
        }
        if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most_devices) {
            throw refuse("the devices with commit " + commit + " are no number of devices");
        }
        count = value.get<std::uint64_t>();
    }
    if (fleet.all() == 0) {
        throw refuse("it has no devices");
    }
    return fleet;
}

}  // namespace edgegpu
