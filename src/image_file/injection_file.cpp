#include "image_file/injection_file.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <fmt/format.h>

#include "blueprint/customizations/ssh_key.hpp"
#include "blueprint/sources/path_modes.hpp"
#include "blueprint/tables/ownership.hpp"
#include "blueprint/toml/toml_depth.hpp"
#include "blueprint/toml/toml_reader.hpp"
#include "blueprint/toml/validate.hpp"
#include "image/account_files.hpp"
#include "image_file/licence_token.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/source_location.hpp"
#include "support/text/deployed_path.hpp"

namespace edgegpu {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t injection_file_limit = 1U << 20U;
constexpr std::uint64_t injected_content_limit = 64U << 20U;
constexpr std::uint64_t accounts_limit = 1U << 20U;

Injected injected_file(std::string path, std::string content, unsigned mode) {
    Injected file;
    file.path = std::move(path);
    file.content = std::move(content);
    file.mode = mode;
    return file;
}

/// An account of the image.
struct Account {
    std::string home;
    std::uint32_t uid = 0;
    std::uint32_t gid = 0;
};

std::optional<Account> find_account(const CommitView& commit, std::string_view name) {
    constexpr std::size_t passwd_fields = 7;
    // The device's /etc begins as /usr/etc; nss-altfiles adds those of /usr/lib.
    for (const std::string_view path : {"/usr/etc/passwd", "/usr/lib/passwd"}) {
        const AccountFile accounts =
            parse_accounts(commit.read(path, accounts_limit).value_or(std::string()));
        const AccountFile::Row* row = accounts.find(name);
        if (row != nullptr && row->size() == passwd_fields) {
            AccountFile::Row ids = *row;
            Account account;
            account.uid = account_id(ids);
            std::swap(ids[2], ids[3]);
            account.gid = account_id(ids);
            account.home = (*row)[5];
            return account;
        }
    }
    return std::nullopt;
}

void read_user_key(const TableReader& table, const CommitView& commit, Injection& injection) {
    const std::string user = table.required_string("user");
    const std::string key = table.required_string("key");
    table.finish();
    const KeyFault fault = ssh_key_fault(key);
    if (!fault.reason.empty()) {
        throw error_at(table.location("key"), "\"{}\": {}", table.full_name("key"), fault.reason)
            .hinted(fault.hint);
    }
    const std::optional<Account> account = find_account(commit, user);
    if (!account) {
        throw error_at(table.location("user"), "the image has no user \"{}\"", user)
            .hinted("users are made by the blueprint: [[customizations.user]]");
    }
    const std::string home = deployed_path(account->home);
    if (!home.starts_with("/var/")) {
        throw error_at(table.location("user"), "the home directory of {}, {}, is not in /var", user,
                       account->home);
    }
    const std::string path = home + "/.ssh/authorized_keys";
    const auto earlier = std::ranges::find(injection, path, &Injected::path);
    if (earlier != injection.end()) {
        earlier->content += key + '\n';
        return;
    }
    for (const std::string& directory : {home, home + "/.ssh"}) {
        Injected made;
        made.type = Injected::Type::directory;
        made.path = directory;
        made.mode = 0700;
        made.uid = account->uid;
        made.gid = account->gid;
        injection.push_back(std::move(made));
    }
    Injected file = injected_file(path, key + '\n', 0600);
    file.uid = account->uid;
    file.gid = account->gid;
    injection.push_back(std::move(file));
}

/// 4, 6, or 0 if `text` is no address.
int address_family(const std::string& text) {
    std::array<unsigned char, 16> bytes{};
    if (::inet_pton(AF_INET, text.c_str(), bytes.data()) == 1) {
        return 4;
    }
    return ::inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1 ? 6 : 0;
}

/// The family of "ADDRESS/PREFIX", or 0.
int prefixed_family(const std::string& text) {
    const std::size_t slash = text.find('/');
    if (slash == std::string::npos) {
        return 0;
    }
    const int family = address_family(text.substr(0, slash));
    const std::string_view digits = std::string_view(text).substr(slash + 1);
    const bool number = !digits.empty() && digits.size() <= 3 &&
                        digits.find_first_not_of("0123456789") == std::string_view::npos;
    return number && std::stoi(std::string(digits)) <= (family == 4 ? 32 : 128) ? family : 0;
}

/// `[network]`, checked.
struct StaticNetwork {
    std::string interface;
    /// "192.0.2.7/24"
    std::vector<std::string> addresses;
    /// may be empty
    std::string gateway;
    std::vector<std::string> dns;
};

/// Throws for a gateway or a name server that nothing could reach: of a family without an address.
void require_families(const TableReader& table, const StaticNetwork& network) {
    const auto require = [&](std::string_view key, const std::string& address) {
        const int family = address_family(address);
        if (std::ranges::none_of(network.addresses, [&](const std::string& own) {
                return prefixed_family(own) == family;
            })) {
            throw error_at(table.location(key), "\"{}\" {}: the interface has no address of IPv{}",
                           table.full_name(key), address, family)
                .hinted("add one to \"address\", or remove it");
        }
    };
    if (!network.gateway.empty()) {
        require("gateway", network.gateway);
    }
    for (const std::string& server : network.dns) {
        require("dns", server);
    }
}

StaticNetwork read_static_network(const TableReader& table) {
    StaticNetwork network;
    network.interface = table.required_string("interface");
    // IFNAMSIZ, with the final zero.
    if (!is_plain_name(network.interface, "_.-") || network.interface.size() > 15) {
        throw error_at(table.location("interface"), "invalid interface name \"{}\"",
                       network.interface);
    }
    for (const LocatedString& address : table.string_or_strings("address")) {
        if (prefixed_family(address.value) == 0) {
            throw error_at(address.location, "\"{}\" is not an address with prefix, such as {}",
                           address.value, "192.0.2.7/24");
        }
        network.addresses.push_back(address.value);
    }
    if (network.addresses.empty()) {
        throw error_at(table.location(), "\"{}\" is missing", table.full_name("address"));
    }
    network.gateway = table.string("gateway");
    if (!network.gateway.empty() && address_family(network.gateway) == 0) {
        throw error_at(table.location("gateway"), "\"{}\" is not an address", network.gateway);
    }
    for (const LocatedString& server : table.string_or_strings("dns")) {
        if (address_family(server.value) == 0) {
            throw error_at(server.location, "\"{}\" is not an address", server.value);
        }
        network.dns.push_back(server.value);
    }
    table.finish();
    require_families(table, network);
    return network;
}

enum class NetworkProgram { manager, networkd };

/// NetworkManager's keyfile, nm-settings-keyfile(5).
std::string keyfile_of(const StaticNetwork& network) {
    std::string text =
        fmt::format("[connection]\nid={0}\ntype=ethernet\ninterface-name={0}\nautoconnect=true\n",
                    network.interface);
    for (const int family : {4, 6}) {
        text += fmt::format("\n[ipv{}]\n", family);
        std::size_t count = 0;
        for (const std::string& address : network.addresses) {
            if (prefixed_family(address) == family) {
                text += fmt::format("address{}={}\n", ++count, address);
            }
        }
        if (count > 0 && address_family(network.gateway) == family) {
            text += fmt::format("gateway={}\n", network.gateway);
        }
        std::string servers;
        for (const std::string& server : network.dns) {
            if (address_family(server) == family) {
                servers += server + ';';
            }
        }
        if (count > 0 && !servers.empty()) {
            text += fmt::format("dns={}\n", servers);
        }
        text += count > 0 ? "method=manual\n" : family == 4 ? "method=disabled\n" : "method=auto\n";
    }
    return text;
}

/// systemd.network(5).
std::string networkd_file_of(const StaticNetwork& network) {
    std::string text = fmt::format("[Match]\nName={}\n\n[Network]\nDHCP=no\n", network.interface);
    for (const std::string& address : network.addresses) {
        text += fmt::format("Address={}\n", address);
    }
    if (!network.gateway.empty()) {
        text += fmt::format("Gateway={}\n", network.gateway);
    }
    for (const std::string& server : network.dns) {
        text += fmt::format("DNS={}\n", server);
    }
    return text;
}

/// Whether a target or another unit of the image wants this one, and it is not masked.
bool starts(const CommitView& commit, const std::string& unit) {
    for (const std::string top :
         {"/usr/etc/systemd/system", "/etc/systemd/system", "/usr/lib/systemd/system"}) {
        const std::optional<CommitNode> directory = commit.find(top);
        if (!directory) {
            continue;
        }
        if (const auto file = commit.describe(top + '/' + unit);
            file && file->target == "/dev/null") {
            return false;
        }
        for (const auto& [name, node] : commit.list(*directory, top)) {
            const bool links = name.ends_with(".wants") || name.ends_with(".requires");
            if (node.directory && links && commit.list(node, top + '/' + name).contains(unit)) {
                return true;
            }
        }
    }
    return false;
}

/// Which of the programs that configure networks starts with the image. Throws Error at the table
/// if none does: the file would be there, and the machine have no network.
NetworkProgram network_program(const TableReader& table, const CommitView& commit) {
    const bool manager =
        commit.find("/usr/sbin/NetworkManager") || commit.find("/usr/bin/NetworkManager");
    const bool networkd = commit.find("/usr/lib/systemd/systemd-networkd").has_value();
    if (manager && starts(commit, "NetworkManager.service")) {
        return NetworkProgram::manager;
    }
    if (networkd &&
        (starts(commit, "systemd-networkd.service") || starts(commit, "systemd-networkd.socket"))) {
        return NetworkProgram::networkd;
    }
    if (!manager && !networkd) {
        throw error_at(table.location(),
                       "the image has neither NetworkManager nor systemd-networkd for \"network\"");
    }
    const char* unit = manager ? "NetworkManager.service" : "systemd-networkd.service";
    throw error_at(table.location(),
                   "nothing would read \"network\": the image has {}, and nothing starts it", unit)
        .hinted(fmt::format(
            "enable it in the blueprint: [customizations.services] enabled = [\"{}\"]", unit));
}

void add_network(const TableReader& table, const CommitView& commit, Injection& injection) {
    const StaticNetwork network = read_static_network(table);
    if (network_program(table, commit) == NetworkProgram::manager) {
        // Readable for others, NetworkManager refuses it.
        injection.push_back(
            injected_file(fmt::format("/etc/NetworkManager/system-connections/{}.nmconnection",
                                      network.interface),
                          keyfile_of(network), 0600));
    } else {
        injection.push_back(
            injected_file(fmt::format("/etc/systemd/network/10-{}.network", network.interface),
                          networkd_file_of(network), 0644));
    }
}

void read_injected_file(const TableReader& table, const fs::path& base, Injection& injection) {
    const std::optional<unsigned> mode = read_mode(table);
    const std::string data = table.text("data");
    const std::string source = table.string("source");
    const std::string path = table.required_string("path");
    table.finish();
    const SourceLocation at = table.location("path");
    require_absolute_path(at, table.full_name("path"), path);
    if (!path.starts_with("/etc/") && !path.starts_with("/var/")) {
        throw error_at(at, "{} is neither in /etc nor in /var", path)
            .hinted("everything else belongs to the commit: put it into the blueprint");
    }
    if (path == "/etc/fstab") {
        throw error_at(at, "{} is written with the file systems of the disk", path)
            .hinted(
                "[[customizations.filesystem]] or [customizations.disk] in the blueprint for "
                "others, or a mount unit in /etc/systemd/system");
    }
    if (table.has("data") == table.has("source")) {
        throw error_at(table.location(), "give either \"data\" or \"source\" for {}", path);
    }
    if (std::ranges::find(injection, path, &Injected::path) != injection.end()) {
        throw error_at(at, "{} is there already", path);
    }
    std::string content = data;
    if (table.has("source")) {
        try {
            content = read_file(fs::absolute(base) / source, injected_content_limit);
        } catch (Error& failure) {
            throw error_at(table.location("source"), "{}", failure.message());
        }
    }
    injection.push_back(
        injected_file(path, std::move(content), mode.value_or(usual_mode(path, false, false))));
}

void read_injection(const TableReader& table, const fs::path& base, const CommitView& commit,
                    Injection& injection) {
    const std::string hostname = table.string("hostname");
    if (!hostname.empty()) {
        table.attempt([&] {
            require_hostname(table.location("hostname"), hostname);
            injection.push_back(injected_file("/etc/hostname", hostname + '\n', 0644));
        });
    }
    for (const TableReader& key : table.tables("user_keys")) {
        key.attempt([&] { read_user_key(key, commit, injection); });
    }
    if (const std::optional<TableReader> network = table.table("network")) {
        network->attempt([&] { add_network(*network, commit, injection); });
    }
    if (const std::optional<TableReader> nvidia = table.table("nvidia")) {
        nvidia->attempt([&] { injection.push_back(read_licence_token(*nvidia, base, commit)); });
    }
    for (const TableReader& file : table.tables("files")) {
        file.attempt([&] { read_injected_file(file, base, injection); });
    }
    table.finish();
}

}  // namespace

Injection read_injection_file(const fs::path& file, const CommitView& commit) {
    const std::string name = file.string();
    const std::string text = read_file(file, injection_file_limit);
    require_shallow_toml(name, text);
    Mistakes mistakes;
    Injection injection;
    mistakes.attempt([&] {
        read_injection(TableReader::parse(name, text, mistakes), file.parent_path(), commit,
                       injection);
    });
    mistakes.throw_any(name);
    return injection;
}

}  // namespace edgegpu
