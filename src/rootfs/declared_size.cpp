#include "rootfs/declared_size.hpp"

#include <fmt/format.h>

#include "support/error.hpp"
#include "support/files/unpack_limit.hpp"
#include "support/text/terminal_text.hpp"

namespace edgegpu {

namespace {

/// An archive's header of a file (newc, the largest that librpm reads), with padding.
constexpr std::uint64_t file_header_size = 128;
/// The archive's last header, and padding.
constexpr std::uint64_t archive_end_size = 4096;

void add(std::uint64_t& sum, std::uint64_t value) {
    if (__builtin_add_overflow(sum, value, &sum)) {
        sum = UINT64_MAX;
    }
}

Error refused(const std::string& package, const std::string& why) {
    return error("package {}: {}", package, why)
        .hinted("the package is corrupt or malicious; nothing of it was installed");
}

}  // namespace

DeclaredSize declared_size(const std::vector<ImportedFile>& files, rpmfiles list) {
    DeclaredSize size{0, archive_end_size};
    for (std::size_t i = 0; i < files.size(); ++i) {
        const ImportedFile& file = files[i];
        add(size.archive, file_header_size + file.path.size() + file.entry.target.size());
        if (file.entry.type != EntryType::file || file.is_ghost()) {
            continue;
        }
        // Of hard links, the archive has the content once or with each of them.
        add(size.archive, file.entry.size);
        const int* members = nullptr;
        const std::uint32_t links = rpmfilesFLinks(list, static_cast<int>(i), &members);
        if (links < 2 || members == nullptr || members[0] == static_cast<int>(i)) {
            add(size.files, file.entry.size);
        }
    }
    return size;
}

void check_declared_size(const Context& ctx, const std::string& package, const DeclaredSize& size,
                         Header header, std::uint64_t rpm_size) {
    const UnpackLimit limit = most_in_package(rpm_size);
    if (size.files > limit.bytes) {
        throw refused(package,
                      fmt::format("its files have {}{}", human_size(size.files), limit.reason));
    }
    for (const rpmTagVal tag : {RPMTAG_ARCHIVESIZE, RPMTAG_LONGARCHIVESIZE}) {
        if (const std::uint64_t archive = header_number(header, tag); archive > size.archive) {
            throw refused(package, fmt::format("its archive has {}, and the files in it have {}",
                                               human_size(archive), human_size(size.files)));
        }
    }
    require_space(ctx.cache, size.files, "package " + package);
}

void check_archive_size(const std::string& package, const DeclaredSize& size, FD_t payload) {
    const rpmop read = fdOp(payload, FDSTAT_READ);
    if (read != nullptr && read->bytes > size.archive) {
        throw refused(package, fmt::format("its archive is larger than its files together, {}",
                                           human_size(size.files)));
    }
}

}  // namespace edgegpu
