#include "installer/settings.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "support/error.hpp"
#include "support/handles.hpp"
#include "support/shell_text.hpp"
#include "support/text.hpp"

namespace edgegpu {

namespace {

const Partition& root_of(const Disk& disk) {
    const auto found = std::find_if(disk.partitions.begin(), disk.partitions.end(),
                                    [](const Partition& one) { return one.name == "root"; });
    if (found == disk.partitions.end()) {
        throw Error("the disk of the installer has no root partition");
    }
    return *found;
}

la_ssize_t append_cpio(struct archive* /*writer*/, void* out, const void* bytes,
                       std::size_t size) noexcept {
    try {
        static_cast<std::string*>(out)->append(static_cast<const char*>(bytes), size);
    } catch (const std::bad_alloc&) {
        return -1;
    }
    return static_cast<la_ssize_t>(size);
}

/// All directories above the paths, those above others first.
std::set<std::string> directories_above(const std::map<std::string, InitramfsFile>& files) {
    std::set<std::string> directories;
    for (const auto& [path, file] : files) {
        for (std::size_t at = path.find('/'); at != std::string::npos;
             at = path.find('/', at + 1)) {
            directories.insert(path.substr(0, at));
        }
    }
    return directories;
}

}  // namespace

std::map<std::string, std::string> installer_files(const InstallerSettings& settings,
                                                   const Disk& disk, const TargetRule& rule) {
    const Partition& root = root_of(disk);
    const std::vector<std::pair<std::string_view, std::string>> values{
        {"NAME", settings.title},
        {"LABEL", settings.label},
        {"DISK", settings.disk_file},
        {"DISK_SIZE", std::to_string(disk.size)},
        {"ROOT_OFFSET", std::to_string(root.offset)},
        {"ROOT_SIZE", std::to_string(root.size)},
        {"DEPLOYMENT", fmt::format("ostree/deploy/{}/deploy/{}.0", disk.stateroot, disk.commit)},
        {"STATEROOT", disk.stateroot},
        {"COMMIT", disk.commit},
        {"REMOTE", settings.remote},
        {"DIGEST", settings.digest},
        {"RULE", rule.text}};
    std::string text;
    for (const auto& [name, value] : values) {
        text += fmt::format("{}={}\n", name, shell_word(value));
    }
    return {{"edgegpu/settings", text}, {"edgegpu/rule", target_rule_lines(rule)}};
}

std::string make_cpio(const std::map<std::string, InitramfsFile>& files) {
    const Handle<archive, archive_write_free> writer(archive_write_new());
    const auto check = [&](la_ssize_t status) {
        if (status < ARCHIVE_OK) {
            throw error("cannot write an initramfs: {}",
                        text_of(archive_error_string(writer.get())));
        }
    };
    std::string out;
    check(archive_write_set_format_cpio_newc(writer.get()));
    check(archive_write_set_bytes_in_last_block(writer.get(), 1));
    check(archive_write_open(writer.get(), &out, nullptr, append_cpio, nullptr));
    std::int64_t inode = 0;
    const auto add = [&](const std::string& path, mode_t mode, std::string_view content) {
        const Handle<archive_entry, archive_entry_free> entry(archive_entry_new());
        archive_entry_set_pathname(entry.get(), path.c_str());
        archive_entry_set_mode(entry.get(), mode);
        archive_entry_set_nlink(entry.get(), 1);
        archive_entry_set_ino64(entry.get(), ++inode);
        archive_entry_set_mtime(entry.get(), 0, 0);
        archive_entry_set_size(entry.get(), static_cast<la_int64_t>(content.size()));
        check(archive_write_header(writer.get(), entry.get()));
        check(archive_write_data(writer.get(), content.data(), content.size()));
    };
    for (const std::string& directory : directories_above(files)) {
        add(directory, S_IFDIR | 0755, {});
    }
    for (const auto& [path, file] : files) {
        add(path, S_IFREG | (file.executable ? 0755 : 0644), file.content);
    }
    check(archive_write_close(writer.get()));
    return out;
}

}  // namespace edgegpu
