#include "repository/remote_config.hpp"

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

bool verifies_by_key(GKeyFile* file, const char* group) {
    const TextHandle value(g_key_file_get_value(file, group, "sign-verify", nullptr));
    const std::string_view text = value ? value.get() : "";
    return !text.empty() && text != "false" && text != "0";
}

}  // namespace

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
        const bool by_key = verifies_by_key(file.get(), *group);
        RemoteConfig remote{
            std::string(name),
            verifies_by_gpg(file.get(), *group) || by_key,
            by_key,
            g_key_file_get_boolean(file.get(), *group, "gpg-verify-summary", nullptr) != FALSE,
            {}};
        const TextList paths(
            g_key_file_get_string_list(file.get(), *group, "gpgkeypath", nullptr, nullptr));
        for (char** path = paths.get(); path != nullptr && *path != nullptr; ++path) {
            remote.key_paths.emplace_back(*path);
        }
        remotes.push_back(std::move(remote));
    }
    return remotes;
}

}  // namespace edgegpu
