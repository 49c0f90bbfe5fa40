#include "customise/accounts/sshd_settings.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fnmatch.h>

#include "sandbox/sandbox.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

// A host key and /run/sshd: as for `sshd -t` (configuration_check.cpp). Match blocks may ask for
// any of these; the addresses are of documentation (RFC 5737).
constexpr const char* script =
    "mkdir -p /run/sshd && ssh-keygen -q -t ed25519 -N '' -f /run/host-key && for user; do "
    "echo \"user $user\" && /usr/sbin/sshd -T -h /run/host-key -C "
    "\"user=$user,host=device,addr=192.0.2.1,laddr=192.0.2.2,lport=22\" || exit; done";

std::string value_of(const SshdSettings& settings, std::string_view keyword) {
    const auto found = settings.find(keyword);
    return found == settings.end() ? std::string() : found->second;
}

/// The pattern of `keyword` that one of `names` matches, or empty. Those with an address ("x@y")
/// count with `any_address`.
std::string pattern_for(const SshdSettings& settings, std::string_view keyword,
                        const std::vector<std::string>& names, bool any_address) {
    const auto [first, last] = settings.equal_range(keyword);
    for (auto setting = first; setting != last; ++setting) {
        for (const std::string_view pattern : words_of(setting->second, " \t")) {
            const std::size_t at = pattern.find('@');
            const std::string name(pattern.substr(0, at));
            const bool fits = std::ranges::any_of(names, [&](const std::string& one) {
                return ::fnmatch(name.c_str(), one.c_str(), 0) == 0;
            });
            if (fits && (at == std::string_view::npos || any_address)) {
                return std::string(pattern);
            }
        }
    }
    return {};
}

std::string refused_by_list(const SshdSettings& settings, std::string_view kind,
                            const std::vector<std::string>& names) {
    const std::string deny = fmt::format("deny{}", kind);
    const std::string allow = fmt::format("allow{}", kind);
    if (const std::string pattern = pattern_for(settings, deny, names, false); !pattern.empty()) {
        return fmt::format("is refused by sshd ({} {})", deny, pattern);
    }
    return settings.contains(allow) && pattern_for(settings, allow, names, true).empty()
               ? fmt::format("is not among those that sshd lets in ({} {})", allow,
                             value_of(settings, allow))
               : std::string();
}

}  // namespace

std::map<std::string, SshdSettings> read_sshd_settings(std::string_view output) {
    std::map<std::string, SshdSettings> users;
    SshdSettings* settings = nullptr;
    for (const std::string_view line : lines_of(output)) {
        const std::size_t space = line.find(' ');
        const std::string keyword(line.substr(0, space));
        const std::string value(space == std::string_view::npos ? "" : trim(line.substr(space)));
        if (keyword == "user") {
            settings = &users[value];
        } else if (settings != nullptr) {
            settings->emplace(keyword, value);
        }
    }
    return users;
}

std::map<std::string, SshdSettings> ask_sshd(const Context& ctx,
                                             const std::vector<std::string>& users,
                                             const Tree& tree) {
    SandboxCommand command;
    command.root = tree.root;
    command.kernel = tree.kernel;
    command.read_only_root = true;
    command.name = "sshd of the image, which says whom it lets in";
    command.argv = {"sh", "-c", script, "sh"};
    command.argv.insert(command.argv.end(), users.begin(), users.end());
    const ProcessResult result = run_in_sandbox(ctx, command);
    if (result.status == 0) {
        return read_sshd_settings(result.output);
    }
    const std::string_view said = trim(result.output);
    ctx.console->warn(
        fmt::format("whether sshd lets the users in is not known: sshd -T ended with status {}: {}",
                    result.status, said.substr(said.rfind('\n') + 1)));
    return {};
}

std::string sshd_refusal(const SshdSettings& settings, const std::string& user,
                         const std::vector<std::string>& groups, std::string_view key_file) {
    if (value_of(settings, "pubkeyauthentication") == "no") {
        return "has a key, and sshd takes none (PubkeyAuthentication no)";
    }
    const std::string files = value_of(settings, "authorizedkeysfile");
    const auto places = words_of(files, " \t");
    // A program or an authority may know keys instead.
    const std::string command = value_of(settings, "authorizedkeyscommand");
    const std::string authorities = value_of(settings, "trustedusercakeys");
    const bool others =
        (!command.empty() && command != "none") || (!authorities.empty() && authorities != "none");
    if (std::ranges::find(places, key_file) == places.end() && !others) {
        return fmt::format("has a key that sshd does not look for (AuthorizedKeysFile {})", files);
    }
    if (user == "root" && value_of(settings, "permitrootlogin") == "no") {
        return "is refused by sshd (PermitRootLogin no)";
    }
    const std::string by_name = refused_by_list(settings, "users", {user});
    return by_name.empty() ? refused_by_list(settings, "groups", groups) : by_name;
}

}  // namespace edgegpu
