#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <elf.h>

namespace edgegpu::test {

/// The smallest file that is a kernel module: a header, sections and their table.
class ModuleFile {
public:
    explicit ModuleFile(const std::string& modinfo) {
        add({});
        sections_.back().sh_type = SHT_NULL;
        add(modinfo, ".modinfo");
    }

    /// A symbol that it takes from others, as modpost records it.
    ModuleFile& imports(const std::string& symbol, std::uint64_t version) {
        versions_.append(reinterpret_cast<const char*>(&version), sizeof version);
        versions_ += symbol + std::string(56 - symbol.size(), '\0');
        return undefined(symbol, STB_GLOBAL);
    }
    /// An undefined symbol without version.
    ModuleFile& undefined(const std::string& symbol, unsigned char binding) {
        Elf64_Sym entry{};
        entry.st_name = static_cast<Elf64_Word>(strings_.size());
        entry.st_info = ELF64_ST_INFO(binding, STT_NOTYPE);
        strings_ += symbol + '\0';
        symbols_.append(reinterpret_cast<const char*>(&entry), sizeof entry);
        return *this;
    }
    ModuleFile& exports(const std::string& symbol) {
        exports_ += symbol + '\0';
        return *this;
    }

    [[nodiscard]] std::string content() {
        if (!versions_.empty()) {
            add(versions_, "__versions");
        }
        if (!exports_.empty()) {
            add(exports_, "__ksymtab_strings");
        }
        if (!symbols_.empty()) {
            add(symbols_, ".symtab");
            sections_.back().sh_type = SHT_SYMTAB;
            sections_.back().sh_link = static_cast<Elf64_Word>(sections_.size());
            add(strings_, ".strtab");
        }
        names_ += ".shstrtab";
        names_ += '\0';
        add(names_);
        sections_.back().sh_name = static_cast<Elf64_Word>(names_.size() - sizeof ".shstrtab");
        Elf64_Ehdr header{};
        std::memcpy(header.e_ident, ELFMAG, SELFMAG);
        header.e_ident[EI_CLASS] = ELFCLASS64;
        header.e_ident[EI_DATA] = ELFDATA2LSB;
        header.e_type = ET_REL;
        header.e_shentsize = sizeof(Elf64_Shdr);
        header.e_shnum = static_cast<Elf64_Half>(sections_.size());
        header.e_shstrndx = static_cast<Elf64_Half>(sections_.size() - 1);
        header.e_shoff = sizeof header + data_.size();
        std::string out(reinterpret_cast<const char*>(&header), sizeof header);
        out += data_;
        for (const Elf64_Shdr& section : sections_) {
            out.append(reinterpret_cast<const char*>(&section), sizeof section);
        }
        return out;
    }

private:
    void add(const std::string& content, std::string_view name = {}) {
        Elf64_Shdr section{};
        section.sh_type = SHT_PROGBITS;
        if (!name.empty()) {
            section.sh_name = static_cast<Elf64_Word>(names_.size());
            names_ += name;
            names_ += '\0';
        }
        section.sh_offset = sizeof(Elf64_Ehdr) + data_.size();
        section.sh_size = content.size();
        data_ += content;
        sections_.push_back(section);
    }

    std::string data_;
    std::string names_ = std::string(1, '\0');
    std::string versions_;
    std::string exports_;
    std::string strings_ = std::string(1, '\0');
    std::string symbols_ = std::string(sizeof(Elf64_Sym), '\0');
    std::vector<Elf64_Shdr> sections_;
};

inline std::string make_module(const std::string& modinfo) {
    return ModuleFile(modinfo).content();
}

}  // namespace edgegpu::test
