#include "customise/system.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "compose/account_files.hpp"
#include "support/error.hpp"
#include "support/file.hpp"

namespace edgegpu {

namespace {

/// The blueprint's place for keys whose line the blueprint does not keep.
std::string where(const Blueprint& blueprint, std::string_view key) {
    return fmt::format("{}: {}", blueprint.path.string(), key);
}

void check_one_line(const Blueprint& blueprint, std::string_view key, const std::string& value) {
    if (value.find_first_of(std::string_view("\n\r\0", 3)) != std::string::npos) {
        throw error(ErrorKind::usage, "{}: '{}' is not one line", where(blueprint, key), value);
    }
}

Entry link_to(std::string target) {
    Entry entry;
    entry.type = EntryType::symlink;
    entry.mode = 0777;
    entry.target = std::move(target);
    return entry;
}

void set_timezone(const Blueprint& blueprint, Tree& tree) {
    const std::string zone = "/usr/share/zoneinfo/" + blueprint.timezone;
    const Entry* entry = find_entry(tree, zone);
    const bool climbs = blueprint.timezone.find("..") != std::string::npos;
    if (climbs || entry == nullptr || entry->type != EntryType::file) {
        std::vector<std::string> zones;
        const std::string top = "/usr/share/zoneinfo/";
        for (auto at = tree.entries.lower_bound(top);
             at != tree.entries.end() && at->first.starts_with(top); ++at) {
            zones.push_back(at->first.substr(top.size()));
        }
        throw error(ErrorKind::usage, "{}: the image has no time zone '{}'",
                    where(blueprint, "customizations.timezone"), blueprint.timezone)
            .hinted(zones.empty() ? "add the package tzdata"
                                  : near_names_hint(blueprint.timezone, zones));
    }
    put_entry(tree, "/etc/localtime", link_to(".." + zone));
}

/// chrony.conf without its own servers, then the blueprint's, as image builder does it.
void set_ntp_servers(const Context& ctx, const Blueprint& blueprint, Tree& tree) {
    const char* key = "customizations.timezone.ntpservers";
    std::string path = "/etc/chrony.conf";
    if (find_entry(tree, path) == nullptr) {
        path = "/etc/chrony/chrony.conf";
    }
    const Entry* old = find_entry(tree, path);
    if (old == nullptr) {
        throw error(ErrorKind::usage, "{}: the image has no chrony", where(blueprint, key))
            .hinted("add the package chrony");
    }
    std::string text;
    for (const std::string& server : blueprint.ntp_servers) {
        check_one_line(blueprint, key, server);
        text += fmt::format("server {} iburst\n", server);
    }
    const std::string before = read_entry(tree, path);
    for (std::size_t at = 0; at < before.size();) {
        const std::size_t end = std::min(before.find('\n', at), before.size());
        const std::string_view line = std::string_view(before).substr(at, end - at);
        const std::string_view word = line.substr(0, line.find_first_of(" \t"));
        if (word != "server" && word != "pool" && word != "peer") {
            text += fmt::format("{}\n", line);
        }
        at = end + 1;
    }
    Entry entry = make_file_entry(ctx, text, old->mode);
    entry.uid = old->uid;
    entry.gid = old->gid;
    put_entry(tree, path, entry);
}

}  // namespace

void set_identity(const Context& ctx, const Blueprint& blueprint, Tree& tree) {
    if (!blueprint.hostname.empty()) {
        check_one_line(blueprint, "customizations.hostname", blueprint.hostname);
        put_entry(tree, "/etc/hostname", make_file_entry(ctx, blueprint.hostname + "\n", 0644));
    }
    if (!blueprint.timezone.empty()) {
        set_timezone(blueprint, tree);
    }
    if (!blueprint.ntp_servers.empty()) {
        set_ntp_servers(ctx, blueprint, tree);
    }
    if (!blueprint.languages.empty()) {
        check_one_line(blueprint, "customizations.locale.languages", blueprint.languages.front());
        put_entry(tree, "/etc/locale.conf",
                  make_file_entry(ctx, "LANG=" + blueprint.languages.front() + "\n", 0644));
    }
    if (!blueprint.keyboard.empty()) {
        check_one_line(blueprint, "customizations.locale.keyboard", blueprint.keyboard);
        put_entry(tree, "/etc/vconsole.conf",
                  make_file_entry(ctx, "KEYMAP=" + blueprint.keyboard + "\n", 0644));
    }
}

void add_remote(const Context& ctx, const Blueprint& blueprint, Tree& tree) {
    const OstreeRequest& ostree = blueprint.ostree;
    if (ostree.url.empty()) {
        return;
    }
    check_one_line(blueprint, "ostree.url", ostree.url);
    if (ostree.remote.empty() || ostree.remote.find_first_of("/\"[]\n") != std::string::npos) {
        throw error(ErrorKind::usage, "{}: '{}' is not the name of a remote",
                    where(blueprint, "ostree.remote"), ostree.remote);
    }
    std::string text = fmt::format("[remote \"{}\"]\nurl={}\n", ostree.remote, ostree.url);
    if (ostree.gpg_public_key.empty()) {
        ctx.console->warn(fmt::format(
            "devices will not verify what they pull from '{}': [ostree] names no gpg_public_key",
            ostree.remote));
        text += "gpg-verify=false\n";
    } else {
        const std::string key = fmt::format("/etc/pki/edgegpu/{}.gpg", ostree.remote);
        put_entry(tree, key, make_file_entry(ctx, read_file(ostree.gpg_public_key), 0644));
        text += fmt::format("gpg-verify=true\ngpgkeypath={}\n", key);
    }
    put_entry(tree, fmt::format("/etc/ostree/remotes.d/{}.conf", ostree.remote),
              make_file_entry(ctx, text, 0644));
}

}  // namespace edgegpu
