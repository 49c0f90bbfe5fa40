#include "fetch/driver_gpus.hpp"

#include <archive.h>
#include <archive_entry.h>

#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "gpu/gpus.hpp"
#include "resolve/gpu/devices.hpp"
#include "support/error.hpp"
#include "support/handles.hpp"
#include "support/nevra.hpp"

namespace edgegpu {

namespace {

using Reader = Handle<archive, archive_read_free>;

/// The real file is below 1 MiB.
constexpr std::size_t size_limit = 16U << 20U;
constexpr std::size_t block_size = 1U << 16U;

Error unreadable(const PackageFile& package, archive* reader) {
    const char* reason = archive_error_string(reader);
    return error(ErrorKind::fetch, "{}: unreadable payload: {}", package.package.nevra.text(),
                 reason != nullptr ? reason : "unknown problem");
}

std::string read_entry(const PackageFile& package, archive* reader) {
    std::string content;
    std::string block(block_size, '\0');
    for (;;) {
        const la_ssize_t got = archive_read_data(reader, block.data(), block.size());
        if (got < 0) {
            throw unreadable(package, reader);
        }
        if (got == 0) {
            return content;
        }
        content.append(block, 0, static_cast<std::size_t>(got));
        if (content.size() > size_limit) {
            throw error(ErrorKind::fetch, "{}: supported-gpus.json is larger than {} MiB",
                        package.package.nevra.text(), size_limit >> 20U);
        }
    }
}

/// The content of supported-gpus.json, if the package contains it.
std::optional<std::string> find_list(const Context& ctx, const PackageFile& package) {
    const Reader reader(archive_read_new());
    archive_read_support_filter_all(reader.get());
    archive_read_support_format_cpio(reader.get());
    if (archive_read_open_filename(reader.get(), package.content->path().c_str(), block_size) !=
        ARCHIVE_OK) {
        throw unreadable(package, reader.get());
    }
    archive_entry* entry = nullptr;
    for (;;) {
        ctx.check_cancelled();
        const int status = archive_read_next_header(reader.get(), &entry);
        if (status == ARCHIVE_EOF) {
            return std::nullopt;
        }
        if (status < ARCHIVE_WARN) {
            throw unreadable(package, reader.get());
        }
        const char* path = archive_entry_pathname(entry);
        if (path != nullptr && std::string_view(path).ends_with("/supported-gpus.json") &&
            archive_entry_size(entry) > 0) {
            return read_entry(package, reader.get());
        }
    }
}

}  // namespace

void check_driver_gpus(const Context& ctx, const std::optional<NvidiaRequest>& nvidia,
                       const Resolution& resolution, const PackageFiles& packages) {
    if (!nvidia || nvidia->devices.empty()) {
        return;
    }
    for (const PackageFile& package : packages) {
        const Nevra& nevra = package.package.nevra;
        if (!nevra.name.starts_with("nvidia-driver") ||
            nevra.version != resolution.driver_version) {
            continue;
        }
        if (const std::optional<std::string> list = find_list(ctx, package)) {
            NvidiaRequest request = *nvidia;
            request.flavor = resolution.driver_flavor.value_or(request.flavor);
            const GpuTable table = read_supported_gpus(*list, resolution.driver_version,
                                                       nevra.text() + ": supported-gpus.json");
            for (const std::string& warning :
                 check_devices(request, table, resolution.driver_version, true).warnings) {
                ctx.console->warn(warning);
            }
            return;
        }
    }
}

}  // namespace edgegpu
