#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

namespace edgegpu {

/// What a fleet runs: checksum of a commit → number of devices. Commits that fewer than one device
/// in a hundred has are not worth a delta.
struct FleetVersions {
    /// for messages: the file
    std::string origin;
    std::map<std::string, std::uint64_t> devices;

    [[nodiscard]] std::uint64_t all() const;
    /// Whether enough devices have the commit for a delta from it.
    [[nodiscard]] bool is_worth_a_delta(const std::string& commit) const;
};

/// Reads {"CHECKSUM": DEVICES, …}, JSON. Throws ErrorKind::usage naming the file, and the member,
/// for anything else, and for a document without devices.
[[nodiscard]] FleetVersions read_fleet_versions(const std::filesystem::path& file);

}  // namespace edgegpu
