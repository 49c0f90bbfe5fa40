#include "blueprint/sources/overlay_source.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>

#include "blueprint/sources/overlay_checker.hpp"
#include "blueprint/sources/source_directory.hpp"
#include "blueprint/toml/variables.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/files/tar_reader.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

Error refuse_kind(const OverlayChecker& checker, std::string_view name, unsigned type) {
    return checker.refused(name, fmt::format("is {}", kind_of(type))).hinted(unfit_kind_hint());
}

void visit_directory(const OverlayRequest& overlay, OverlayChecker& checker) {
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

void visit_stored(const StoredSource& stored, OverlayChecker& checker) {
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
                  std::string& head, OverlayChecker& checker) {
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

void visit_archive(const OverlayRequest& overlay, const fs::path& archive, OverlayChecker& checker,
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

void visit_overlay(const OverlayRequest& overlay, const fs::path& scratch,
                   const std::function<void(const OverlayMember&)>& visit,
                   const OverlayLimits& limits, Mistakes* mistakes) {
    OverlayChecker checker(overlay, limits, visit, mistakes);
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
