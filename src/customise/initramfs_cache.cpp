#include "customise/initramfs_cache.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "customise/initramfs_accounts.hpp"
#include "customise/mentioned_names.hpp"
#include "support/digest.hpp"
#include "support/error.hpp"
#include "support/file.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

/// Counted by content. A prefix: "/etc/dracut.conf" stands for "/etc/dracut.conf.d/…" too.
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

/// Counted by name: dracut lists these directories.
constexpr std::array<std::string_view, 6> listed{
    "/usr/lib/udev/",           "/usr/lib/kbd/",
    "/usr/share/keymaps/",      "/usr/share/consolefonts/",
    "/usr/share/consoletrans/", "/usr/share/unimaps/"};

/// Counted by name, where dracut speaks of that name.
constexpr std::array<std::string_view, 5> looked_into{"/usr/bin/", "/usr/sbin/", "/usr/libexec/",
                                                      "/usr/lib/", "/usr/lib64/"};

/// Scripts are smaller than that.
constexpr std::uint64_t largest_script = 1U << 20U;

template <typename Function>
void each_with_prefix(const Entries& entries, std::string_view prefix, Function function) {
    for (auto at = entries.lower_bound(prefix);
         at != entries.end() && at->first.starts_with(prefix); ++at) {
        function(at->first, at->second);
    }
}

/// Made again by depmod, dracut or ldconfig inside the image.
bool is_generated(std::string_view path) {
    return path == "/etc/ld.so.cache" || path.ends_with("/initramfs.img");
}

/// The interpreter of a script, "/usr/bin/sh"; empty for everything else.
std::string interpreter_of(const Tree& tree, const std::string& path) {
    const Entry* entry = find_entry(tree, path);
    if (entry == nullptr || entry->type != EntryType::file || (entry->mode & 0111U) == 0 ||
        entry->size > largest_script) {
        return {};
    }
    const std::string text = read_entry(tree, path);
    if (!text.starts_with("#!")) {
        return {};
    }
    const std::size_t begin = std::min(text.find_first_not_of(" \t", 2), text.size());
    return text.substr(begin, std::min(text.find_first_of(" \t\n", begin), text.size()) - begin);
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
    const auto add = [&](const std::string& path, const Entry& entry) {
        if (!is_generated(path)) {
            key.update_field(path);
            key.update_field(entry.digest);
            key.update_field(entry.target);
        }
    };
    each_with_prefix(tree.entries, "/usr/lib/modules/" + tree.kernel + "/", add);
    for (const std::string_view prefix : deciding_files) {
        each_with_prefix(tree.entries, prefix, add);
    }
    for (const std::string_view prefix : listed) {
        each_with_prefix(tree.entries, prefix,
                         [&](const std::string& path, const Entry&) { key.update_field(path); });
    }
    const MentionedNames mentioned = names_of_dracut(tree);
    for (const std::string_view prefix : looked_into) {
        each_with_prefix(tree.entries, prefix, [&](const std::string& path, const Entry&) {
            if (mentioned.contains(path)) {
                key.update_field(path);
            }
        });
    }
    return key.hex();
}

InitramfsCache::InitramfsCache(const Context& ctx, const Tree& tree, std::string_view extra)
    : tree_(tree), directory_(ctx.cache / "initramfs" / initramfs_key(tree, extra)) {}

std::optional<fs::path> InitramfsCache::find() const {
    std::error_code code;
    std::vector<fs::path> manifests;
    for (const fs::directory_entry& entry : fs::directory_iterator(directory_, code)) {
        if (entry.path().extension() == ".manifest") {
            manifests.push_back(entry.path());
        }
    }
    std::sort(manifests.begin(), manifests.end());
    for (const fs::path& manifest : manifests) {
        fs::path image = manifest;
        image.replace_extension(".img");
        const std::string text = read_file(manifest);
        bool same = fs::exists(image);
        // Lines "DESCRIPTION\tPATH"; the path last, and no path of an initramfs has a newline.
        for (std::size_t at = 0; same && at < text.size();) {
            const std::size_t end = std::min(text.find('\n', at), text.size());
            const std::string line = text.substr(at, end - at);
            const std::size_t tab = line.find('\t');
            same = tab != std::string::npos &&
                   describe_input(tree_, line.substr(tab + 1)) == line.substr(0, tab);
            at = end + 1;
        }
        if (same) {
            return image;
        }
    }
    return std::nullopt;
}

fs::path InitramfsCache::store(std::string_view image,
                               const std::vector<std::string>& paths) const {
    std::string manifest;
    std::set<std::string> interpreters;
    for (const std::string& path : paths) {
        const std::string input = describe_input(tree_, path);
        if (input != "-" && input != "directory" && !is_generated(path) &&
            !path.starts_with("/usr/lib/modules/") && path.find('\n') == std::string::npos) {
            manifest += fmt::format("{}\t{}\n", input, path);
            interpreters.insert(interpreter_of(tree_, path));
        }
    }
    // dracut copies the interpreter of a script; one that is not there may come.
    for (const std::string& path : interpreters) {
        if (path.starts_with('/') && describe_input(tree_, path) == "-") {
            manifest += fmt::format("-\t{}\n", path);
        }
    }
    make_directories(directory_);
    const std::string name = sha256_hex(manifest);
    const fs::path kept = directory_ / (name + ".img");
    write_file(kept, image);
    // Last: an image without its manifest is never looked at.
    write_file(directory_ / (name + ".manifest"), manifest);
    return kept;
}

}  // namespace edgegpu
