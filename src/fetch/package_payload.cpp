#include "fetch/package_payload.hpp"

#include <utility>

#include <archive.h>
#include <archive_entry.h>

#include "support/error.hpp"
#include "support/handles.hpp"
#include "support/text/nevra.hpp"
#include "support/text/terminal_text.hpp"

namespace edgegpu {

namespace {

using PayloadReader = Handle<archive, archive_read_free>;

constexpr std::size_t block_size = 1U << 16U;

Error unreadable_payload(const PackageFile& package, archive* reader) {
    const char* reason = archive_error_string(reader);
    return error(ErrorKind::fetch, "{}: unreadable payload: {}", package.package.nevra.text(),
                 reason != nullptr ? reason : "unknown problem");
}

std::string read_entry(const PackageFile& package, archive* reader, std::string_view path,
                       std::size_t size_limit) {
    std::string content;
    std::string block(block_size, '\0');
    for (;;) {
        const la_ssize_t got = archive_read_data(reader, block.data(), block.size());
        if (got < 0) {
            throw unreadable_payload(package, reader);
        }
        if (got == 0) {
            return content;
        }
        content.append(block, 0, static_cast<std::size_t>(got));
        if (content.size() > size_limit) {
            throw error(ErrorKind::fetch, "{}: {} is larger than {} MiB",
                        package.package.nevra.text(), path.substr(path.rfind('/') + 1),
                        size_limit >> 20U);
        }
    }
}

}  // namespace

std::vector<PayloadFile> read_payload_files(const Context& ctx, const PackageFile& package,
                                            const std::function<bool(std::string_view)>& wanted,
                                            std::size_t size_limit, std::size_t most) {
    const PayloadReader reader(archive_read_new());
    archive_read_support_filter_all(reader.get());
    archive_read_support_format_cpio(reader.get());
    if (archive_read_open_filename(reader.get(), package.content->path().c_str(), block_size) !=
        ARCHIVE_OK) {
        throw unreadable_payload(package, reader.get());
    }
    const UnpackLimit limit = most_in_package(package.content->size());
    std::vector<PayloadFile> files;
    archive_entry* entry = nullptr;
    while (files.size() < most) {
        ctx.check_cancelled();
        const int status = archive_read_next_header(reader.get(), &entry);
        if (status == ARCHIVE_EOF) {
            break;
        }
        if (status < ARCHIVE_WARN) {
            throw unreadable_payload(package, reader.get());
        }
        // Of the decompressed payload: what lies between the files is only skipped.
        if (std::cmp_greater(archive_filter_bytes(reader.get(), 0), limit.bytes)) {
            throw error(ErrorKind::fetch, "{}: its payload has more than {}{}",
                        package.package.nevra.text(), human_size(limit.bytes), limit.reason)
                .hinted("the package is corrupt or malicious; nothing of it was installed");
        }
        const char* path = archive_entry_pathname(entry);
        if (path != nullptr && archive_entry_filetype(entry) == AE_IFREG &&
            archive_entry_size(entry) > 0 && wanted(path)) {
            std::string name(path);
            files.push_back({name, read_entry(package, reader.get(), name, size_limit)});
        }
    }
    return files;
}

}  // namespace edgegpu
