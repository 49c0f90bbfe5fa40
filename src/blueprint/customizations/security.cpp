#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "blueprint/customizations/customizations.hpp"
#include "blueprint/toml/validate.hpp"
#include "support/handles.hpp"
#include "support/source_location.hpp"
#include "support/text/number.hpp"

namespace edgegpu {

namespace {

bool is_number(std::string_view text, unsigned smallest, unsigned largest, unsigned& value) {
    const auto number = whole_number<unsigned>(text);
    value = number.value_or(0);
    return number && value >= smallest && value <= largest;
}

/// "22", "8000-8010" (ascending), or a name of services(5).
bool is_port_or_range(std::string_view text) {
    constexpr unsigned last_port = 65535;
    if (text.find_first_not_of("0123456789-") != std::string_view::npos) {
        return is_plain_name(text, "_.+-");
    }
    const std::size_t dash = text.find('-');
    unsigned first = 0;
    unsigned last = last_port;
    return is_number(text.substr(0, dash), 1, last_port, first) &&
           (dash == std::string_view::npos ||
            (is_number(text.substr(dash + 1), 1, last_port, last) && first <= last));
}

void read_ports(const TableReader& table, FirewallRequest& firewall) {
    for (const LocatedString& port : table.strings("ports")) {
        const std::size_t colon = port.value.rfind(':');
        const std::string protocol =
            colon == std::string::npos ? std::string() : port.value.substr(colon + 1);
        const bool known =
            protocol == "tcp" || protocol == "udp" || protocol == "sctp" || protocol == "dccp";
        if (!known || !is_port_or_range(std::string_view(port.value).substr(0, colon))) {
            table.note(
                error_at(port.location, "\"{}\" is not a port of the firewall", port.value)
                    .hinted("PORT:PROTOCOL or FIRST-LAST:PROTOCOL, as in \"8000-8010:udp\"; ports "
                            "are 1 to 65535, protocols tcp, udp, sctp and dccp"));
            continue;
        }
        firewall.ports.push_back(port.value);
    }
}

bool is_address(const std::string& text) {
    const std::size_t slash = text.find('/');
    const std::string host = text.substr(0, slash);
    unsigned char parsed[sizeof(in6_addr)];
    const bool four = ::inet_pton(AF_INET, host.c_str(), parsed) == 1;
    const bool six = !four && ::inet_pton(AF_INET6, host.c_str(), parsed) == 1;
    unsigned prefix = 0;
    return (four || six) &&
           (slash == std::string::npos ||
            is_number(std::string_view(text).substr(slash + 1), 0, four ? 32 : 128, prefix));
}

bool is_hardware_address(std::string_view text) {
    bool fits = text.size() == 17;
    for (std::size_t at = 0; fits && at < text.size(); ++at) {
        fits = at % 3 == 2 ? text[at] == ':'
                           : std::string_view("0123456789abcdefABCDEF").find(text[at]) !=
                                 std::string_view::npos;
    }
    return fits;
}

void require_free_source(const LocatedString& source, const FirewallRequest& firewall) {
    const bool is_set =
        source.value.starts_with("ipset:") && is_plain_name(source.value.substr(6), "_-.:");
    if (!is_set && !is_address(source.value) && !is_hardware_address(source.value)) {
        throw error_at(source.location, "\"{}\" is not a source of a firewall zone", source.value)
            .hinted("an address, with or without prefix: \"192.168.1.0/24\", \"fd00::/8\"");
    }
    for (const auto& [other, sources] : firewall.zones) {
        if (std::ranges::find(sources, source.value) != sources.end()) {
            throw error_at(source.location, "source \"{}\" is already in firewall zone \"{}\"",
                           source.value, other);
        }
    }
}

void read_zone(const TableReader& table, FirewallRequest& firewall) {
    const std::vector<LocatedString> sources = table.strings("sources");
    table.finish({"name"});
    const std::string name = table.required_string("name");
    // firewalld's limit: zone names are part of names of iptables chains.
    constexpr std::size_t longest = 17;
    if (!is_plain_name(name, "_-") || name.size() > longest) {
        throw error_at(table, "name", "invalid firewall zone \"{}\"", name)
            .hinted("at most 17 letters, digits, '_' and '-'");
    }
    const auto [zone, fresh] = firewall.zones.emplace(name, std::vector<std::string>());
    if (!fresh) {
        throw error_at(table, "name", "duplicate firewall zone \"{}\"", name);
    }
    for (const LocatedString& source : sources) {
        table.attempt([&, &taken = zone->second] {
            require_free_source(source, firewall);
            taken.push_back(source.value);
        });
    }
}

std::vector<std::string> read_services(const TableReader& table, std::string_view key) {
    std::vector<std::string> services;
    for (const LocatedString& service : table.strings(key)) {
        if (!is_plain_name(service.value, "_.-+")) {
            table.note(
                error_at(service.location, "invalid firewall service \"{}\"", service.value));
            continue;
        }
        services.push_back(service.value);
    }
    return services;
}

/// Why a text does not consist of one or more CA certificates, or empty.
std::string certificate_fault(const std::string& text) {
    if (text.find("PRIVATE KEY") != std::string::npos) {
        return "it contains a private key";
    }
    const Handle<BIO, BIO_free> input(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
    std::size_t count = 0;
    while (true) {
        const Handle<X509, X509_free> certificate(
            PEM_read_bio_X509(input.get(), nullptr, nullptr, nullptr));
        if (!certificate) {
            const unsigned long last = ERR_peek_last_error();
            const bool ended =
                ERR_GET_LIB(last) == ERR_LIB_PEM && ERR_GET_REASON(last) == PEM_R_NO_START_LINE;
            ERR_clear_error();
            if (count > 0 && ended) {
                return {};
            }
            return ended ? "it has no PEM block \"BEGIN CERTIFICATE\"" : "the PEM block is damaged";
        }
        ++count;
        if (X509_check_ca(certificate.get()) == 0) {
            return "it is not a CA certificate (basicConstraints: CA)";
        }
    }
}

}  // namespace

void read_firewall(const TableReader& table, Blueprint& blueprint) {
    FirewallRequest firewall;
    firewall.location = table.location();
    read_ports(table, firewall);
    if (const auto services = table.table("services")) {
        firewall.enabled_services = read_services(*services, "enabled");
        firewall.disabled_services = read_services(*services, "disabled");
        for (const std::string& service : firewall.enabled_services) {
            if (std::ranges::find(firewall.disabled_services, service) !=
                firewall.disabled_services.end()) {
                table.note(error_at(*services, "disabled",
                                    "firewall service \"{}\" is both enabled and disabled",
                                    service));
            }
        }
        services->finish();
    }
    table.each_table("zones", read_zone, firewall);
    table.finish();
    blueprint.firewall = std::move(firewall);
}

void read_certificate_list(const TableReader& table, std::string_view key, Blueprint& blueprint) {
    for (const LocatedString& certificate : table.texts(key)) {
        const std::string fault = certificate_fault(certificate.value);
        if (!fault.empty()) {
            table.note(error_at(certificate.location, "\"{}\": not a CA certificate: {}",
                                table.full_name(key), fault)
                           .hinted("the text of a PEM file: -----BEGIN CERTIFICATE----- …"));
            continue;
        }
        blueprint.ca_certificates.push_back(certificate.value);
        blueprint.ca_location = table.location(key);
    }
}

void read_certificates(const TableReader& table, Blueprint& blueprint) {
    read_certificate_list(table, "pem_certs", blueprint);
    table.finish();
}

}  // namespace edgegpu
