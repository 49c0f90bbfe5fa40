#include "customise/system/locale.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "blueprint/toml/toml_reader.hpp"
#include "image/account_files.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

constexpr std::string_view zones = "/usr/share/zoneinfo/";
constexpr std::string_view locales = "/usr/lib/locale/";
constexpr std::array<std::string_view, 3> keymap_directories{
    "/usr/lib/kbd/keymaps/", "/usr/share/kbd/keymaps/", "/usr/share/keymaps/"};

/// "en_US.UTF-8@x" as glibc names its directory: "en_US.utf8@x".
std::string normal_locale(std::string_view name) {
    const std::size_t dot = name.find('.');
    if (dot == std::string_view::npos) {
        return std::string(name);
    }
    const std::size_t at = std::min(name.find('@', dot), name.size());
    std::string normal(name.substr(0, dot + 1));
    for (const char c : name.substr(dot + 1, at - dot - 1)) {
        if (c >= 'A' && c <= 'Z') {
            normal += static_cast<char>(c - 'A' + 'a');
        } else if (c != '-' && c != '_' && c != '.') {
            normal += c;
        }
    }
    return normal + std::string(name.substr(at));
}

/// Whether a file contains `text`. Reads it in pieces: an archive of all locales has 220 MB.
bool contains(const std::filesystem::path& file, const std::string& text) {
    std::ifstream input(file, std::ios::binary);
    constexpr std::size_t piece = 1U << 22U;
    std::string window;
    std::string buffer(piece, '\0');
    while (input) {
        input.read(buffer.data(), static_cast<std::streamsize>(piece));
        window.append(buffer, 0, static_cast<std::size_t>(input.gcount()));
        if (window.find(text) != std::string::npos) {
            return true;
        }
        // The text may continue in the next piece.
        window.erase(0, window.size() - std::min(window.size(), text.size()));
    }
    return false;
}

/// Whether an archive of locales has a locale of this name (names end with a NUL): locale-archive,
/// or one of the files (locale-archive.tmpl, …) from which scriptlets generate it.
bool archive_has(const Tree& tree, const std::string& locale) {
    const std::string archives = std::string(locales) + "locale-archive";
    return std::ranges::any_of(entries_with_prefix(tree.entries, archives), [&](const auto& at) {
        return at.second.type == EntryType::file && contains(at.second.content, locale + '\0');
    });
}

/// Whether locale.alias has this name ("french"), the first word of a line.
bool is_alias(const Tree& tree, const std::string& locale) {
    const std::string path = "/usr/share/locale/locale.alias";
    const Entry* entry = find_entry(tree, path);
    if (entry == nullptr || entry->type != EntryType::file) {
        return false;
    }
    const std::string text = read_entry(tree, path);
    return std::ranges::any_of(lines_of(text), [&](std::string_view line) {
        return line.substr(0, line.find_first_of(" \t")) == locale;
    });
}

void check_language(const SourceLocation& location, const Tree& tree, const std::string& language) {
    const std::string normal = normal_locale(language);
    if (normal == "C" || normal == "POSIX" || normal == "C.utf8") {
        return;
    }
    for (const std::string& name : {language, normal}) {
        if (find_entry(tree, std::string(locales) + name) != nullptr) {
            return;
        }
    }
    if (archive_has(tree, normal) || is_alias(tree, language)) {
        return;
    }
    std::vector<std::string> names;
    for (const auto& [path, entry] : entries_below(tree.entries, locales)) {
        const std::string name = path.substr(locales.size());
        if (entry.type == EntryType::directory && name.find('/') == std::string::npos) {
            names.push_back(name);
        }
    }
    const std::vector<std::string> near = nearest_names(normal, names);
    const std::string package = "add the package glibc-langpack-" +
                                language.substr(0, language.find_first_of("_.@")) +
                                " or glibc-all-langpacks";
    throw error_at(location, "the image has no locale '{}'", language)
        .hinted(near.empty() ? package
                             : fmt::format("did you mean '{}'? Or {}", near.front(), package));
}

/// "i386/qwerty/us.map.gz" → "us"; empty for files that are no keymaps.
std::string keymap_name(std::string_view path) {
    std::string_view name = path.substr(path.rfind('/') + 1);  // npos + 1 is 0
    for (const std::string_view packed : {".gz", ".xz", ".bz2", ".zst"}) {
        if (name.ends_with(packed)) {
            name.remove_suffix(packed.size());
            break;
        }
    }
    constexpr std::string_view extension = ".map";
    if (!name.ends_with(extension)) {
        return {};
    }
    return std::string(name.substr(0, name.size() - extension.size()));
}

void check_keyboard(const LocaleRequest& locale, const Tree& tree) {
    if (locale.keyboard == "us") {
        return;
    }
    std::vector<std::string> names;
    for (const std::string_view directory : keymap_directories) {
        for (const auto& [path, entry] : entries_below(tree.entries, directory)) {
            std::string name = keymap_name(path);
            if (entry.type != EntryType::directory && !name.empty()) {
                names.push_back(std::move(name));
            }
        }
    }
    if (std::ranges::find(names, locale.keyboard) != names.end()) {
        return;
    }
    throw error_at(locale.location, "the image has no keyboard layout '{}'", locale.keyboard)
        .hinted(names.empty() ? "add the packages kbd and kbd-misc"
                              : near_names_hint(locale.keyboard, names));
}

/// Whether a path is a time zone, or a link to another name of one. Beside the zones are lists of
/// them ("tzdata.zi", "zone.tab"); with one of these a device has UTC, and says nothing.
bool is_zone(const Tree& tree, const std::string& path) {
    const Entry* entry = find_entry(tree, path);
    // The first bytes of the format, RFC 8536.
    return entry != nullptr &&
           (entry->type == EntryType::symlink ||
            (entry->type == EntryType::file && read_entry(tree, path).starts_with("TZif")));
}

}  // namespace

void check_timezone(const TimezoneRequest& timezone, const Tree& tree) {
    if (timezone.name.empty()) {
        return;
    }
    if (timezone.name.find("..") == std::string::npos &&
        is_zone(tree, std::string(zones) + timezone.name)) {
        return;
    }
    std::vector<std::string> names;
    for (const auto& [path, entry] : entries_below(tree.entries, zones)) {
        if (is_zone(tree, path)) {
            names.push_back(path.substr(zones.size()));
        }
    }
    throw error_at(timezone.location, "the image has no time zone '{}'", timezone.name)
        .hinted(names.empty() ? "add the package tzdata" : near_names_hint(timezone.name, names));
}

void check_locale(const LocaleRequest& locale, const Tree& tree) {
    for (const std::string& language : locale.languages) {
        check_language(locale.location, tree, language);
    }
    if (!locale.keyboard.empty()) {
        check_keyboard(locale, tree);
    }
}

}  // namespace edgegpu
