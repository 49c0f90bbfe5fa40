#include "rootfs/shims.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "embedded_shims.hpp"
#include "rootfs/account_seeds.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/text/number.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

/// Paths of the image that a shim covers.
constexpr std::array<std::string_view, 34> covered{
    "/usr/sbin/semodule", "/usr/sbin/setsebool", "/usr/sbin/semanage", "/usr/sbin/load_policy",
    "/usr/sbin/restorecon", "/usr/sbin/setfiles", "/usr/sbin/fixfiles", "/usr/sbin/ldconfig",
    "/usr/bin/systemctl", "/usr/bin/udevadm", "/usr/bin/hostnamectl", "/usr/bin/timedatectl",
    "/usr/bin/localectl", "/usr/bin/loginctl", "/usr/bin/systemd-machine-id-setup",
    "/usr/bin/kernel-install", "/usr/bin/dracut", "/usr/sbin/dracut", "/usr/sbin/depmod",
    "/usr/sbin/grubby", "/usr/sbin/new-kernel-pkg", "/usr/sbin/sysctl", "/usr/bin/sysctl",
    "/usr/sbin/modprobe", "/usr/sbin/useradd", "/usr/sbin/groupadd",
    // SUSE's; with perl-Bootloader 1.0, the second and third are links to the first.
    "/usr/sbin/pbl", "/usr/sbin/update-bootloader", "/usr/lib/bootloader/bootloader_entry",
    "/usr/bin/mkinitrd", "/usr/sbin/mkinitrd", "/usr/bin/mkosi-initrd", "/usr/bin/sdbootutil",
    // It asks a package database that is not there yet (kmods/weak_updates.hpp).
    "/usr/lib/module-init-tools/weak-modules2"};

/// The programs of an image that a shim replaces.
std::vector<CoveredProgram> programs_to_cover(const Tree& tree) {
    std::vector<CoveredProgram> programs;
    if (find_entry(tree, "/bin/sh") == nullptr) {
        return programs;  // The shim is a shell script.
    }
    // With busybox, they may be links to the shell, which the shim needs itself.
    const std::string shell = resolve_in_tree(tree, "/bin/sh");
    std::set<std::string> done;
    for (const std::string_view program : covered) {
        const std::string real = resolve_in_tree(tree, program);
        const auto found = tree.entries.find(real);
        if (found != tree.entries.end() && found->second.type == EntryType::file && real != shell &&
            done.insert(real).second) {
            programs.push_back({fs::path(program).filename().string(), real});
        }
    }
    return programs;
}

Error damaged_record() {
    return Error("the record of the scriptlets' calls is damaged")
        .hinted("a scriptlet wrote to /run/edgegpu-record, which is reserved for edgegpu");
}

/// Files that the shims write; there is also the directory `kept`.
constexpr std::array<std::string_view, 4> records{"ldconfig", "grubby", "calls", "accounts"};
/// Limit for a record or a kept file: a policy module has up to some MiB, a record some KiB.
constexpr std::uint64_t most_recorded = 64U << 20U;
constexpr std::size_t most_kept = 4096;

std::vector<std::vector<std::string>> read_calls(const ImageRoot& record, const char* name) {
    return record.status(name)
               ? parse_calls(record.read(name, most_recorded, LastLink::not_followed))
               : std::vector<std::vector<std::string>>();
}

}  // namespace

Shims::Shims(const Tree& tree, const ParentAccounts& parent, const fs::path& directory)
    : record_(directory / "record") {
    make_writable_directory(record_);
    make_writable_directory(record_ / "kept");
    write_file(directory / "shim", embedded::shim, 0755);
    write_file(directory / "passwd", parent.passwd, 0644);
    write_file(directory / "group", parent.group, 0644);
    writable_.emplace_back(record_, "/run/edgegpu-record");
    if (!parent.passwd.empty() || !parent.group.empty()) {
        read_only_.emplace_back(directory / "passwd", "/run/edgegpu/parent/passwd");
        read_only_.emplace_back(directory / "group", "/run/edgegpu/parent/group");
        const std::string lines = seed_sysusers(tree, parent);
        if (!lines.empty()) {
            write_file(directory / "sysusers", lines, 0644);
            read_only_.emplace_back(directory / "sysusers", "/run/sysusers.d/00-edgegpu.conf");
        }
    }
    mounts_ = std::make_unique<ShimMounts>(directory / "shim", directory / "real",
                                           programs_to_cover(tree));
    read_only_.emplace_back(mounts_->originals(), "/run/edgegpu/real");
}

std::string Shims::record_fault() const {
    const ImageRoot record(record_);
    const std::vector<std::string> names = record.list("/");
    for (const std::string& name : names) {
        const std::optional<struct stat> found = record.status(name);
        if (name == "kept" && found && S_ISDIR(found->st_mode)) {
            continue;
        }
        if (std::ranges::find(records, name) == records.end()) {
            return "it contains something that no shim writes";
        }
        if (!found || !S_ISREG(found->st_mode)) {
            return name + " is not a regular file";
        }
        if (static_cast<std::uint64_t>(found->st_size) > most_recorded) {
            return fmt::format("{} has more than {} bytes", name, most_recorded);
        }
    }
    if (std::ranges::find(names, "kept") == names.end()) {
        return "kept is missing";
    }
    const std::vector<std::string> kept = record.list("kept");
    if (kept.size() > most_kept) {
        return fmt::format("more than {} files are kept", most_kept);
    }
    for (const std::string& name : kept) {
        const std::optional<struct stat> found = record.status("kept/" + name);
        if (!found || !S_ISREG(found->st_mode)) {
            return "something in kept is not a regular file";
        }
        if (static_cast<std::uint64_t>(found->st_size) > most_recorded) {
            return fmt::format("a file in kept has more than {} bytes", most_recorded);
        }
    }
    return {};
}

bool Shims::ldconfig_called() const {
    return ldconfig_noted_ || ImageRoot(record_).status("ldconfig").has_value();
}

std::vector<std::vector<std::string>> Shims::grubby_calls() const {
    return read_calls(ImageRoot(record_), "grubby");
}

std::vector<std::vector<std::string>> Shims::made_accounts() const {
    return read_calls(ImageRoot(record_), "accounts");
}

std::vector<std::vector<std::string>> Shims::take_policy_calls(const Context& ctx,
                                                               Tree& tree) const {
    const ImageRoot record(record_);
    std::vector<std::vector<std::string>> calls = read_calls(record, "calls");
    if (calls.empty()) {
        return calls;
    }
    for (const std::string& name : record.list("kept")) {
        const Fd file = record.open_file("kept/" + name, LastLink::not_followed);
        put_entry(tree, fmt::format("{}/{}", replay_directory, name),
                  make_file_entry_from(ctx, file.get(), name, 0644));
    }
    return calls;
}

std::vector<std::vector<std::string>> parse_calls(const std::string& text) {
    std::vector<std::vector<std::string>> calls;
    std::string_view rest(text);
    const auto next = [&rest]() {
        const std::size_t end = rest.find('\0');
        if (end == std::string_view::npos) {
            throw damaged_record();
        }
        std::string word(rest.substr(0, end));
        rest.remove_prefix(end + 1);
        return word;
    };
    while (!rest.empty()) {
        const auto count = whole_number<std::size_t>(next());
        if (!count) {
            throw damaged_record();
        }
        std::vector<std::string>& call = calls.emplace_back();
        for (std::size_t i = 0; i < *count; ++i) {
            call.push_back(next());
        }
    }
    return calls;
}

std::string format_calls(const std::vector<std::vector<std::string>>& calls) {
    std::string text;
    for (const std::vector<std::string>& call : calls) {
        text += std::to_string(call.size()) + '\0';
        for (const std::string& word : call) {
            text += word + '\0';
        }
    }
    return text;
}

}  // namespace edgegpu
