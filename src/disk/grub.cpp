#include "disk/grub.hpp"

#include <algorithm>
#include <cctype>
#include <string>

#include <fmt/format.h>

#include "embedded_grub.hpp"
#include "support/error.hpp"
#include "support/ranges.hpp"
#include "support/text/shell_text.hpp"
#include "support/text/text.hpp"

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

/// An argument without the quotes by which the kernel keeps its blanks (next_arg of Linux's
/// lib/cmdline.c): those around it, or around its value.
std::string unquoted(std::string argument) {
    const std::size_t equals = argument.find('=');
    const std::size_t value = equals == std::string::npos ? 0 : equals + 1;
    for (const std::size_t begin : {std::size_t{0}, value}) {
        if (argument.size() >= begin + 2 && argument[begin] == '"' && argument.back() == '"') {
            argument.pop_back();
            argument.erase(begin, 1);
            break;
        }
    }
    return argument;
}

/// Whether GRUB puts a backslash before a character of the word. RHEL's passes \x20 as it is.
bool is_escaped(std::string_view word) {
    for (std::size_t at = 0; at < word.size(); ++at) {
        if (word[at] == '\\' && word.size() - at >= 4 && word[at + 1] == 'x' &&
            std::isxdigit(static_cast<unsigned char>(word[at + 2])) != 0 &&
            std::isxdigit(static_cast<unsigned char>(word[at + 3])) != 0) {
            at += 3;
        } else if (word[at] == '"' || word[at] == '\'' || word[at] == '\\') {
            return true;
        }
    }
    return false;
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

std::string grub_argument(const std::string& argument) {
    const std::string word = unquoted(argument);
    if (is_escaped(word)) {
        throw error(ErrorKind::usage,
                    "GRUB cannot pass the kernel argument {}: it puts a backslash before each \\, "
                    "' and \" inside",
                    argument)
            .hinted("quotes can be around all of an argument or its value: name=\"a b\"");
    }
    const auto plain = [](unsigned char c) {
        return std::isalnum(c) != 0 ||
               std::string_view("_-+.,:/=@%").find(static_cast<char>(c)) != std::string_view::npos;
    };
    return std::ranges::all_of(word, plain) ? word : shell_word(word);
}

std::string loader_grub_cfg(const GrubEntry& entry, std::string_view boot_uuid) {
    const std::string options = sum_of(
        entry.arguments, [](const std::string& argument) { return ' ' + grub_argument(argument); });
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
