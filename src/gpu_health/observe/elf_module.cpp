#include "gpu_health/observe/elf_module.hpp"

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <stdexcept>

#include "gpu_health/observe/der.hpp"
#include "support/text/text.hpp"

namespace edgegpu::gpu_health {

namespace {

/// MODULE_SIG_STRING of the kernel, at the end of each signed module; before it `struct
/// module_signature` (include/linux/module_signature.h): 8 bytes, of which the third is 2 for
/// PKCS#7, and the size of the message, big endian; before that the message.
constexpr std::string_view signature_mark = "~Module signature appended~\n";
constexpr std::size_t trailer_size = 12;

[[noreturn]] void refuse_module(const char* why) {
    throw std::runtime_error(why);
}

template <typename T>
T elf_value(std::string_view content, std::uint64_t offset) {
    if (offset > content.size() || content.size() - offset < sizeof(T)) {
        refuse_module("it is not whole");
    }
    T value;
    std::memcpy(&value, content.data() + offset, sizeof(T));
    return value;
}

std::string_view elf_bytes(std::string_view content, const Elf64_Shdr& section) {
    if (section.sh_type == SHT_NOBITS || section.sh_offset > content.size() ||
        content.size() - section.sh_offset < section.sh_size) {
        refuse_module("it is not whole");
    }
    return content.substr(section.sh_offset, section.sh_size);
}

std::string_view section_called(std::string_view content, std::string_view name) {
    if (!content.starts_with(std::string_view(ELFMAG, SELFMAG))) {
        refuse_module("it is no kernel module");
    }
    const auto header = elf_value<Elf64_Ehdr>(content, 0);
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
        header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shstrndx >= header.e_shnum ||
        header.e_shoff > content.size()) {
        refuse_module("it is no kernel module of 64 bits, or is not whole");
    }
    const auto section = [&](std::size_t index) {
        return elf_value<Elf64_Shdr>(content, header.e_shoff + index * sizeof(Elf64_Shdr));
    };
    const std::string_view names = elf_bytes(content, section(header.e_shstrndx));
    for (std::size_t i = 1; i < header.e_shnum; ++i) {
        const Elf64_Shdr one = section(i);
        if (one.sh_name >= names.size()) {
            continue;
        }
        const std::string_view title = names.substr(one.sh_name);
        if (title.substr(0, title.find('\0')) == name) {
            return elf_bytes(content, one);
        }
    }
    refuse_module("it is no kernel module: it has no .modinfo");
}

void read_end(std::string_view content, ModuleText& module) {
    if (!content.ends_with(signature_mark)) {
        return;
    }
    module.is_signed = true;
    content.remove_suffix(signature_mark.size());
    if (content.size() < trailer_size) {
        return;
    }
    const std::string_view trailer = content.substr(content.size() - trailer_size);
    content.remove_suffix(trailer_size);
    std::size_t size = 0;
    for (const char byte : trailer.substr(8)) {
        size = size << 8U | static_cast<unsigned char>(byte);
    }
    if (trailer[2] != 2 || size > content.size()) {
        return;
    }
    if (const auto signer = signer_of(content.substr(content.size() - size))) {
        module.signer = signer->name;
        module.key_id = signer->key_id;
    }
}

}  // namespace

std::string ModuleText::value(const std::string& key) const {
    const auto found = values.find(key);
    return found == values.end() ? "" : found->second;
}

ModuleText read_elf_module(std::string_view content) {
    ModuleText module;
    std::string_view rest = section_called(content, ".modinfo");
    while (!rest.empty()) {
        const std::string_view entry = rest.substr(0, rest.find('\0'));
        rest.remove_prefix(std::min(entry.size() + 1, rest.size()));
        if (const std::size_t equals = entry.find('='); equals != std::string_view::npos) {
            module.values.try_emplace(std::string(entry.substr(0, equals)),
                                      trim_end(entry.substr(equals + 1)));
        }
    }
    read_end(content, module);
    return module;
}

}  // namespace edgegpu::gpu_health
