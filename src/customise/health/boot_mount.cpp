#include "customise/health/boot_mount.hpp"

#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "support/text/text.hpp"

namespace edgegpu {

namespace {

/// Options of a mount, and the file that has them.
struct MountOptions {
    std::string file;
    std::string options;
};

std::optional<std::string> text_of(const Tree& tree, std::string_view path) {
    const Entry* const entry = find_entry(tree, path);
    if (entry == nullptr || entry->type != EntryType::file) {
        return std::nullopt;
    }
    return read_entry(tree, path);
}

/// `Options=` of [Mount]; nothing without one.
std::optional<std::string> options_in(std::string_view unit) {
    std::optional<std::string> options;
    bool in_mount = false;
    for (const std::string_view raw : lines_of(unit)) {
        const std::string_view line = trim(raw);
        if (line.starts_with('[')) {
            in_mount = line == "[Mount]";
        }
        const std::size_t equals = line.find('=');
        if (in_mount && equals != std::string_view::npos &&
            trim(line.substr(0, equals)) == "Options") {
            options = trim(line.substr(equals + 1));
        }
    }
    return options;
}

std::optional<std::string> options_in_fstab(std::string_view fstab) {
    for (const std::string_view line : lines_of(fstab)) {
        const std::vector<std::string_view> words = words_of(line);
        if (words.size() >= 2 && !words[0].starts_with('#') && words[1] == "/boot") {
            return words.size() >= 4 ? std::string(words[3]) : std::string();
        }
    }
    return std::nullopt;
}

/// What mounts /boot: a unit of /etc, else what systemd makes of fstab, else a unit of /usr.
MountOptions boot_mount(const Tree& tree) {
    constexpr const char* etc = "/etc/systemd/system/boot.mount";
    constexpr const char* table = "/etc/fstab";
    constexpr const char* usr = "/usr/lib/systemd/system/boot.mount";
    if (const auto unit = text_of(tree, etc)) {
        return {etc, options_in(*unit).value_or("")};
    }
    if (const auto fstab = text_of(tree, table)) {
        if (auto options = options_in_fstab(*fstab)) {
            return {table, std::move(*options)};
        }
    }
    return {usr, options_in(text_of(tree, usr).value_or("")).value_or("")};
}

/// Drop-ins of boot.mount by name: one of /etc hides that of the same name in /usr.
std::map<std::string, std::string> boot_drop_ins(const Tree& tree) {
    std::map<std::string, std::string> found;
    for (const std::string directory :
         {"/usr/lib/systemd/system/boot.mount.d/", "/etc/systemd/system/boot.mount.d/"}) {
        for (const auto& [path, entry] : entries_below(tree.entries, directory)) {
            if (path.ends_with(".conf")) {
                found[path.substr(directory.size())] = path;
            }
        }
    }
    return found;
}

/// The last of "ro" and "rw" counts.
bool is_read_only(std::string_view options) {
    bool read_only = false;
    for (const std::string_view option : split(options, ',')) {
        read_only = option == "ro" || (read_only && option != "rw");
    }
    return read_only;
}

}  // namespace

std::string read_only_boot_mount(const Tree& tree) {
    MountOptions mount = boot_mount(tree);
    for (const auto& [name, path] : boot_drop_ins(tree)) {
        if (auto options = options_in(text_of(tree, path).value_or(""))) {
            mount = {path, std::move(*options)};
        }
    }
    return is_read_only(mount.options) ? mount.file : "";
}

}  // namespace edgegpu
