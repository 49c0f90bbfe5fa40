#include "blueprint/sources/overlay_checker.hpp"

#include <array>

#include <fmt/format.h>

#include "blueprint/toml/validate.hpp"
#include "support/text/terminal_text.hpp"
#include "support/text/text.hpp"
#include "support/text/utf8.hpp"

namespace edgegpu {

namespace {

using Parts = std::vector<std::string_view>;

/// The components of a path except empty ones and ".".
Parts split_path(std::string_view path) {
    Parts parts = words_of(path, "/");
    std::erase(parts, ".");
    return parts;
}

/// Whether the target of a link at `path` lexically leaves the image.
bool climbs_out(std::string_view path, std::string_view target) {
    std::size_t depth = target.starts_with('/') ? 0 : split_path(path).size() - 1;
    for (const std::string_view part : split_path(target)) {
        if (part == ".." && depth == 0) {
            return true;
        }
        depth += part == ".." ? -1 : 1;
    }
    return false;
}

}  // namespace

bool OverlayChecker::keeps(const Error& failure) {
    if (mistakes_ == nullptr || beyond_limits_ || failure.kind() != ErrorKind::usage) {
        return false;
    }
    mistakes_->add(failure);
    any_kept_ = true;
    return true;
}

std::string OverlayChecker::place(std::string_view name, std::string_view what) const {
    if (name.empty()) {
        throw refused(name, "is a member without a name");
    }
    if (name.starts_with('/')) {
        throw refused(name, fmt::format("{}has an absolute name", what))
            .hinted(
                "names must be relative to the overlay's 'target': create the archive with tar -C "
                "DIRECTORY");
    }
    if (has_control_characters(name) || name.find('\0') != std::string_view::npos) {
        throw refused(printable_line(name), fmt::format("{}has a control character", what));
    }
    if (!is_utf8(name)) {
        throw refused(printable_line(name), fmt::format("{}has a name that is not UTF-8", what))
            .hinted("ostree has no other names: rename it");
    }
    const Parts parts = split_path(name);
    for (const std::string_view part : parts) {
        if (part == "..") {
            throw refused(name, fmt::format("{}leaves the overlay (\"..\")", what));
        }
        if (part.size() > 255) {
            throw refused(name, fmt::format("{}has a name longer than 255 bytes", what));
        }
    }
    std::string path = overlay_.target == "/" ? "" : overlay_.target;
    if (parts.size() <= overlay_.strip_components) {
        return {};
    }
    for (std::size_t i = overlay_.strip_components; i < parts.size(); ++i) {
        path += '/';
        path += parts[i];
    }
    if (path.size() > 4095) {
        throw refused(name, fmt::format("{}is longer than 4095 bytes", what));
    }
    return path;
}

void OverlayChecker::count(std::string_view name, std::uint64_t size) {
    beyond_limits_ = ++members_ > limits_.members || size > limits_.bytes - bytes_;
    if (members_ > limits_.members) {
        throw refused(name, fmt::format("is beyond the {} objects that an overlay may have",
                                        limits_.members));
    }
    if (beyond_limits_) {
        throw refused(name,
                      fmt::format("makes the overlay larger than {} GiB", limits_.bytes >> 30U))
            .hinted("holes of sparse files count as well");
    }
    bytes_ += size;
}

void OverlayChecker::add_parents(const OverlayMember& member) {
    const std::size_t top = overlay_.target == "/" ? 0 : overlay_.target.size();
    for (std::size_t slash = member.path.find('/', top + 1); slash != std::string::npos;
         slash = member.path.find('/', slash + 1)) {
        const std::string parent = member.path.substr(0, slash);
        const auto found = seen_.find(parent);
        if (found == seen_.end()) {
            OverlayMember directory;
            directory.name = member.name;
            directory.path = parent;
            note(directory);
        } else if (found->second != MemberType::directory) {
            throw refused(member.name,
                          fmt::format("is below {}, which is a {} of the same overlay", parent,
                                      found->second == MemberType::symlink ? "link" : "file"));
        }
    }
}

void OverlayChecker::note(const OverlayMember& member) {
    const std::string reason = unfit_member_reason(member.path, member.type);
    if (!reason.empty()) {
        if (refused_.size() < Mistakes::most) {
            refused_.insert(member.path);
        }
        throw error_at(overlay_.location, "an image cannot carry {} of overlay {}: {}", member.path,
                       overlay_.source.string(), reason)
            .hinted(unfit_member_hint(member.path));
    }
    const auto [earlier, fresh] = seen_.emplace(member.path, member.type);
    if (!fresh) {
        if (member.type == MemberType::directory && earlier->second == MemberType::directory) {
            return;
        }
        throw refused(member.name, fmt::format("is a second {} in the same overlay", member.path))
            .hinted(
                "an archive extended with tar -r contains the old and the new member: create it "
                "again");
    }
    for (auto& [glob, fits] : rules_) {
        fits = fits || glob.matches(member.path);
    }
    visit_(member);
}

void OverlayChecker::add(const OverlayMember& member) {
    add_parents(member);
    if (member.type == MemberType::symlink) {
        if (member.target.empty() || member.target.size() > 4095 ||
            has_control_characters(member.target)) {
            throw refused(member.name, "is a link without a target that can be followed");
        }
        if (climbs_out(member.path, member.target)) {
            throw refused(member.name,
                          fmt::format("is a link to {}, which leaves the image", member.target));
        }
    }
    note(member);
}

void OverlayChecker::finish() const {
    if (any_kept_) {
        return;  // a rule may be for what was left out
    }
    if (seen_.empty() && members_ > 0 && overlay_.strip_components > 0) {
        throw error_at(overlay_.location, "overlay {}: strip_components = {} leaves nothing of it",
                       overlay_.source.string(), overlay_.strip_components);
    }
    for (std::size_t i = 0; i < rules_.size(); ++i) {
        if (!rules_[i].second) {
            throw error_at(overlay_.rules[i].location, "nothing in overlay {} matches \"{}\"",
                           overlay_.source.string(), overlay_.rules[i].path)
                .hinted("patterns match absolute paths in the image; '*' does not match '/'");
        }
    }
}

std::string unfit_member_reason(std::string_view path, MemberType type) {
    std::string reason = unfit_path_reason(path);
    if (!reason.empty()) {
        return reason;
    }
    if (is_below(path, "/usr/local")) {
        return "/usr/local belongs to the device: it is a link to /var/usrlocal there";
    }
    if (is_below(path, "/media")) {
        return "/media is made at boot";
    }
    if (path == "/usr/lib/passwd" || path == "/usr/lib/group") {
        return "it is made from the image's accounts; use [[customizations.user]] or "
               "[[customizations.group]]";
    }
    static constexpr std::array<std::string_view, 5> device{"/var", "/home", "/root", "/srv",
                                                            "/mnt"};
    for (const std::string_view top : device) {
        // Directories there become lines of tmpfiles.d.
        if (is_below(path, top) && type != MemberType::directory) {
            return fmt::format(
                "{} belongs to the device: its content is not updated with the image", top);
        }
    }
    return {};
}

std::string unfit_member_hint(std::string_view path) {
    if (is_below(path, "/usr/local")) {
        return "use /usr/bin, /usr/lib or /usr/share for files of the image";
    }
    if (is_below(path, "/var") || is_below(path, "/srv")) {
        return fmt::format(
            "put it at /usr/share/factory{0}, and add 'C {0}' to a file in /usr/lib/tmpfiles.d: "
            "devices then get a copy at boot",
            path);
    }
    if (is_below(path, "/home") || is_below(path, "/root")) {
        return "put files for new home directories into /etc/skel";
    }
    return {};
}

}  // namespace edgegpu
