#include "blueprint/sources/overlay_source.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <map>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "blueprint/sources/source_directory.hpp"
#include "blueprint/toml/mistakes.hpp"
#include "blueprint/toml/toml_reader.hpp"
#include "blueprint/toml/validate.hpp"
#include "blueprint/toml/variables.hpp"
#include "support/files/file.hpp"
#include "support/files/tar_reader.hpp"
#include "support/handles.hpp"
#include "support/path_glob.hpp"
#include "support/text/terminal_text.hpp"
#include "support/text/text.hpp"
#include "support/text/utf8.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

using Parts = std::vector<std::string_view>;

/// The components of a path except empty ones and ".".
Parts split_path(std::string_view path) {
    Parts parts;
    while (!path.empty()) {
        const std::size_t slash = std::min(path.find('/'), path.size());
        const std::string_view part = path.substr(0, slash);
        if (!part.empty() && part != ".") {
            parts.push_back(part);
        }
        path.remove_prefix(std::min(slash + 1, path.size()));
    }
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

/// Checks everything about an overlay that does not depend on the image, member by member.
class Checker {
public:
    using Visit = std::function<void(const OverlayMember&)>;

    Checker(const OverlayRequest& overlay, const OverlayLimits& limits, const Visit& visit,
            Mistakes* mistakes)
        : overlay_(overlay), limits_(limits), visit_(visit), mistakes_(mistakes) {
        for (const OverlayRule& rule : overlay.rules) {
            rules_.emplace_back(PathGlob(rule.path), false);
        }
    }

    /// Absolute path in the image of the member `name`; empty for the overlay's top and for names
    /// that strip_components removes.
    [[nodiscard]] std::string place(std::string_view name, std::string_view what = "") const;
    /// Counts a member towards the limits, before its content is read.
    void count(std::string_view name, std::uint64_t size);
    /// Checks and visits a member with a path in the image.
    void add(const OverlayMember& member);
    /// Throws if strip_components left nothing, or for a rule that matches nothing.
    void finish() const;
    /// Whether the Error about a member is noted, so that the visit goes on without it.
    [[nodiscard]] bool keeps(const Error& failure);
    /// Whether the member is below one that was refused.
    [[nodiscard]] bool is_below_refused(std::string_view path) const {
        return std::any_of(refused_.begin(), refused_.end(),
                           [&](const std::string& top) { return is_below(path, top); });
    }

    [[nodiscard]] const OverlayLimits& limits() const noexcept { return limits_; }
    [[nodiscard]] bool has_file(const std::string& path) const {
        const auto found = seen_.find(path);
        return found != seen_.end() && found->second == MemberType::file;
    }
    [[nodiscard]] Error refused(std::string_view name, std::string_view reason) const {
        return error_at(overlay_.location, "overlay {}: \"{}\" {}", overlay_.source.string(), name,
                        reason);
    }

private:
    void add_parents(const OverlayMember& member);
    void note(const OverlayMember& member);

    const OverlayRequest& overlay_;
    const OverlayLimits& limits_;
    const Visit& visit_;
    std::vector<std::pair<PathGlob, bool>> rules_;
    std::map<std::string, MemberType> seen_;
    std::uint64_t members_ = 0;
    std::uint64_t bytes_ = 0;
    Mistakes* mistakes_;
    bool beyond_limits_ = false;
    bool any_kept_ = false;
    /// Paths that no image can carry.
    std::set<std::string> refused_;
};

bool Checker::keeps(const Error& failure) {
    if (mistakes_ == nullptr || beyond_limits_ || failure.kind() != ErrorKind::usage) {
        return false;
    }
    mistakes_->add(failure);
    any_kept_ = true;
    return true;
}

std::string Checker::place(std::string_view name, std::string_view what) const {
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

void Checker::count(std::string_view name, std::uint64_t size) {
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

void Checker::add_parents(const OverlayMember& member) {
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

void Checker::note(const OverlayMember& member) {
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

void Checker::add(const OverlayMember& member) {
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

void Checker::finish() const {
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

Error refuse_kind(const Checker& checker, std::string_view name, unsigned type) {
    return checker.refused(name, fmt::format("is {}", kind_of(type))).hinted(unfit_kind_hint());
}

void visit_directory(const OverlayRequest& overlay, Checker& checker) {
    const auto visit = [&](const SourceObject& object) {
        OverlayMember member;
        member.name = object.name;
        member.path = checker.place(member.name);
        checker.count(member.name, object.size);
        if (S_ISLNK(object.mode)) {
            member.type = MemberType::symlink;
            member.target = object.target;
        } else if (S_ISREG(object.mode)) {
            member.type = MemberType::file;
            member.executable = (object.mode & S_IXUSR) != 0;
            member.privileged = (object.mode & (S_ISUID | S_ISGID)) != 0 || object.has_capabilities;
            member.hidden = (object.mode & S_IROTH) == 0;
            member.head = [&, file = object.file] { return source_head(file, member.name); };
        }
        if (!member.path.empty()) {
            checker.add(member);
        }
    };
    const auto refuse = [&](std::string_view name, std::string_view reason) {
        return name.empty()
                   ? error_at(overlay.location, "overlay {}: {}", overlay.source.string(), reason)
                   : checker.refused(name, reason);
    };
    walk_source(overlay.source, true, visit, refuse,
                [&](const Error& failure) { return checker.keeps(failure); });
}

void visit_stored(const StoredSource& stored, Checker& checker) {
    for (const StoredMember& object : stored.members) {
        OverlayMember member;
        member.name = object.name;
        member.path = checker.place(member.name);
        checker.count(member.name, object.content.size);
        member.type = object.type;
        member.target = object.target;
        member.executable = object.executable;
        member.privileged = object.privileged;
        member.stored = object.content;
        if (member.type == MemberType::file) {
            member.head = [&] { return source_head(object.content.path); };
        }
        if (!member.path.empty()) {
            checker.add(member);
        }
    }
}

/// Reads a member's content and writes it to `file`; if that is empty, its beginning into `head`.
void unpack(TarReader& reader, const fs::path& file, std::string& head) {
    head.clear();
    if (file.empty()) {
        reader.read([&](const char* data, std::size_t size) {
            head.append(data, std::min(size, largest_head - head.size()));
        });
        return;
    }
    std::ofstream output(file, std::ios::binary | std::ios::trunc);
    reader.read([&](const char* data, std::size_t size) {
        output.write(data, static_cast<std::streamsize>(size));
    });
    output.close();
    if (!output) {
        throw errno_error(file.string(), errno);
    }
}

/// Checks and visits one member of an archive. Files are unpacked as `content`; without it, `head`
/// gets their beginning.
void visit_member(TarReader& reader, const TarMember& raw, const fs::path& content,
                  std::string& head, Checker& checker) {
    OverlayMember member;
    member.name = raw.name;
    member.path = checker.place(raw.name);
    checker.count(raw.name, raw.linked.empty() ? raw.size : 0);
    if (!raw.linked.empty()) {
        member.type = MemberType::file;
        member.linked =
            checker.place(raw.linked, fmt::format("is a hard link to {}, which ", raw.linked));
        if (!member.path.empty() && !checker.has_file(member.linked)) {
            throw checker.refused(
                raw.name,
                fmt::format("is a hard link to {}, which is not a file before it in the archive",
                            raw.linked));
        }
    } else if (raw.type == S_IFLNK) {
        member.type = MemberType::symlink;
        member.target = raw.target;
    } else if (raw.type == S_IFREG) {
        member.type = MemberType::file;
        unpack(reader, content, head);
        member.content = content;
        member.head = [&head] { return head; };
    } else if (raw.type != S_IFDIR) {
        throw refuse_kind(checker, raw.name, raw.type);
    }
    if (member.type == MemberType::directory) {
        // Without its sticky bit, a directory for everybody is one in which everybody may rename
        // and remove what others have there.
        member.archived_mode = raw.mode & 01777U;
    } else if (member.type == MemberType::file) {
        member.archived_mode = raw.mode & 0777U;
    }
    member.executable = member.type == MemberType::file && (raw.mode & S_IXUSR) != 0;
    member.privileged = member.type != MemberType::symlink &&
                        ((raw.mode & (S_ISUID | S_ISGID)) != 0 || !raw.capabilities.empty());
    if (!member.path.empty() && !checker.is_below_refused(member.path)) {
        checker.add(member);
    }
}

void visit_archive(const OverlayRequest& overlay, const fs::path& archive, Checker& checker,
                   const fs::path& scratch) {
    const fs::path content = scratch.empty() ? fs::path{} : scratch / "overlay-member";
    constexpr std::uint64_t most_headers = 4ULL << 30U;
    TarFile file{archive,
                 fmt::format("{}: overlay {}", overlay.location.text(), overlay.source.string()),
                 "an overlay is a directory, or a tar archive (plain, gzip, xz, zstd, bzip2)"};
    file.limit = checker.limits().bytes + most_headers;
    TarReader reader(std::move(file));
    TarMember raw;
    std::string head;
    while (reader.next(raw)) {
        try {
            visit_member(reader, raw, content, head, checker);
        } catch (const Error& failure) {
            if (!checker.keeps(failure)) {
                throw;
            }
        }
    }
    if (!content.empty()) {
        std::error_code ignored;
        fs::remove(content, ignored);
    }
}

}  // namespace

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

void visit_overlay(const OverlayRequest& overlay, const fs::path& scratch,
                   const std::function<void(const OverlayMember&)>& visit,
                   const OverlayLimits& limits, Mistakes* mistakes) {
    Checker checker(overlay, limits, visit, mistakes);
    std::error_code failure;
    if (overlay.stored && overlay.stored->archive) {
        visit_archive(overlay, overlay.stored->archive->path, checker, scratch);
    } else if (overlay.stored) {
        visit_stored(*overlay.stored, checker);
    } else if (fs::is_directory(overlay.source, failure)) {
        visit_directory(overlay, checker);
    } else if (fs::is_regular_file(overlay.source, failure)) {
        visit_archive(overlay, overlay.source, checker, scratch);
    } else {
        throw error_at(overlay.location, "overlay not found: {}", overlay.source.string())
            .hinted(absent_file_hint(overlay.source, "overlays"));
    }
    checker.finish();
}

}  // namespace edgegpu
