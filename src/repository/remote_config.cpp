#include "repository/remote_config.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <glib.h>

#include "support/glib.hpp"
#include "support/handles.hpp"

namespace edgegpu {

namespace {

using KeyFile = Handle<GKeyFile, g_key_file_unref>;
using TextList = Handle<char*, g_strfreev>;

/// Whether ostree reads the value of gpg-verify as true; what is neither true nor false is an error
/// of its own, which is no verification.
bool verifies_by_gpg(GKeyFile* file, const char* group) {
    GlibFailure failure;
    const bool value = g_key_file_get_boolean(file, group, "gpg-verify", failure.out()) != FALSE;
    return value || g_error_matches(failure.get(), G_KEY_FILE_ERROR,
                                    G_KEY_FILE_ERROR_KEY_NOT_FOUND) != FALSE;
}

std::vector<std::string> texts_of(GKeyFile* file, const char* group, const char* key) {
    std::vector<std::string> texts;
    const TextList list(g_key_file_get_string_list(file, group, key, nullptr, nullptr));
    for (char** text = list.get(); text != nullptr && *text != nullptr; ++text) {
        texts.emplace_back(*text);
    }
    return texts;
}

std::string text_of(GKeyFile* file, const char* group, const char* key) {
    const TextHandle value(g_key_file_get_string(file, group, key, nullptr));
    return value ? value.get() : "";
}

/// The kinds of signatures that sign-verify and sign-verify-summary name; "true": any.
std::vector<std::string> kinds_of(GKeyFile* file, const char* group, const char* key) {
    const TextHandle value(g_key_file_get_value(file, group, key, nullptr));
    const std::string_view text = value ? value.get() : "";
    if (text.empty() || text == "false" || text == "0") {
        return {};
    }
    return text == "true" || text == "1" ? std::vector<std::string>{"true"}
                                         : texts_of(file, group, key);
}

}  // namespace

bool keeps_a_remote(const std::vector<RemoteConfig>& before,
                    const std::vector<RemoteConfig>& after) {
    return before.empty() || std::ranges::any_of(before, [&](const RemoteConfig& remote) {
               return std::ranges::find(after, remote.name, &RemoteConfig::name) != after.end();
           });
}

std::string hint_to_keep(const RemoteConfig& remote) {
    return fmt::format(
        "keep it until no device follows it: remote = \"{0}\" and url in [ostree], or a file "
        "/etc/ostree/remotes.d/{0}.conf",
        remote.name);
}

std::vector<RemoteConfig> read_remotes(std::string_view text) {
    const KeyFile file(g_key_file_new());
    if (g_key_file_load_from_data(file.get(), text.data(), text.size(), G_KEY_FILE_NONE, nullptr) ==
        FALSE) {
        return {};
    }
    std::vector<RemoteConfig> remotes;
    const TextList groups(g_key_file_get_groups(file.get(), nullptr));
    for (char** group = groups.get(); *group != nullptr; ++group) {
        constexpr std::string_view prefix = "remote \"";
        std::string_view name = *group;
        if (!name.starts_with(prefix) || !name.ends_with('"') || name.size() < prefix.size() + 2) {
            continue;
        }
        name.remove_prefix(prefix.size());
        name.remove_suffix(1);
        remotes.push_back(
            {std::string(name), verifies_by_gpg(file.get(), *group),
             kinds_of(file.get(), *group, "sign-verify"),
             g_key_file_get_boolean(file.get(), *group, "gpg-verify-summary", nullptr) != FALSE,
             kinds_of(file.get(), *group, "sign-verify-summary"),
             texts_of(file.get(), *group, "gpgkeypath"),
             text_of(file.get(), *group, "verification-ed25519-file"),
             text_of(file.get(), *group, "verification-ed25519-key"),
             text_of(file.get(), *group, "collection-id")});
    }
    return remotes;
}

}  // namespace edgegpu
