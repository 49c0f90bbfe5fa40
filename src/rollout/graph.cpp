#include "rollout/graph.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/error.hpp"
#include "support/ranges.hpp"

namespace edgegpu {

namespace {

using nlohmann::ordered_json;

constexpr const char* fedora_keys = "org.fedoraproject.coreos.";
constexpr const char* own_keys = "edgegpu.";

/// Names of nodes in conditional edges have to be unique, which versions need not be.
std::map<std::string, std::string> node_versions(const RolloutPlan& plan) {
    std::map<std::string, std::size_t> count;
    for (const PlannedRelease& release : plan.releases) {
        ++count[release.version];
    }
    std::map<std::string, std::string> versions;
    for (const PlannedRelease& release : plan.releases) {
        const bool unique = !release.version.empty() && count[release.version] == 1;
        versions[release.commit] =
            unique ? release.version
                   : fmt::format("{}{}{}", release.version, release.version.empty() ? "" : " ",
                                 release.commit.substr(0, 10));
    }
    return versions;
}

/// A share as a fraction: "0.05".
std::string fraction(std::int64_t share) {
    std::string text = fmt::format("{}.{:06}", share / whole_share, share % whole_share);
    text.resize(std::max(text.find_last_not_of('0') + 1, text.find('.') + 2));
    return text;
}

void add_wave(ordered_json& metadata, const PlannedRelease& release) {
    constexpr std::int64_t minute = 60;
    const std::string updates = std::string(fedora_keys) + "updates.";
    if (release.wave) {
        metadata[updates + "rollout"] = "true";
        metadata[updates + "start_epoch"] = std::to_string(release.wave->start);
        metadata[updates + "start_value"] = fraction(release.wave->share);
        if (release.wave->duration != 0) {
            metadata[updates + "duration_minutes"] =
                std::to_string((release.wave->duration + minute - 1) / minute);
        }
    }
    if (release.barrier) {
        metadata[updates + "barrier"] = "true";
        metadata[updates + "barrier_reason"] = *release.barrier;
    }
}

ordered_json node_of(const PlannedRelease& release, const std::string& version) {
    ordered_json metadata{
        {std::string(fedora_keys) + "scheme", "checksum"},
        {std::string(fedora_keys) + "releases.age_index", std::to_string(release.index)}};
    add_wave(metadata, release);
    const auto add = [&](const char* key, const std::string& value) {
        if (!value.empty()) {
            metadata[own_keys + std::string(key)] = value;
        }
    };
    add("time", std::to_string(release.facts.time));
    add("architecture", release.facts.architecture);
    add("microshift", release.facts.microshift);
    add("nvidia-driver", release.facts.driver);
    add("reason", release.reason);
    if (release.aborted) {
        metadata[std::string(own_keys) + "aborted"] = *release.aborted;
    }
    if (release.paused) {
        const PausedWave& paused = *release.paused;
        add("paused.at", std::to_string(paused.at));
        add("paused.start", std::to_string(paused.wave.start));
        add("paused.share", std::to_string(paused.wave.share));
        add("paused.duration", std::to_string(paused.wave.duration));
        add("paused.reason", paused.reason);
    }
    return {{"version", version}, {"payload", release.commit}, {"metadata", std::move(metadata)}};
}

ordered_json conditional(const std::string& from, const std::string& to, const std::string& name,
                         const std::string& message, ordered_json rule) {
    return {{"edges", ordered_json::array({{{"from", from}, {"to", to}}})},
            {"risks",
             ordered_json::array({{{"url", ""},
                                   {"name", name},
                                   {"message", message},
                                   {"matchingRules", ordered_json::array({std::move(rule)})}}})}};
}

ordered_json conditional_edges(const RolloutPlan& plan,
                               const std::map<std::string, std::string>& versions) {
    ordered_json list = mapped(plan.barred, [&](const BarredJump& jump) {
        return conditional(versions.at(jump.from), versions.at(jump.to), "Barred", jump.reason,
                           {{"type", "Always"}});
    });
    for (const PlanEdge& edge : plan.edges) {
        for (const LostGpus& lost : edge.lost) {
            // Clients that do not know a kind of rule do not take the edge.
            ordered_json devices =
                mapped(lost.ids, [](const std::string& id) { return "10de:" + id; });
            list.push_back(conditional(versions.at(edge.from), versions.at(edge.to), "LostGpu",
                                       lost.reason,
                                       {{"type", "PciDevice"}, {"devices", std::move(devices)}}));
        }
    }
    return list;
}

/// Reads the texts of a node's metadata.
class NodeReader {
public:
    NodeReader(const nlohmann::json& metadata, std::string shown)
        : metadata_(metadata), shown_(std::move(shown)) {}

    [[nodiscard]] std::optional<std::string> text(const std::string& key) const {
        const auto found = metadata_.find(key);
        if (found == metadata_.end()) {
            return std::nullopt;
        }
        return plain_text(found->get_ref<const std::string&>());
    }

    [[nodiscard]] std::int64_t number(const std::string& key) const {
        const std::string digits = text(key).value_or("0");
        std::int64_t value = 0;
        const auto [end, code] =
            std::from_chars(digits.data(), digits.data() + digits.size(), value);
        if (code != std::errc() || end != digits.data() + digits.size() || value < 0 ||
            value > largest_number) {
            throw error("{}: {} is no number of a plan", shown_, key);
        }
        return value;
    }

    void read(PlannedRelease& release) const {
        const auto own_text = [&](const char* key) {
            return text(own_keys + std::string(key)).value_or("");
        };
        release.facts = {number("edgegpu.time"), own_text("architecture"), own_text("microshift"),
                         own_text("nvidia-driver")};
        release.reason = own_text("reason");
        release.aborted = text("edgegpu.aborted");
        if (text(std::string(fedora_keys) + "updates.barrier")) {
            release.barrier =
                text(std::string(fedora_keys) + "updates.barrier_reason").value_or("");
        }
        if (text("edgegpu.paused.at")) {
            release.paused =
                PausedWave{{number("edgegpu.paused.start"), number("edgegpu.paused.share"),
                            number("edgegpu.paused.duration")},
                           number("edgegpu.paused.at"),
                           own_text("paused.reason")};
            if (release.paused->wave.share > whole_share) {
                throw error("{}: edgegpu.paused.share is above 1000000", shown_);
            }
        }
    }

private:
    const nlohmann::json& metadata_;
    std::string shown_;
};

}  // namespace

std::string graph_text(const RolloutPlan& plan) {
    const std::map<std::string, std::string> versions = node_versions(plan);
    std::map<std::string, std::size_t> places;
    ordered_json nodes = ordered_json::array();
    for (const PlannedRelease& release : plan.releases) {
        places[release.commit] = nodes.size();
        nodes.push_back(node_of(release, versions.at(release.commit)));
    }
    ordered_json edges = ordered_json::array();
    for (const PlanEdge& edge : plan.edges) {
        if (edge.lost.empty()) {
            edges.push_back({places.at(edge.from), places.at(edge.to)});
        }
    }
    const ordered_json document{{"version", 1},
                                {"nodes", std::move(nodes)},
                                {"edges", std::move(edges)},
                                {"conditionalEdges", conditional_edges(plan, versions)}};
    return document.dump(1, ' ', true, ordered_json::error_handler_t::replace) + '\n';
}

void add_graph(RolloutPlan& plan, std::string_view text, const std::string& shown) {
    try {
        const nlohmann::json document = nlohmann::json::parse(text);
        std::size_t found = 0;
        for (const nlohmann::json& node : document.at("nodes")) {
            const std::string payload = node.at("payload").get<std::string>();
            PlannedRelease* release = plan.find(payload);
            if (release == nullptr) {
                throw error("{}: has commit {}, which the plan has not", shown, payload);
            }
            NodeReader(node.at("metadata"), fmt::format("{}: {}", shown, payload)).read(*release);
            ++found;
        }
        if (found != plan.releases.size()) {
            throw error("{}: does not have the commits of the plan", shown);
        }
    } catch (const nlohmann::json::exception& failure) {
        throw error("{}: is no graph of a plan: {}", shown, failure.what());
    }
}

}  // namespace edgegpu
