#include "microshift/upgrade.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "microshift/ip_network.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

using nlohmann::json;

/// Minor versions that an upgrade may go up at once: MAX_VERSION_SKEW in MicroShift's sources.
constexpr unsigned most_minors = 2;

/// A member that is absent, null or empty has its default.
const json* value_at(const json& config, const std::string& pointer) {
    const json::json_pointer path(pointer);
    if (!config.contains(path)) {
        return nullptr;
    }
    const json& value = config.at(path);
    const bool absent = value.is_null() ||
                        (value.is_string() && value.get_ref<const std::string&>().empty()) ||
                        (value.is_array() && value.empty());
    return absent ? nullptr : &value;
}

std::string shown(const json* value, const std::string& fallback) {
    return value == nullptr
               ? fallback + " (MicroShift's default)"
               : shortened(value->dump(-1, ' ', false, json::error_handler_t::replace));
}

bool same_networks(const json& first, const json& second) {
    if (!first.is_array() || !second.is_array() || first.size() != second.size()) {
        return first == second;
    }
    return std::equal(first.begin(), first.end(), second.begin(), [](const json& a, const json& b) {
        if (!a.is_string() || !b.is_string()) {
            return a == b;
        }
        const auto network = IpNetwork::parse(a.get<std::string>());
        const auto other = IpNetwork::parse(b.get<std::string>());
        return network && other ? network->same_as(*other) : a == b;
    });
}

/// Whether it is what MicroShift takes without a value, on a node of either family of addresses.
bool is_default_network(const json* value, std::string_view ipv4, std::string_view ipv6) {
    return value == nullptr || same_networks(*value, json::array({ipv4})) ||
           same_networks(*value, json::array({ipv6}));
}

void compare_networks(const json& parent, const json& image, const std::string& pointer,
                      const std::string& ipv4, const std::string& ipv6,
                      std::vector<ImmutableChange>& changes) {
    const json* before = value_at(parent, pointer);
    const json* now = value_at(image, pointer);
    const bool same =
        before != nullptr && now != nullptr
            ? same_networks(*before, *now)
            : is_default_network(before, ipv4, ipv6) && is_default_network(now, ipv4, ipv6);
    if (!same) {
        const std::string fallback = json::array({ipv4}).dump();
        changes.push_back({pointer, shown(before, fallback), shown(now, fallback)});
    }
}

std::set<std::string> gates_of(const json& config, const std::string& group) {
    std::set<std::string> gates;
    for (const char* state : {"enabled", "disabled"}) {
        const json* list =
            value_at(config, fmt::format("/apiServer/featureGates/{}/{}", group, state));
        for (std::size_t i = 0; list != nullptr && list->is_array() && i < list->size(); ++i) {
            gates.insert(fmt::format("{} {}", state, (*list)[i].dump()));
        }
    }
    return gates;
}

}  // namespace

void check_microshift_upgrade(const SourceLocation& location, MicroshiftVersion parent,
                              MicroshiftVersion image) {
    if (image.number() < parent.number()) {
        throw error_at(location,
                       "MicroShift {} is older than the {} of the parent commit, and refuses to "
                       "start with newer data",
                       image.text(), parent.text())
            .hinted(
                fmt::format("request microshift {}.* or newer; devices go back to an older one "
                            "with `rpm-ostree rollback`, or are installed anew from another ref",
                            parent.text()));
    }
    if (image.number() - parent.number() > most_minors) {
        const MicroshiftVersion next = MicroshiftVersion::numbered(parent.number() + most_minors);
        throw error_at(location,
                       "MicroShift {} is {} minor versions newer than the {} of the parent "
                       "commit, and refuses to start with data that is more than {} older",
                       image.text(), image.number() - parent.number(), parent.text(), most_minors)
            .hinted(fmt::format("build a commit with microshift {}.* first, and let all devices "
                                "start it once before they get this one",
                                next.text()));
    }
}

std::optional<std::string> microshift_refusal(MicroshiftVersion before, MicroshiftVersion after) {
    if (after.number() < before.number()) {
        return fmt::format("MicroShift {} refuses to start with the newer data of {}", after.text(),
                           before.text());
    }
    if (after.number() - before.number() > most_minors) {
        return fmt::format(
            "MicroShift {} refuses to start with data of {}, which is more than {} minor versions "
            "older",
            after.text(), before.text(), most_minors);
    }
    return std::nullopt;
}

std::vector<ImmutableChange> immutable_changes(const json& parent, const json& image) {
    std::vector<ImmutableChange> changes;
    const std::string domain = "/dns/baseDomain";
    const json default_domain = "example.com";
    const json* domain_before = value_at(parent, domain);
    const json* domain_now = value_at(image, domain);
    if ((domain_before == nullptr ? default_domain : *domain_before) !=
        (domain_now == nullptr ? default_domain : *domain_now)) {
        changes.push_back({domain, shown(domain_before, default_domain.dump()),
                           shown(domain_now, default_domain.dump())});
    }
    compare_networks(parent, image, "/network/clusterNetwork", "10.42.0.0/16", "fd01::/48",
                     changes);
    compare_networks(parent, image, "/network/serviceNetwork", "10.43.0.0/16", "fd02::/112",
                     changes);
    const std::string name = "/node/hostnameOverride";
    const json* name_before = value_at(parent, name);
    const json* name_now = value_at(image, name);
    if (name_before != nullptr && name_now != nullptr && name_before->is_string() &&
        name_now->is_string() &&
        lower_case(name_before->get<std::string>()) != lower_case(name_now->get<std::string>())) {
        changes.push_back({name, shown(name_before, ""), shown(name_now, "")});
    }
    return changes;
}

bool forbids_upgrades(const json& parent, const json& image) {
    const json* set = value_at(parent, "/apiServer/featureGates/featureSet");
    if (set == nullptr || *set != "CustomNoUpgrade") {
        return false;
    }
    const std::set<std::string> exempt = gates_of(image, "specialHandlingSupportExceptionRequired");
    const std::set<std::string> gates = gates_of(parent, "customNoUpgrade");
    return std::ranges::any_of(gates,
                               [&](const std::string& gate) { return !exempt.contains(gate); });
}

}  // namespace edgegpu
