#include "machine/rehearsal/commit_facts.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <string_view>
#include <utility>

#include <glib.h>

#include "repository/remote_config.hpp"
#include "support/assignments.hpp"
#include "support/handles.hpp"
#include "support/text/kernel_module_name.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

/// No configuration file is larger.
constexpr std::uint64_t config_limit = 1U << 20U;

std::string read_config(const CommitView& commit, const std::string& path) {
    // A link, or something larger, is no configuration of ours.
    const std::optional<CommitPath> found = commit.describe(path);
    return found && found->type == EntryType::file && found->size <= config_limit
               ? commit.read(path, config_limit).value_or("")
               : "";
}

/// The names in a directory; none if it does not exist.
CommitDirectory directory_of(const CommitView& commit, const std::string& path) {
    const std::optional<CommitNode> node = commit.find(path);
    return node && node->directory ? commit.list(*node, path) : CommitDirectory{};
}

/// Calls `visit` with path and text of each file with this ending in a directory.
void each_config(const CommitView& commit, const std::string& directory, std::string_view ending,
                 const std::function<void(const std::string& name, const std::string&)>& visit) {
    for (const auto& [name, node] : directory_of(commit, directory)) {
        if (!node.directory && name.ends_with(ending)) {
            visit(name, read_config(commit, directory + '/' + name));
        }
    }
}

/// As libselinux reads it: in any case, and whatever follows.
std::string selinux_mode(const CommitView& commit) {
    std::string value = assigned_value(read_config(commit, "/usr/etc/selinux/config"), "SELINUX");
    for (const char* mode : {"enforcing", "permissive", "disabled"}) {
        if (begins_with_any_case(value, mode)) {
            return mode;
        }
    }
    return value;
}

/// Of modprobe.d(5), a file in /etc replacing one in /usr, and of the kernel's arguments.
std::vector<std::string> blacklisted(const CommitView& commit) {
    std::map<std::string, std::string> files;
    for (const char* directory : {"/usr/lib/modprobe.d", "/usr/etc/modprobe.d"}) {
        each_config(commit, directory, ".conf",
                    [&](const std::string& name, const std::string& t) { files[name] = t; });
    }
    std::set<std::string> modules;
    for (const auto& [name, text] : files) {
        for (const std::string_view line : lines_of(text)) {
            const std::vector<std::string_view> words = words_of(line);
            if (words.size() >= 2 && words[0] == "blacklist") {
                modules.insert(kernel_module_name(words[1]));
            }
        }
    }
    constexpr std::string_view argument = "modprobe.blacklist=";
    for (const std::string& given :
         commit.info().kernel_arguments.value_or(std::vector<std::string>{})) {
        if (given.starts_with(argument)) {
            for (const std::string_view name : split(given, ',')) {
                modules.insert(kernel_module_name(
                    name.starts_with(argument) ? name.substr(argument.size()) : name));
            }
        }
    }
    modules.erase("");
    return {modules.begin(), modules.end()};
}

/// The base64 of the keys in the text of an authorized_keys file, whatever options are before it.
std::vector<std::string> keys_in(const std::string& text) {
    std::vector<std::string> keys;
    for (const std::string_view line : lines_of(text)) {
        for (const std::string_view word : words_of(line)) {
            if (!trim(line).starts_with('#') && word.starts_with("AAAA")) {
                keys.emplace_back(word);
                break;
            }
        }
    }
    return keys;
}

std::vector<KeyedUser> keyed_users(const CommitView& commit) {
    std::map<std::string, std::string, std::less<>> shells;
    for (const char* path : {"/usr/lib/passwd", "/usr/etc/passwd"}) {
        const std::string text = read_config(commit, path);
        for (const std::string_view line : lines_of(text)) {
            const std::vector<std::string_view> fields = split(line, ':');
            if (fields.size() == 7) {
                shells[std::string(fields[0])] = fields[6];
            }
        }
    }
    std::vector<KeyedUser> users;
    each_config(commit, "/usr/share/edgegpu/authorized_keys.d", "",
                [&](const std::string& name, const std::string& text) {
                    const auto shell = shells.find(name);
                    KeyedUser user{name, shell == shells.end() ? "" : shell->second, keys_in(text)};
                    if (!user.keys.empty()) {
                        users.push_back(std::move(user));
                    }
                });
    return users;
}

bool can_be_active(std::string_view unit) {
    constexpr std::array kinds{".service", ".socket", ".timer", ".path", ".target", ".mount"};
    return unit.find("@.") == std::string_view::npos &&
           std::ranges::any_of(kinds, [&](const char* kind) { return unit.ends_with(kind); });
}

/// What presets, systemctl enable and a blueprint leave, and what packages and overlays bring.
constexpr const char* own_units = "/usr/etc/systemd/system";
constexpr const char* vendor_units = "/usr/lib/systemd/system";

bool is_null_link(const CommitView& commit, const std::string& path) {
    const std::optional<CommitPath> found = commit.describe(path);
    return found && found->type == EntryType::symlink && found->target == "/dev/null";
}

bool is_masked(const CommitView& commit, const std::string& unit) {
    const std::string own = std::string(own_units) + '/' + unit;
    return is_null_link(commit, commit.describe(own) ? own : vendor_units + ('/' + unit));
}

/// Whether a package's link may count: systemd leaves out units that there are not, and what
/// distributions have in the targets of the early boot may have ended, or been ended by others.
bool is_vendor_target(std::string_view target) {
    constexpr std::array targets{"basic.target",      "default.target", "graphical.target",
                                 "multi-user.target", "paths.target",   "sockets.target",
                                 "timers.target"};
    return std::ranges::find(targets, target) != targets.end();
}

bool has_unit(const CommitView& commit, const std::string& unit) {
    const std::size_t at = unit.find('@');
    const std::string file =
        at == std::string::npos ? unit : unit.substr(0, at + 1) + unit.substr(unit.rfind('.'));
    return commit.describe(std::string(own_units) + '/' + file) ||
           commit.describe(std::string(vendor_units) + '/' + file);
}

/// Calls `visit` with each link in X.wants and X.requires of a directory.
void each_enabled(const CommitView& commit, const std::string& top,
                  const std::function<void(const EnabledUnit&, const std::string& link)>& visit) {
    for (const auto& [name, node] : directory_of(commit, top)) {
        for (const std::string_view relation : {".wants", ".requires"}) {
            if (!node.directory || !name.ends_with(relation)) {
                continue;
            }
            for (const auto& [unit, link] : commit.list(node, top + '/' + name)) {
                if (!link.directory && can_be_active(unit) && !is_masked(commit, unit)) {
                    visit({unit, name.substr(0, name.size() - relation.size())},
                          '/' + name + '/' + unit);
                }
            }
        }
    }
}

std::vector<EnabledUnit> enabled_units(const CommitView& commit) {
    std::set<std::pair<std::string, std::string>> found;
    each_enabled(commit, own_units, [&](const EnabledUnit& one, const std::string& link) {
        if (!is_null_link(commit, own_units + link)) {
            found.emplace(one.unit, one.wanted_by);
        }
    });
    each_enabled(commit, vendor_units, [&](const EnabledUnit& one, const std::string& link) {
        if (is_vendor_target(one.wanted_by) && has_unit(commit, one.unit) &&
            !is_null_link(commit, own_units + link)) {
            found.emplace(one.unit, one.wanted_by);
        }
    });
    std::vector<EnabledUnit> enabled;
    enabled.reserve(found.size());
    for (const auto& [unit, wanted_by] : found) {
        enabled.push_back({unit, wanted_by});
    }
    return enabled;
}

/// Those that earlier versions of edgegpu built do not, nor do those of other programs.
bool sets_next_arguments(const CommitView& commit) {
    const std::string unit = "edgegpu-kernel-arguments.service";
    return !is_masked(commit, unit) &&
           read_config(commit, "/usr/lib/systemd/system/" + unit).find("\nExecStop=") !=
               std::string::npos;
}

std::string greenboot_unit(const CommitView& commit, const CommitFacts& facts) {
    const std::string unit = "greenboot-healthcheck.service";
    return commit.find("/usr/lib/systemd/system/" + unit) && facts.enables(unit) ? unit : "";
}

/// The directories that MicroShift applies by default, as far as the commit has them.
std::optional<std::vector<std::string>> bundle_roots(const CommitView& commit) {
    if (!commit.find("/usr/bin/microshift")) {
        return std::nullopt;
    }
    std::vector<std::string> roots;
    const auto add = [&](const std::string& directory, const std::string& on_device) {
        if (commit.find(directory + "/kustomization.yaml")) {
            roots.push_back(on_device);
        }
    };
    for (const auto& [place, on_device] : {std::pair{"/usr/lib/microshift", "/usr/lib/microshift"},
                                           std::pair{"/usr/etc/microshift", "/etc/microshift"}}) {
        const std::string inside = place;
        const std::string outside = on_device;
        add(inside + "/manifests", outside + "/manifests");
        for (const auto& [name, node] : directory_of(commit, inside + "/manifests.d")) {
            if (node.directory) {
                add(inside + "/manifests.d/" + name, outside + "/manifests.d/" + name);
            }
        }
    }
    return roots;
}

/// The values of an attribute of all elements with this name, in one of firewalld's own files,
/// which have an element per line.
std::vector<std::string_view> attribute_values(std::string_view line, std::string_view name) {
    std::vector<std::string_view> values;
    const std::string start = ' ' + std::string(name) + "=\"";
    const std::size_t found = line.find(start);
    if (found != std::string_view::npos) {
        const std::string_view rest = line.substr(found + start.size());
        values.push_back(rest.substr(0, rest.find('"')));
    }
    return values;
}

FirewalldZone firewalld_zone(const CommitView& commit) {
    FirewalldZone zone;
    zone.name =
        assigned_value(read_config(commit, "/usr/etc/firewalld/firewalld.conf"), "DefaultZone");
    if (zone.name.empty() || zone.name.find('/') != std::string::npos) {
        zone.name = "public";
    }
    std::string text = read_config(commit, "/usr/etc/firewalld/zones/" + zone.name + ".xml");
    if (text.empty()) {
        text = read_config(commit, "/usr/lib/firewalld/zones/" + zone.name + ".xml");
    }
    for (const std::string_view raw : lines_of(text)) {
        const std::string_view line = trim(raw);
        if (line.starts_with("<service ")) {
            for (const std::string_view name : attribute_values(line, "name")) {
                zone.services.emplace_back(name);
            }
        } else if (line.starts_with("<port ")) {
            for (const std::string_view port : attribute_values(line, "port")) {
                for (const std::string_view protocol : attribute_values(line, "protocol")) {
                    zone.ports.push_back(std::string(port) + '/' + std::string(protocol));
                }
            }
        }
    }
    return zone;
}

std::vector<ImageRemote> image_remotes(const CommitView& commit) {
    std::vector<ImageRemote> remotes;
    const std::string directory = "/etc/ostree/remotes.d";
    each_config(
        commit, "/usr" + directory, ".conf", [&](const std::string& file, const std::string& text) {
            for (RemoteConfig& remote : read_remotes(text)) {
                remotes.push_back(
                    {std::move(remote.name), directory + '/' + file, text, remote.verifies()});
            }
        });
    return remotes;
}

}  // namespace

bool CommitFacts::enables(const std::string& unit) const {
    return std::ranges::any_of(enabled, [&](const EnabledUnit& one) { return one.unit == unit; });
}

CommitFacts commit_facts(const CommitView& commit) {
    CommitFacts facts;
    facts.commit = commit.info().checksum;
    facts.kernel_arguments = commit.info().kernel_arguments;
    facts.selinux = selinux_mode(commit);
    facts.blacklisted_modules = blacklisted(commit);
    facts.users = keyed_users(commit);
    facts.enabled = enabled_units(commit);
    facts.greenboot = greenboot_unit(commit, facts);
    facts.gpu_health = commit.find("/usr/libexec/edgegpu/gpu-health").has_value();
    facts.bundle_roots = bundle_roots(commit);
    facts.firewalld = firewalld_zone(commit);
    facts.remotes = image_remotes(commit);
    if (commit.find("/usr/sbin/sshd") || commit.find("/usr/bin/sshd")) {
        facts.sshd_config = read_config(commit, "/usr/etc/ssh/sshd_config");
    }
    for (const char* const program : {"edgegpu-update", "rpm-ostree", "ostree"}) {
        if (commit.find(fmt::format("/usr/bin/{}", program))) {
            facts.upgrader = program;
            break;
        }
    }
    facts.sets_next_arguments = sets_next_arguments(commit);
    return facts;
}

}  // namespace edgegpu
