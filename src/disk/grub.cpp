#include "disk/grub.hpp"

#include <string>

#include <fmt/format.h>

#include "embedded_grub.hpp"
#include "support/shell_text.hpp"
#include "support/text.hpp"

namespace edgegpu {

namespace {

/// More boots than greenboot's GREENBOOT_MAX_BOOT_ATTEMPTS will ever be.
constexpr int most_boots = 20;

/// Decrements boot_counter with commands that every GRUB has.
std::string count_down() {
    std::string text;
    for (int count = 1; count <= most_boots; ++count) {
        text +=
            fmt::format("  elif [ \"$boot_counter\" = \"{}\" ]; then\n    set boot_counter={}\n",
                        count, count - 1);
    }
    text.pop_back();
    return text;
}

/// A word of a command line as GRUB's shell takes it literally. ostree's own generator does not
/// quote; plain words look the same.
std::string grub_word(std::string_view word) {
    if (word.find_first_of("$;|&{}<>\\'#") == std::string_view::npos) {
        return std::string(word);
    }
    std::string quoted = "'";
    for (const char character : word) {
        if (character == '\'') {
            quoted += "'\\''";
        } else {
            quoted += character;
        }
    }
    return quoted + '\'';
}

std::string continue_at(std::string_view boot_uuid) {
    return fmt::format(
        "search --no-floppy --fs-uuid --set=root {}\n"
        "set prefix=($root)/grub2\n"
        "export prefix\n",
        boot_uuid);
}

}  // namespace

std::string esp_grub_cfg(std::string_view boot_uuid) {
    return continue_at(boot_uuid) + "configfile $prefix/grub.cfg\n";
}

std::string core_grub_cfg(std::string_view boot_uuid) {
    // The core image goes on with `normal`, which reads $prefix/grub.cfg.
    return fmt::format("search.fs_uuid {} root\nset prefix=($root)/grub2\n", boot_uuid);
}

std::string boot_grub_cfg(std::string_view boot_uuid, bool blscfg) {
    const std::string_view entries =
        blscfg ? embedded::grub_entries_blscfg_cfg : embedded::grub_entries_generated_cfg;
    return fill_in(embedded::grub_cfg, {{"BOOT_UUID", std::string(boot_uuid)},
                                        {"ENTRIES", std::string(trim_end(entries))},
                                        {"COUNTS", count_down()}});
}

std::string grub_environment() {
    std::string text = "# GRUB Environment Block\nboot_success=0\n";
    text.resize(grub_environment_size, '#');
    return text;
}

std::string loader_grub_cfg(const GrubEntry& entry, std::string_view boot_uuid) {
    std::string options;
    for (const std::string& argument : entry.arguments) {
        options += ' ' + grub_word(argument);
    }
    std::string text = fmt::format(
        "menuentry {} --class gnu-linux --class gnu --class os --unrestricted 'ostree-0-{}' {{\n"
        "load_video\n"
        "set gfxpayload=keep\n"
        "insmod gzio\n"
        "search --no-floppy --fs-uuid --set=root {}\n"
        "linux {}{}\n",
        shell_word(entry.title), boot_uuid, boot_uuid, entry.linux, options);
    if (!entry.initrd.empty()) {
        text += fmt::format("initrd {}\n", entry.initrd);
    }
    return text + "}\n";
}

}  // namespace edgegpu
