#include "customise/system/trust.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "sandbox/image_program.hpp"
#include "support/error.hpp"
#include "support/handles.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

void free_openssl_text(char* text) noexcept {
    OPENSSL_free(text);
}

/// File name → PEM text. The name is the serial number; as two authorities may use the same, an "x"
/// is appended to that of the later one.
std::map<std::string, std::string> named_certificates(
    const std::vector<std::string>& certificates) {
    std::map<std::string, std::string> named;
    for (const std::string& pem : certificates) {
        const std::string text = pem.ends_with('\n') ? pem : pem + '\n';
        std::string name = certificate_serial(pem);
        while (named.contains(name) && named.at(name) != text) {
            name += 'x';
        }
        named.emplace(name, text);
    }
    return named;
}

/// Whether the user's files have anchors, in Red Hat's directories or SUSE's.
bool brings_anchors(const PlacedPaths& placed) {
    constexpr auto directories = std::to_array<std::string_view>(
        {"/etc/pki/ca-trust/source/", "/usr/share/pki/ca-trust-source/", "/etc/pki/trust/",
         "/usr/share/pki/trust/"});
    return std::ranges::any_of(placed, [&](const PlacedPaths::value_type& file) {
        return std::ranges::any_of(directories, [&](std::string_view directory) {
            return file.first.starts_with(directory);
        });
    });
}

/// Adds names (relative to /usr/share/ca-certificates) to the list that Debian's
/// update-ca-certificates reads.
void add_to_debian_list(const Context& ctx, Tree& tree, const std::vector<std::string>& names) {
    const char* list = "/etc/ca-certificates.conf";
    std::string text = find_entry(tree, list) != nullptr ? read_entry(tree, list) : "";
    for (const std::string& name : names) {
        if (("\n" + text).find("\n" + name + "\n") == std::string::npos) {
            text += name + '\n';
        }
    }
    put_entry(tree, list, make_file_entry(ctx, text, 0644));
}

}  // namespace

std::string certificate_serial(const std::string& pem) {
    const Handle<BIO, BIO_free> input(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
    const Handle<X509, X509_free> certificate(
        PEM_read_bio_X509(input.get(), nullptr, nullptr, nullptr));
    if (!certificate) {
        throw Error("a CA certificate is not readable");
    }
    const Handle<BIGNUM, BN_free> number(
        ASN1_INTEGER_to_BN(X509_get0_serialNumber(certificate.get()), nullptr));
    const Handle<char, free_openssl_text> text(number ? BN_bn2hex(number.get()) : nullptr);
    if (!text) {
        throw Error("a CA certificate has no serial number");
    }
    return lower_case(text.get());
}

void add_trust(const Context& ctx, const std::vector<std::string>& certificates,
               const SourceLocation& location, const PlacedPaths& placed, Tree& tree) {
    const bool anchors = brings_anchors(placed);
    if (certificates.empty() && !anchors) {
        return;
    }
    const bool red_hat = has_program(tree, "update-ca-trust");
    if (!red_hat && !has_program(tree, "update-ca-certificates")) {
        if (certificates.empty()) {
            return;  // nothing generates bundles, or what does has another name
        }
        throw error(ErrorKind::usage,
                    "{}: the image has no update-ca-trust to generate its certificate bundles",
                    location.text())
            .hinted("add the package ca-certificates");
    }
    std::vector<std::string> names;
    for (const auto& [serial, text] : named_certificates(certificates)) {
        const std::string path =
            red_hat ? fmt::format("/etc/pki/ca-trust/source/anchors/{}.pem", serial)
                    : fmt::format("/usr/share/ca-certificates/edgegpu/{}.crt", serial);
        put_entry(tree, path, make_file_entry(ctx, text, 0644));
        names.push_back(fmt::format("edgegpu/{}.crt", serial));
    }
    if (red_hat) {
        run_image_program(ctx, tree, {"update-ca-trust", "extract"});
    } else {
        if (!names.empty()) {
            add_to_debian_list(ctx, tree, names);
        }
        run_image_program(ctx, tree, {"update-ca-certificates", "--fresh"});
    }
    sync_tree(ctx, tree);
}

}  // namespace edgegpu
