#include "blueprint/parse/device_check.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "blueprint/distro/distro.hpp"
#include "blueprint/volume_mounts.hpp"
#include "support/error.hpp"
#include "support/text/deployed_path.hpp"

namespace edgegpu {

namespace {

/// A file that a key writes, and whether the blueprint has that key.
struct WrittenFile {
    std::string_view path;
    std::string_view key;
    bool asked = false;
};

/// Image builder writes `files` last, so that the key would have no effect; here it has the last
/// word. A blueprint for both says only one.
void check_written_twice(const Blueprint& blueprint, Mistakes& mistakes) {
    const bool servers = !blueprint.timezone.ntp_servers.empty();
    const std::array<WrittenFile, 6> written{{
        {"/etc/hostname", "hostname", !blueprint.hostname.empty()},
        {"/etc/localtime", "timezone.timezone", !blueprint.timezone.name.empty()},
        {"/etc/chrony.conf", "timezone.ntpservers", servers},
        {"/etc/chrony/chrony.conf", "timezone.ntpservers", servers},
        {"/etc/locale.conf", "locale.languages", !blueprint.locale.languages.empty()},
        {"/etc/vconsole.conf", "locale.keyboard", !blueprint.locale.keyboard.empty()},
    }};
    for (const FileRequest& file : blueprint.files) {
        const auto same = std::ranges::find_if(written, [&](const WrittenFile& each) {
            return each.asked && !file.directory && each.path == file.path;
        });
        if (same != written.end()) {
            mistakes.add(error_at(file.location, "{} is also written by customizations.{}",
                                  file.path, same->key)
                             .hinted("leave out one of the two"));
        }
    }
}

/// Devices have no other directories in / than the image and those of volumes.
void check_top_levels(const Blueprint& blueprint, Mistakes& mistakes) {
    const std::vector<std::string> points = mount_points_of(blueprint.image.volumes);
    const auto has = [](const auto& names, std::string_view path) {
        return std::ranges::find(names, path) != names.end();
    };
    for (const FileRequest& file : blueprint.files) {
        const std::string top = file.path.substr(0, file.path.find('/', 1));
        if (!has(top_level_directories, top) && !has(merged_directories, top) &&
            !has(points, top)) {
            mistakes.add(
                error_at(file.location, "an image cannot carry {}: a device has no {}", file.path,
                         top)
                    .hinted("use a directory below /var, which devices may write to, or /usr; a "
                            "volume gets one: [[customizations.filesystem]] with mountpoint = "
                            "\"" +
                            top + "\""));
        }
    }
}

/// libxcrypt has these since 4.2 and 4.3 (its NEWS); Enterprise Linux 8 has 4.1.1.
bool knows_hash(std::string_view distro, std::string_view hash) {
    const std::string_view version = enterprise_version(distro);
    const bool old = version == "8" || version.starts_with("8.");
    return !old ||
           std::ranges::none_of(std::array<std::string_view, 3>{"$y$", "$gy$", "$7$"},
                                [&](std::string_view prefix) { return hash.starts_with(prefix); });
}

}  // namespace

void check_device(const Blueprint& blueprint, std::time_t now, Mistakes& mistakes,
                  std::vector<std::string>& warnings) {
    check_written_twice(blueprint, mistakes);
    check_top_levels(blueprint, mistakes);
    constexpr std::time_t day = 86400;
    for (const UserRequest& user : blueprint.users) {
        if (!knows_hash(blueprint.distro, user.password.value_or(""))) {
            mistakes.add(error_at(user.location,
                                  "the password of user \"{}\" has a hash that {} does not know: "
                                  "nobody could log in with it",
                                  user.name, blueprint.distro)
                             .hinted("create one with: openssl passwd -6"));
        }
        if (user.expire_date && *user.expire_date <= now / day) {
            warnings.push_back(
                fmt::format("{}: the account of user \"{}\" has expired (expiredate)",
                            user.location.text(), user.name));
        }
    }
}

}  // namespace edgegpu
