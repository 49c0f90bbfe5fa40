#pragma once

#include <cstring>
#include <string>

#include <elf.h>

namespace edgegpu::test {

/// The smallest file that is a kernel module: a header, two sections and their table.
inline std::string make_module(const std::string& modinfo) {
    const std::string names = std::string("\0.modinfo\0.shstrtab\0", 20);
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_type = ET_REL;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = 3;
    header.e_shstrndx = 2;
    header.e_shoff = sizeof header + modinfo.size() + names.size();
    Elf64_Shdr none{};
    Elf64_Shdr info{};
    info.sh_name = 1;
    info.sh_offset = sizeof header;
    info.sh_size = modinfo.size();
    Elf64_Shdr strings{};
    strings.sh_name = 10;
    strings.sh_offset = sizeof header + modinfo.size();
    strings.sh_size = names.size();
    std::string out(reinterpret_cast<const char*>(&header), sizeof header);
    out += modinfo + names;
    for (const Elf64_Shdr& section : {none, info, strings}) {
        out.append(reinterpret_cast<const char*>(&section), sizeof section);
    }
    return out;
}

}  // namespace edgegpu::test
