#pragma once

#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

namespace edgegpu::test {

/// One member of a ustar archive, exactly as told, however hostile.
struct TarPart {
    std::string name = {};
    /// '0' file, '1' hard link, '2' symbolic link, '3' character device, '5' directory, '6' fifo
    char type = '0';
    std::string content = {};
    std::string link = {};
    unsigned mode = 0644;
    /// what the header says, where that is not the content's size
    std::string size = {};
    /// the owner's bytes in the header, where they are not 4242
    std::string uid = {};
};

inline std::string tar_member(const TarPart& part) {
    std::string header(512, '\0');
    const auto set = [&](std::size_t at, std::string_view text) {
        std::memcpy(header.data() + at, text.data(), text.size());
    };
    const auto octal = [](unsigned long long value, int width) {
        char text[32];
        std::snprintf(text, sizeof text, "%0*llo", width, value);
        return std::string(text);
    };
    set(0, part.name);
    set(100, octal(part.mode, 7));
    set(108, part.uid.empty() ? octal(4242, 7) : part.uid);
    set(116, octal(4242, 7));
    set(124, part.size.empty() ? octal(part.content.size(), 11) : part.size);
    set(136, octal(1700000000, 11));
    set(156, std::string(1, part.type));
    set(157, part.link);
    set(257, std::string_view("ustar\00000", 8));
    set(329, octal(1, 7));
    set(337, octal(3, 7));
    set(148, "        ");
    unsigned sum = 0;
    for (const char c : header) {
        sum += static_cast<unsigned char>(c);
    }
    set(148, octal(sum, 6) + std::string("\0 ", 2));
    std::string padded = part.content;
    padded.resize((padded.size() + 511) / 512 * 512, '\0');
    return header + padded;
}

/// A record of a pax header ("path", "SCHILY.xattr.…"), which is about the next member.
inline TarPart pax_header(std::string_view key, std::string_view value) {
    const std::size_t rest = 3 + key.size() + value.size();
    std::size_t size = rest + 1;
    while (std::to_string(size).size() + rest != size) {
        ++size;
    }
    return {
        .name = "pax",
        .type = 'x',
        .content = std::to_string(size) + ' ' + std::string(key) + '=' + std::string(value) + '\n'};
}

inline std::string tar_archive(std::initializer_list<TarPart> parts) {
    std::string text;
    for (const TarPart& part : parts) {
        text += tar_member(part);
    }
    return text + std::string(1024, '\0');
}

}  // namespace edgegpu::test
