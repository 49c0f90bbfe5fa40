#include "customise/health/boot_mount.hpp"

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "customise/health/systemd_settings.hpp"
#include "support/text/systemd_setting.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

/// Options of a mount, and the file that has them.
struct MountOptions {
    std::string file;
    std::string options;
};

/// `Options=` of a unit; nothing without one.
std::optional<std::string> options_in(const Tree& tree, std::string_view path) {
    return last_setting(text_of_file(tree, path).value_or(""), "Mount", "Options");
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
    if (text_of_file(tree, etc)) {
        return {etc, options_in(tree, etc).value_or("")};
    }
    if (const auto fstab = text_of_file(tree, table)) {
        if (auto options = options_in_fstab(*fstab)) {
            return {table, std::move(*options)};
        }
    }
    return {usr, options_in(tree, usr).value_or("")};
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
    for (const auto& [name, path] : drop_ins_of(tree, "system/boot.mount")) {
        if (auto options = options_in(tree, path)) {
            mount = {path, std::move(*options)};
        }
    }
    return is_read_only(mount.options) ? mount.file : "";
}

}  // namespace edgegpu
