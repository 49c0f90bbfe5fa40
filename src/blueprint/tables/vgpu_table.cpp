#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "blueprint/tables/tables.hpp"
#include "blueprint/toml/validate.hpp"
#include "support/source_location.hpp"

namespace edgegpu {

namespace {

constexpr std::int64_t largest_port = 65535;
/// NVIDIA's licensing guide: a week.
constexpr std::int64_t longest_interval = 10080;

std::optional<unsigned> read_unsigned(const TableReader& table, std::string_view key,
                                      std::int64_t minimum, std::int64_t maximum) {
    const std::optional<std::int64_t> value = table.integer(key, minimum, maximum);
    return value ? std::optional(static_cast<unsigned>(*value)) : std::nullopt;
}

/// A host name or an address: gridd.conf has one setting a line, without quotes.
std::string read_server(const TableReader& table, std::string_view key) {
    std::string server = table.string(key);
    if (!server.empty() && !is_plain_name(server, "_.-:")) {
        table.note(error_at(table, key, "\"{}\" must be a host name or an address: \"{}\"",
                            table.full_name(key), server)
                       .hinted("without a scheme; the port is a key of its own"));
    }
    return server;
}

/// Notes keys that say nothing without the address of a server.
void require_server(const TableReader& table, std::string_view address, const std::string& server,
                    std::string_view key) {
    if (table.has(key) && server.empty()) {
        table.note(error_at(table, key, "\"{}\" without {}", table.full_name(key), address)
                       .hinted("remove it: servers that give out tokens are named in the token"));
    }
}

std::string read_token_directory(const TableReader& table) {
    constexpr std::string_view key = "ClientConfigTokenPath";
    std::string path = table.string(key);
    table.attempt([&] {
        if (path.empty()) {
            return;
        }
        require_absolute_path(table.location(key), table.full_name(key), path);
        if (!is_plain_name(path, "/_.-")) {
            throw error_at(table, key,
                           "\"{}\" must be a path of letters, digits, '_', '.' and '-': \"{}\"",
                           table.full_name(key), path);
        }
        if (!path.starts_with("/etc/") && !path.starts_with("/var/")) {
            throw error_at(table, key, "{} is neither in /etc nor in /var", path)
                .hinted("the token is each machine's own, and the rest of a device is read-only");
        }
    });
    return path;
}

}  // namespace

VgpuRequest read_vgpu(const TableReader& table) {
    VgpuRequest vgpu;
    vgpu.location = table.location();
    vgpu.server_address = read_server(table, "ServerAddress");
    vgpu.server_port = read_unsigned(table, "ServerPort", 1, largest_port);
    vgpu.backup_server_address = read_server(table, "BackupServerAddress");
    vgpu.backup_server_port = read_unsigned(table, "BackupServerPort", 1, largest_port);
    require_server(table, "ServerAddress", vgpu.server_address, "ServerPort");
    require_server(table, "ServerAddress", vgpu.server_address, "BackupServerAddress");
    require_server(table, "BackupServerAddress", vgpu.backup_server_address, "BackupServerPort");
    vgpu.feature_type = read_unsigned(table, "FeatureType", 0, 4);
    if (vgpu.feature_type == 3U) {
        table.note(error_at(table, "FeatureType", "\"{}\" must be 0, 1, 2 or 4, not 3",
                            table.full_name("FeatureType"))
                       .hinted("0: no licence, 1: vGPU, 2: RTX virtual workstation, 4: compute"));
    }
    if (table.has("EnableUI")) {
        vgpu.enable_ui = table.boolean("EnableUI", false);
    }
    vgpu.license_interval = read_unsigned(table, "LicenseInterval", 10, longest_interval);
    vgpu.linger_interval = read_unsigned(table, "LingerInterval", 0, longest_interval);
    vgpu.token_directory = read_token_directory(table);
    if (!vgpu.token_directory.empty() && !vgpu.needs_token()) {
        table.note(error_at(table, "ClientConfigTokenPath", "no token is used with {}",
                            vgpu.server_address.empty() ? "FeatureType = 0" : "ServerAddress")
                       .hinted("a licence comes either by a token or from ServerAddress"));
    }
    table.finish();
    return vgpu;
}

}  // namespace edgegpu
