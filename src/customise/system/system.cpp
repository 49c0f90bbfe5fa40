#include "customise/system/system.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "customise/system/locale.hpp"
#include "openpgp/key_file.hpp"
#include "support/ed25519.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/source_location.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

void check_one_line(const SourceLocation& location, const std::string& value) {
    if (value.find_first_of(std::string_view("\n\r\0", 3)) != std::string::npos) {
        throw error(ErrorKind::usage, "{}: '{}' is not one line", location.text(), value);
    }
}

/// chrony.conf without its own servers, then the blueprint's, as image builder does it.
void set_ntp_servers(const Context& ctx, const TimezoneRequest& timezone, Tree& tree) {
    std::string path = "/etc/chrony.conf";
    if (find_entry(tree, path) == nullptr) {
        path = "/etc/chrony/chrony.conf";
    }
    const Entry* old = find_entry(tree, path);
    if (old == nullptr) {
        throw error(ErrorKind::usage, "{}: the image has no chrony", timezone.location.text())
            .hinted("add the package chrony");
    }
    std::string text;
    for (const std::string& server : timezone.ntp_servers) {
        check_one_line(timezone.location, server);
        text += fmt::format("server {} iburst\n", server);
    }
    const std::string before = read_entry(tree, path);
    for (const std::string_view line : lines_of(before)) {
        const std::string_view word = line.substr(0, line.find_first_of(" \t"));
        if (word != "server" && word != "pool" && word != "peer") {
            text += fmt::format("{}\n", line);
        }
    }
    Entry entry = make_file_entry(ctx, text, old->mode);
    entry.uid = old->uid;
    entry.gid = old->gid;
    put_entry(tree, path, entry);
}

}  // namespace

void set_hostname(const Context& ctx, const std::string& hostname, const SourceLocation& location,
                  Tree& tree) {
    if (!hostname.empty()) {
        check_one_line(location, hostname);
        put_entry(tree, "/etc/hostname", make_file_entry(ctx, hostname + "\n", 0644));
    }
}

void set_timezone(const Context& ctx, const TimezoneRequest& timezone, Tree& tree) {
    check_timezone(timezone, tree);
    if (!timezone.name.empty()) {
        put_entry(tree, "/etc/localtime", link_to("../usr/share/zoneinfo/" + timezone.name));
    }
    if (!timezone.ntp_servers.empty()) {
        set_ntp_servers(ctx, timezone, tree);
    }
}

void set_locale(const Context& ctx, const LocaleRequest& locale, Tree& tree) {
    check_locale(locale, tree);
    if (!locale.languages.empty()) {
        check_one_line(locale.location, locale.languages.front());
        put_entry(tree, "/etc/locale.conf",
                  make_file_entry(ctx, "LANG=" + locale.languages.front() + "\n", 0644));
    }
    if (!locale.keyboard.empty()) {
        check_one_line(locale.location, locale.keyboard);
        put_entry(tree, "/etc/vconsole.conf",
                  make_file_entry(ctx, "KEYMAP=" + locale.keyboard + "\n", 0644));
    }
}

namespace {

std::string gpg_settings(const Context& ctx, const OstreeRequest& ostree, Tree& tree) {
    if (ostree.gpg_public_key.empty()) {
        return "gpg-verify=false\n";
    }
    const std::string key = fmt::format("/etc/pki/edgegpu/{}.gpg", ostree.remote);
    const std::string keyring = binary_keyring(read_key_file(
        read_file(ostree.gpg_public_key), "gpg_public_key " + ostree.gpg_public_key.string()));
    put_entry(tree, key, make_file_entry(ctx, keyring, 0644));
    return fmt::format("gpg-verify=true\ngpgkeypath={}\n", key);
}

/// libostree passes over lines that are no key, and reads no PEM.
std::string ed25519_settings(const Context& ctx, const OstreeRequest& ostree, Tree& tree) {
    if (ostree.ed25519_public_key.empty()) {
        return {};
    }
    const std::string file = fmt::format("/etc/pki/edgegpu/{}.ed25519", ostree.remote);
    const std::vector<std::string> keys = read_ed25519_keys(read_file(ostree.ed25519_public_key));
    put_entry(tree, file, make_file_entry(ctx, ed25519_key_file(keys), 0644));
    return fmt::format("sign-verify=ed25519;\nverification-ed25519-file={}\n", file);
}

/// The file that configures a remote.
struct RemoteFile {
    std::string path;
    /// It was one of the blueprint's own.
    bool of_blueprint = false;
};

/// Whether the remote keeps a setting that its file in the image has already. `[ostree]` does not
/// know how devices reach the remote; in a file of the blueprint (`own_file`) everything else is
/// meant as well, while that of a `[parent]` is about another server.
bool stays(std::string_view key, bool own_file, bool has_proxy) {
    static constexpr std::array<std::string_view, 4> reaching{
        "proxy", "tls-ca-path", "tls-client-cert-path", "tls-client-key-path"};
    static constexpr std::array<std::string_view, 6> written{"url",
                                                             "gpg-verify",
                                                             "gpgkeypath",
                                                             "sign-verify",
                                                             "verification-ed25519-file",
                                                             "verification-ed25519-key"};
    if (has_proxy && key == "proxy") {
        return false;
    }
    return own_file ? std::ranges::find(written, key) == written.end()
                    : std::ranges::find(reaching, key) != reaching.end();
}

std::string other_settings(const Context& ctx, const RemoteFile& file, const std::string& remote,
                           bool has_proxy, const Tree& tree) {
    if (find_entry(tree, file.path) == nullptr) {
        return {};
    }
    std::string kept;
    bool own = false;
    const std::string before = read_entry(tree, file.path);
    for (const std::string_view line : lines_of(before)) {
        if (line.starts_with('[')) {
            own = trim_end(line) == fmt::format("[remote \"{}\"]", remote);
            continue;
        }
        const std::string_view key = trim_end(line.substr(0, line.find('=')));
        const bool setting = line.find('=') != std::string_view::npos && !key.starts_with('#');
        if (own && setting && stays(key, file.of_blueprint, has_proxy)) {
            kept += fmt::format("{}\n", line);
            ctx.console->note(fmt::format("{} of remote '{}' stays as {} of the image has it", key,
                                          remote, file.path));
        }
    }
    return kept;
}

}  // namespace

void add_remote(const Context& ctx, const OstreeRequest& ostree, const std::string& proxy,
                const PlacedPaths& placed, Tree& tree) {
    if (ostree.url.empty()) {
        return;
    }
    check_one_line(ostree.location, ostree.url);
    if (ostree.remote.empty() || ostree.remote.find_first_of("/\"[]\n") != std::string::npos) {
        throw error(ErrorKind::usage, "{}: '{}' is not the name of a remote",
                    ostree.location.text(), ostree.remote);
    }
    std::string text = fmt::format("[remote \"{}\"]\nurl={}\n", ostree.remote, ostree.url);
    if (ostree.gpg_public_key.empty() && ostree.ed25519_public_key.empty()) {
        ctx.console->warn(fmt::format(
            "devices will not verify what they pull from '{}': [ostree] names no gpg_public_key",
            ostree.remote));
    }
    text += gpg_settings(ctx, ostree, tree) + ed25519_settings(ctx, ostree, tree);
    if (!proxy.empty()) {
        text += fmt::format("proxy={}\n", proxy);
    }
    RemoteFile file;
    file.path = fmt::format("/etc/ostree/remotes.d/{}.conf", ostree.remote);
    file.of_blueprint = placed.contains(file.path);
    text += other_settings(ctx, file, ostree.remote, !proxy.empty(), tree);
    put_entry(tree, file.path, make_file_entry(ctx, text, 0644));
}

}  // namespace edgegpu
