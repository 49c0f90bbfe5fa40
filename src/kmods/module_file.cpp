#include "kmods/module_file.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include <elf.h>
#include <fmt/format.h>
#include <openssl/bn.h>

#include "signing/module_signer.hpp"
#include "signing/openssl.hpp"
#include "support/error.hpp"
#include "support/files/decompress.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

constexpr std::size_t size_limit = 1U << 30U;

/// A value of type T at `offset`, which need not be aligned; throws if the file is too short.
template <typename T>
T read_at(std::string_view content, std::uint64_t offset, const std::string& name) {
    if (offset > content.size() || content.size() - offset < sizeof(T)) {
        throw error("{}: the kernel module is truncated", name);
    }
    T value;
    std::memcpy(&value, content.data() + offset, sizeof(T));
    return value;
}

std::string_view until_nul(std::string_view text) {
    return text.substr(0, text.find('\0'));
}

std::string_view bytes_at(std::string_view content, std::uint64_t offset, std::uint64_t size,
                          const std::string& name) {
    if (offset > content.size() || content.size() - offset < size) {
        throw error("{}: the kernel module is truncated", name);
    }
    return content.substr(offset, size);
}

struct Section {
    std::string_view title;
    Elf64_Shdr header{};
};

std::vector<Section> read_sections(std::string_view content, const std::string& name) {
    const auto header = read_at<Elf64_Ehdr>(content, 0, name);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
        header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shstrndx >= header.e_shnum) {
        throw error("{}: not a kernel module", name);
    }
    if (header.e_shoff > content.size()) {
        throw error("{}: the kernel module is truncated", name);
    }
    std::vector<Section> sections(header.e_shnum);
    for (std::size_t i = 0; i < sections.size(); ++i) {
        sections[i].header =
            read_at<Elf64_Shdr>(content, header.e_shoff + i * sizeof(Elf64_Shdr), name);
    }
    const Elf64_Shdr names = sections[header.e_shstrndx].header;
    const std::string_view strings = bytes_at(content, names.sh_offset, names.sh_size, name);
    for (Section& section : sections) {
        if (section.header.sh_name >= strings.size()) {
            throw error("{}: the kernel module's section names are damaged", name);
        }
        section.title = until_nul(strings.substr(section.header.sh_name));
    }
    return sections;
}

/// The bytes of the section; nothing if there is none.
std::optional<std::string_view> find_section(std::string_view content,
                                             const std::vector<Section>& sections,
                                             std::string_view title, const std::string& name) {
    for (const Section& section : sections) {
        if (section.title == title) {
            return bytes_at(content, section.header.sh_offset, section.header.sh_size, name);
        }
    }
    return std::nullopt;
}

/// Calls `take` for every string of a section of strings that end with a NUL byte.
template <typename Take>
void for_each_string(std::string_view strings, const Take& take) {
    while (!strings.empty()) {
        const std::string_view line = until_nul(strings);
        strings.remove_prefix(std::min(line.size() + 1, strings.size()));
        if (!line.empty()) {
            take(line);
        }
    }
}

/// Undefined symbols of the symbol table: name → whether it is weak.
std::map<std::string, bool> read_undefined(std::string_view content,
                                           const std::vector<Section>& sections,
                                           const std::string& name) {
    std::map<std::string, bool> undefined;
    for (const Section& section : sections) {
        if (section.header.sh_type != SHT_SYMTAB) {
            continue;
        }
        if (section.header.sh_link >= sections.size()) {
            throw error("{}: the kernel module's symbol table is damaged", name);
        }
        const Elf64_Shdr& names = sections[section.header.sh_link].header;
        const std::string_view strings = bytes_at(content, names.sh_offset, names.sh_size, name);
        const std::string_view table =
            bytes_at(content, section.header.sh_offset, section.header.sh_size, name);
        for (std::size_t at = 0; at + sizeof(Elf64_Sym) <= table.size(); at += sizeof(Elf64_Sym)) {
            const auto symbol = read_at<Elf64_Sym>(table, at, name);
            if (symbol.st_name >= strings.size()) {
                throw error("{}: the kernel module's symbol table is damaged", name);
            }
            const std::string_view title = until_nul(strings.substr(symbol.st_name));
            // The linker's own, which the kernel ignores, too.
            const bool ignored = title.empty() || title == "_GLOBAL_OFFSET_TABLE_";
            if (symbol.st_shndx == SHN_UNDEF && !ignored) {
                undefined[std::string(title)] = ELF64_ST_BIND(symbol.st_info) == STB_WEAK;
            }
        }
    }
    return undefined;
}

/// symbol → version
std::map<std::string, std::uint32_t> read_versions(std::string_view section,
                                                   const std::string& name) {
    struct Version {
        std::uint64_t checksum;
        std::array<char, 56> symbol;
    };
    static_assert(sizeof(Version) == 64);
    std::map<std::string, std::uint32_t> versions;
    for (std::size_t at = 0; at + sizeof(Version) <= section.size(); at += sizeof(Version)) {
        const auto version = read_at<Version>(section, at, name);
        const std::string_view symbol = until_nul({version.symbol.data(), version.symbol.size()});
        if (!symbol.empty()) {
            versions[std::string(symbol)] = static_cast<std::uint32_t>(version.checksum);
        }
    }
    return versions;
}

std::string issuer_text(X509_NAME* issuer) {
    const BioHandle bio(BIO_new(BIO_s_mem()));
    if (!bio || X509_NAME_print_ex(
                    bio.get(), issuer, 0,
                    XN_FLAG_RFC2253 & ~static_cast<unsigned long>(ASN1_STRFLGS_ESC_MSB)) < 0) {
        return {};
    }
    char* data = nullptr;
    const long size = BIO_get_mem_data(bio.get(), &data);
    return {data, static_cast<std::size_t>(std::max(size, 0L))};
}

CmsHandle parse_message(std::string_view message) {
    const auto* at = reinterpret_cast<const unsigned char*>(message.data());
    return CmsHandle(d2i_CMS_ContentInfo(nullptr, &at, static_cast<long>(message.size())));
}

/// The one signer of a message, or null.
CMS_SignerInfo* only_signer(CMS_ContentInfo* message) {
    STACK_OF(CMS_SignerInfo)* signers = CMS_get0_SignerInfos(message);
    return sk_CMS_SignerInfo_num(signers) == 1 ? sk_CMS_SignerInfo_value(signers, 0) : nullptr;
}

void name_signer(ModuleSignature& signature, const std::string& name) {
    const CmsHandle message = parse_message(signature.message);
    CMS_SignerInfo* signer = message ? only_signer(message.get()) : nullptr;
    if (signer == nullptr) {
        throw error("{}: the signature at its end is not a PKCS#7 message with one signer", name);
    }
    ASN1_OCTET_STRING* key = nullptr;
    X509_NAME* issuer = nullptr;
    ASN1_INTEGER* serial = nullptr;
    CMS_SignerInfo_get0_signer_id(signer, &key, &issuer, &serial);
    const ASN1_STRING* id = key != nullptr ? key : serial;
    if (id != nullptr) {
        signature.key_id =
            upper_hexadecimal({reinterpret_cast<const char*>(ASN1_STRING_get0_data(id)),
                               static_cast<std::size_t>(ASN1_STRING_length(id))});
    }
    if (issuer != nullptr) {
        signature.signer = issuer_text(issuer);
    }
}

std::optional<ModuleSignature> read_signature(std::string_view content, const std::string& name) {
    if (!content.ends_with(signature_marker)) {
        return std::nullopt;
    }
    content.remove_suffix(signature_marker.size());
    if (content.size() < sizeof(SignatureTrailer)) {
        throw error("{}: the signature at its end is truncated", name);
    }
    const auto trailer =
        read_at<SignatureTrailer>(content, content.size() - sizeof(SignatureTrailer), name);
    content.remove_suffix(sizeof(SignatureTrailer));
    const std::size_t size = (std::size_t{trailer.size[0]} << 24U) |
                             (std::size_t{trailer.size[1]} << 16U) |
                             (std::size_t{trailer.size[2]} << 8U) | trailer.size[3];
    if (trailer.id_type != SignatureTrailer::pkcs7 || size > content.size()) {
        throw error("{}: the signature at its end is malformed", name);
    }
    ModuleSignature signature;
    signature.signed_size = content.size() - size;
    signature.message = content.substr(signature.signed_size);
    name_signer(signature, name);
    return signature;
}

}  // namespace

std::string ModuleSignature::text() const {
    return signer.empty() ? "key " + key_id : fmt::format("{}, key {}", signer, key_id);
}

std::string ModuleInfo::value(const std::string& key) const {
    const auto found = values.find(key);
    return found == values.end() ? "" : found->second;
}

std::string ModuleInfo::kernel() const {
    const std::string magic = value("vermagic");
    return magic.substr(0, magic.find(' '));
}

std::string unpack_module(std::string content, const std::string& name) {
    if (content.starts_with(std::string_view(ELFMAG, SELFMAG))) {
        return content;
    }
    content = decompress(content, size_limit, name);
    if (!content.starts_with(std::string_view(ELFMAG, SELFMAG))) {
        throw error("{}: not a kernel module", name);
    }
    return content;
}

ModuleInfo read_module(std::string_view content, const std::string& name) {
    const std::vector<Section> sections = read_sections(content, name);
    const auto section = [&](std::string_view title) {
        return find_section(content, sections, title, name);
    };
    const auto modinfo = section(".modinfo");
    if (!modinfo) {
        throw error("{}: not a kernel module: it has no .modinfo", name);
    }
    ModuleInfo info;
    for_each_string(*modinfo, [&](std::string_view line) {
        if (const std::size_t equals = line.find('='); equals != std::string_view::npos) {
            info.values.try_emplace(std::string(line.substr(0, equals)), line.substr(equals + 1));
        }
    });
    for (const auto& [symbol, version] : read_versions(section("__versions").value_or(""), name)) {
        info.imports[symbol] = version;
    }
    for (const auto& [symbol, weak] : read_undefined(content, sections, name)) {
        if (weak) {
            info.imports.erase(symbol);
        } else {
            info.imports.try_emplace(symbol);
        }
    }
    for_each_string(section("__ksymtab_strings").value_or(""),
                    [&](std::string_view symbol) { info.exports.emplace(symbol); });
    info.signature = read_signature(content, name);
    return info;
}

std::optional<bool> signature_fits(std::string_view content, const ModuleSignature& signature,
                                   std::string_view certificate) {
    const X509Handle signer = parse_certificate(certificate);
    const CmsHandle message = parse_message(signature.message);
    CMS_SignerInfo* info = message ? only_signer(message.get()) : nullptr;
    if (!signer || info == nullptr || CMS_SignerInfo_cert_cmp(info, signer.get()) != 0) {
        return std::nullopt;
    }
    CMS_SignerInfo_set1_signer_cert(info, signer.get());
    const BioHandle data = open_memory(content.substr(0, signature.signed_size));
    // The certificate chain is not verified: a device trusts what is enrolled there.
    const bool fits = CMS_verify(message.get(), nullptr, nullptr, data.get(), nullptr,
                                 CMS_BINARY | CMS_NO_SIGNER_CERT_VERIFY | CMS_NOINTERN) == 1;
    if (!fits) {
        static_cast<void>(take_openssl_error());
    }
    return fits;
}

}  // namespace edgegpu
