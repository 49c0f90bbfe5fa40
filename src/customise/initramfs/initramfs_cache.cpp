#include "customise/initramfs/initramfs_cache.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "cache/store.hpp"
#include "customise/initramfs/initramfs_accounts.hpp"
#include "customise/initramfs/mentioned_names.hpp"
#include "image/account_files.hpp"
#include "image/content.hpp"
#include "image/kept_entries.hpp"
#include "support/digest.hpp"
#include "support/error.hpp"
#include "support/text.hpp"

namespace edgegpu {

namespace {

/// Prefixes of paths that are in the key with their content: "/etc/dracut.conf" includes
/// "/etc/dracut.conf.d/…".
constexpr std::array<std::string_view, 25> deciding_files{"/etc/adjtime",
                                                          "/etc/cmdline",
                                                          "/etc/crypttab",
                                                          "/etc/dracut.conf",
                                                          "/etc/fstab",
                                                          "/etc/iscsi",
                                                          "/etc/ld.so.conf",
                                                          "/etc/locale.conf",
                                                          "/etc/lvm",
                                                          "/etc/mdadm",
                                                          "/etc/modprobe.d",
                                                          "/etc/modules-load.d",
                                                          "/etc/multipath",
                                                          "/etc/nvme",
                                                          "/etc/sysctl.",
                                                          "/etc/udev",
                                                          "/etc/vconsole.conf",
                                                          "/usr/bin/dracut",
                                                          "/usr/bin/lsinitrd",
                                                          "/usr/lib/dracut",
                                                          "/usr/lib/firmware",
                                                          "/usr/lib/modprobe.d",
                                                          "/usr/lib/ostree",
                                                          "/usr/sbin/dracut",
                                                          "/usr/lib/modules-load.d"};

/// Prefixes of paths that are in the key by name only: dracut lists these directories.
constexpr std::array<std::string_view, 6> listed{
    "/usr/lib/udev/",           "/usr/lib/kbd/",
    "/usr/share/keymaps/",      "/usr/share/consolefonts/",
    "/usr/share/consoletrans/", "/usr/share/unimaps/"};

/// Prefixes of paths that are in the key by name only, if dracut's scripts mention that name.
constexpr std::array<std::string_view, 5> looked_into{"/usr/bin/", "/usr/sbin/", "/usr/libexec/",
                                                      "/usr/lib/", "/usr/lib64/"};

/// Larger files are not scripts.
constexpr std::uint64_t longest_script = 1U << 20U;

/// Whether ldconfig or dracut generates the file, so that it is no input.
bool is_generated(std::string_view path) {
    return path == "/etc/ld.so.cache" || path.ends_with("/initramfs.img");
}

/// The interpreter of a script ("/usr/bin/sh"); empty for other files.
std::string interpreter_of(const Tree& tree, const std::string& path) {
    const Entry* entry = find_entry(tree, path);
    if (entry == nullptr || entry->type != EntryType::file || (entry->mode & 0111U) == 0 ||
        entry->size > longest_script) {
        return {};
    }
    const std::string text = read_entry(tree, path);
    if (!text.starts_with("#!")) {
        return {};
    }
    const std::size_t begin = std::min(text.find_first_not_of(" \t", 2), text.size());
    return text.substr(begin, std::min(text.find_first_of(" \t\n", begin), text.size()) - begin);
}

constexpr StoreKind kept_initramfs{"initramfs", 3, EntryKind::initramfs};
/// Name of a file of the entry: lines "DESCRIPTION\tPATH" (describe_input) of everything in the
/// initramfs that the tree has as well; paths with a newline are left out.
constexpr const char* inputs_name = "inputs";
constexpr const char* image_name = "image";

/// Whether all files that an initramfs was made of are the same in the tree.
bool has_inputs(const Tree& tree, std::string_view inputs) {
    for (const std::string_view part : lines_of(inputs)) {
        const std::string line(part);
        const std::size_t tab = line.find('\t');
        if (tab == std::string::npos ||
            describe_input(tree, line.substr(tab + 1)) != line.substr(0, tab)) {
            return false;
        }
    }
    return true;
}

}  // namespace

std::string describe_input(const Tree& tree, const std::string& path) {
    if (is_account_file(path)) {
        return "accounts " + sha256_hex(system_accounts(tree, path));
    }
    const auto found = tree.entries.find(path);
    std::string text;
    if (found != tree.entries.end() && found->second.type == EntryType::symlink) {
        text = fmt::format("link {} ", found->second.target);
    }
    const Entry* entry = find_entry(tree, path);
    if (entry == nullptr) {
        return text + "-";
    }
    if (entry->type == EntryType::directory) {
        return text + "directory";
    }
    return text + fmt::format("file {:o} {}", entry->mode, entry->digest);
}

std::string initramfs_key(const Tree& tree, std::string_view extra) {
    Sha256 key;
    key.update_field("edgegpu initramfs 3");
    key.update_field(extra);
    key.update_field(tree.kernel);
    const auto add = [&](const EntryRange& entries) {
        for (const auto& [path, entry] : entries) {
            if (!is_generated(path)) {
                key.update_field(path);
                key.update_field(entry.digest);
                key.update_field(entry.target);
            }
        }
    };
    add(entries_below(tree.entries, "/usr/lib/modules/" + tree.kernel));
    for (const std::string_view prefix : deciding_files) {
        add(entries_with_prefix(tree.entries, prefix));
    }
    for (const std::string_view prefix : listed) {
        for (const auto& [path, entry] : entries_with_prefix(tree.entries, prefix)) {
            key.update_field(path);
        }
    }
    const MentionedNames mentioned = names_of_dracut(tree);
    for (const std::string_view prefix : looked_into) {
        for (const auto& [path, entry] : entries_with_prefix(tree.entries, prefix)) {
            if (mentioned.contains(path)) {
                key.update_field(path);
            }
        }
    }
    return key.hex();
}

InitramfsCache::InitramfsCache(const Context& ctx, const Tree& tree, std::string_view extra)
    : ctx_(ctx), tree_(tree), key_(initramfs_key(tree, extra)) {}

std::optional<Entry> InitramfsCache::find() const {
    for (const std::string& key : stored_keys(ctx_, kept_initramfs, key_ + "-")) {
        const std::optional<StoredEntry> kept = find_stored(ctx_, kept_initramfs, key);
        const std::string* inputs = kept ? kept->find(inputs_name) : nullptr;
        const std::string* image = kept ? kept->find(image_name) : nullptr;
        if (inputs == nullptr || image == nullptr || !has_inputs(tree_, *inputs)) {
            continue;
        }
        const std::optional<Entries> entries = parse_entries(ctx_, *image);
        if (entries && entries->size() == 1) {
            return entries->begin()->second;
        }
    }
    return std::nullopt;
}

Entry InitramfsCache::store(std::string_view image, const std::vector<std::string>& paths) const {
    std::string inputs;
    std::set<std::string> interpreters;
    for (const std::string& path : paths) {
        const std::string input = describe_input(tree_, path);
        if (input != "-" && input != "directory" && !is_generated(path) &&
            !path.starts_with("/usr/lib/modules/") && path.find('\n') == std::string::npos) {
            inputs += fmt::format("{}\t{}\n", input, path);
            interpreters.insert(interpreter_of(tree_, path));
        }
    }
    // dracut copies the interpreter of a script; one that is missing now may be added later.
    for (const std::string& path : interpreters) {
        if (path.starts_with('/') && describe_input(tree_, path) == "-") {
            inputs += fmt::format("-\t{}\n", path);
        }
    }
    Entry entry = make_file_entry(ctx_, image, 0644);
    NewEntry kept(ctx_, kept_initramfs, fmt::format("{}-{}", key_, sha256_hex(inputs)));
    kept.add(inputs_name, inputs);
    kept.add(image_name, format_entries(ctx_, {{"/initramfs.img", entry}}).value());
    kept.keep({});
    return entry;
}

}  // namespace edgegpu
