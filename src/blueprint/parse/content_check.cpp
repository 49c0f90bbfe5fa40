#include "blueprint/parse/content_check.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "blueprint/distro/distro.hpp"
#include "blueprint/parse/node_check.hpp"
#include "blueprint/parse/readable.hpp"
#include "blueprint/parse/secrets_check.hpp"
#include "blueprint/sources/configuration_syntax.hpp"
#include "blueprint/sources/overlay_source.hpp"
#include "blueprint/sources/path_modes.hpp"
#include "blueprint/sources/source_directory.hpp"
#include "blueprint/sources/unread_names.hpp"
#include "blueprint/toml/toml_reader.hpp"
#include "blueprint/volume_mounts.hpp"
#include "support/error.hpp"
#include "support/path_glob.hpp"
#include "support/source_location.hpp"
#include "support/text/deployed_path.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

/// Files that others may not read on the build machine, in an overlay whose other files they may,
/// and for which neither a rule nor their path says a mode.
class HiddenFiles {
public:
    explicit HiddenFiles(const Blueprint& blueprint, const OverlayRequest& overlay)
        : overlay_(overlay) {
        for (const OverlayRule& rule : overlay.rules) {
            if (rule.mode) {
                said_.emplace_back(rule.path);
            }
        }
        for (const SecretAllowance& allowance : blueprint.allow_secrets) {
            said_.emplace_back(allowance.path);
        }
    }

    void see(const OverlayMember& member) {
        any_visible_ = any_visible_ || !member.hidden;
        const bool said = find_path_mode(member.path) != nullptr ||
                          std::ranges::any_of(said_, [&](const PathGlob& glob) {
                              return glob.matches(member.path);
                          });
        if (member.hidden && !said) {
            hidden_.push_back(member.path);
        }
    }

    void warn(std::vector<std::string>& warnings) const {
        constexpr std::size_t most = 5;
        if (!any_visible_ || hidden_.empty()) {
            return;
        }
        const auto end =
            hidden_.begin() + static_cast<std::ptrdiff_t>(std::min(most, hidden_.size()));
        const std::string more =
            hidden_.size() > most ? fmt::format(" and {} more", hidden_.size() - most) : "";
        warnings.push_back(fmt::format(
            "{}: overlay {}: others may not read {}{} here, but in the image: an overlay keeps of "
            "modes only whether a file is executable. Set the mode in [[overlays.rules]]",
            overlay_.location.text(), overlay_.source.string(),
            fmt::join(hidden_.begin(), end, ", "), more));
    }

private:
    const OverlayRequest& overlay_;
    std::vector<PathGlob> said_;
    std::vector<std::string> hidden_;
    bool any_visible_ = false;
};

/// What the blueprint itself says of mounts; `files` already has what overlays and files say.
void check_mounts(const Blueprint& blueprint, MountFiles files, Mistakes& mistakes,
                  std::vector<std::string>& warnings) {
    const std::vector<std::string> points = mount_points_of(blueprint.image.volumes);
    for (const UnitRequest& unit : blueprint.systemd.units) {
        const std::string path = "/usr/lib/systemd/system/" + unit.name;
        if (unit.contents && is_mount_file(path)) {
            files[path] = {unit.location.text(), false, *unit.contents};
        }
        for (const auto& [name, text] : unit.drop_ins) {
            if (is_mount_file(path)) {
                files[fmt::format("{}.d/{}", path, name)] = {unit.location.text(), false, text};
            }
        }
        for (const std::string& point : points) {
            if (unit.contents && unit.name == mount_unit_of(point)) {
                warnings.push_back(fmt::format(
                    "{}: {} has no effect on devices that are installed with the volume {}: "
                    "/etc/fstab of the disk comes before units below /usr; options belong into a "
                    "drop-in of the unit",
                    unit.location.text(), unit.name, point));
            }
        }
    }
    if (update_system(blueprint.distro) == UpdateSystem::ostree) {
        std::optional<std::vector<std::string>> directories;
        if (!blueprint.parent) {
            directories = blueprint.mount_points;
        }
        for (const MisplacedMount& mount : misplaced_mounts(directories, files)) {
            mistakes.add(error(ErrorKind::usage, "{}", mount.problem).hinted(mount.hint));
        }
    }
    for (const std::string& refused : refused_mounts(points, files)) {
        mistakes.add(
            error(ErrorKind::usage, "{}", refused).hinted(std::string(refused_mounts_hint)));
    }
}

/// What [[customizations.directories]] says of homes does not count: their own lines of tmpfiles.d,
/// which make them on devices, come first.
void check_homes(const Blueprint& blueprint, Mistakes& mistakes) {
    for (const FileRequest& file : blueprint.files) {
        for (const UserRequest& user : blueprint.users) {
            const std::string home =
                deployed_path(user.home.empty() ? "/home/" + user.name : user.home);
            const std::string path = deployed_path(file.path);
            if (file.directory && is_path_of_device(home) &&
                (path == home || path == home + "/.ssh")) {
                mistakes.add(error_at(file.location,
                                      "{} has no effect: the home of user '{}' and its .ssh are "
                                      "made on devices, with mode 0700, for the user",
                                      file.path, user.name)
                                 .hinted("leave it out"));
            }
        }
    }
}

/// Directories below /opt are part of the image, read-only on devices: of one that nothing in the
/// blueprint (`files`) is in, or that others than root may write to, something else is expected.
void check_opt(const Blueprint& blueprint, const std::set<std::string>& files,
               std::vector<std::string>& warnings) {
    if (update_system(blueprint.distro) != UpdateSystem::ostree) {
        return;
    }
    for (const FileRequest& request : blueprint.files) {
        if (!request.directory || !request.path.starts_with("/opt/")) {
            continue;
        }
        const auto inside = files.lower_bound(request.path + '/');
        const bool filled = inside != files.end() && is_below(*inside, request.path);
        constexpr unsigned others_write = 0022;
        const bool written = request.user.value_or("root") != "root" ||
                             request.group.value_or("root") != "root" ||
                             (request.mode.value_or(0) & others_write) != 0;
        if (written || !filled) {
            warnings.push_back(fmt::format(
                "{}: nobody can write to {} on devices: it is part of the image, as /usr/lib{}. A "
                "directory in its place that devices make and write to is {}",
                request.location.text(), request.path, request.path, deployed_path(request.path)));
        }
    }
}

/// A file that the image gets, where messages say that it is, and how its text is read.
struct SeenFile {
    std::string path;
    std::string place;
    /// whether `place` is a file, which has the lines of the text
    bool is_file = false;
    std::function<std::string()> text;
};

/// What its reader makes of its syntax.
void check_syntax(const SeenFile& file, Mistakes& mistakes) {
    if (!has_known_syntax(file.path)) {
        return;
    }
    if (const auto fault = configuration_fault(file.path, file.text())) {
        const std::string line = file.is_file ? fmt::format(":{}: ", fault->line)
                                              : fmt::format(": line {}: ", fault->line);
        mistakes.add(
            error(ErrorKind::usage, "{}{}{}: {}", file.place, line, file.path, fault->problem)
                .hinted(std::string(fault->consequence)));
    }
}

/// What is known once all files have been seen.
struct SeenContent {
    MountFiles mounts;
    std::set<std::string> files_of_opt;
};

void see_file(const SeenFile& file, SeenContent& content, Mistakes& mistakes,
              std::vector<std::string>& warnings) {
    check_syntax(file, mistakes);
    if (const auto reason = unread_name(file.path)) {
        warnings.push_back(fmt::format("{}: nothing reads {}: {}", file.place, file.path, *reason));
    }
    if (is_mount_file(file.path)) {
        content.mounts[file.path] = {file.place, file.is_file, file.text()};
    }
    if (file.path.starts_with("/opt/")) {
        content.files_of_opt.insert(file.path);
    }
}

/// Calls `see` for each of `[[customizations.files]]`, also those whose text is in another file.
void visit_files(const Blueprint& blueprint, const std::function<void(const SeenFile&)>& see) {
    for (const FileRequest& file : blueprint.files) {
        if (file.directory) {
            continue;
        }
        if (file.source.empty()) {
            see({file.path, file.location.text(), false, [&] { return file.data; }});
            continue;
        }
        try {
            require_readable(file.location, "file", file.source.string());
            see({file.path, file.source.string(), true, [&] { return source_head(file.source); }});
        } catch (const Error&) {
            continue;  // one that cannot be read has a mistake of its own
        }
    }
}

}  // namespace

void check_content(const Blueprint& blueprint, Mistakes& mistakes,
                   std::vector<std::string>& warnings) {
    SecretCheck secrets(blueprint.allow_secrets, mistakes);
    SeenContent content;
    const auto see = [&](const SeenFile& file) { see_file(file, content, mistakes, warnings); };
    bool complete = true;
    for (const OverlayRequest& overlay : blueprint.overlays) {
        HiddenFiles hidden(blueprint, overlay);
        const bool directory = exists_as_directory(overlay.source);
        const auto visit = [&](const OverlayMember& member) {
            if (blueprint.openshift && member.type != MemberType::directory) {
                check_node_file(member.path, overlay.location, mistakes);
            }
            if (member.head) {
                see({member.path,
                     directory ? (overlay.source / member.name).string()
                               : fmt::format("{}: overlay {}", overlay.location.text(),
                                             overlay.source.string()),
                     directory, member.head});
            }
            if (member.head && directory) {
                secrets.check_file((overlay.source / member.name).string(), member.path,
                                   member.head());
                hidden.see(member);
            } else if (member.head) {
                secrets.check_text(overlay.location,
                                   fmt::format("overlay {}: ", overlay.source.string()),
                                   member.path, member.head());
            }
        };
        Mistakes refused;
        refused.attempt([&] { visit_overlay(overlay, {}, visit, {}, &refused); });
        complete = complete && refused.empty();
        mistakes.add_all(refused);
        hidden.warn(warnings);
    }
    visit_files(blueprint, see);
    check_mounts(blueprint, std::move(content.mounts), mistakes, warnings);
    check_homes(blueprint, mistakes);
    check_opt(blueprint, content.files_of_opt, warnings);
    check_secrets(blueprint, secrets);
    std::ranges::move(secrets.warnings(), std::back_inserter(warnings));
    if (complete) {
        secrets.finish([](const SecretAllowance& allowance) { return !is_for_bundles(allowance); });
    }
}

}  // namespace edgegpu
