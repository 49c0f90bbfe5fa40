#include "fetch/download.hpp"

#include <algorithm>
#include <cstdint>
#include <system_error>

#include <fmt/format.h>
#include <glib.h>
#include <librepo/librepo.h>

#include "resolve/librepo.hpp"
#include "support/error.hpp"
#include "support/handles.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

using TargetList = Handle<GSList, g_slist_free>;
using TargetPtr = Handle<LrPackageTarget, lr_packagetarget_free>;

fs::path partial_path(const PackageFile& file) {
    return file.path.string() + ".part";
}

/// What the downloads of one repository report to.
struct Progress {
    const Context& ctx;
    std::size_t total;
    std::size_t done = 0;
};

/// One package's download; lives until librepo returns.
struct Transfer {
    Progress* progress;
    const PackageFile* file;
    /// bytes in the partial file of an interrupted build, which is continued
    std::uint64_t resumed;
    TargetPtr target;
    std::vector<std::string> failures;
};

int on_progress(void* data, double, double) noexcept {
    const auto* transfer = static_cast<const Transfer*>(data);
    const auto* cancelled = transfer->progress->ctx.cancelled;
    return cancelled != nullptr && cancelled->load() ? LR_CB_ABORT : LR_CB_OK;
}

int on_end(void* data, LrTransferStatus, const char*) {
    const auto* transfer = static_cast<const Transfer*>(data);
    Progress& progress = *transfer->progress;
    progress.done = std::min(progress.done + 1, progress.total);
    progress.ctx.console->progress(progress.done, progress.total,
                                   "downloaded, " + transfer->file->package.nevra.name);
    return LR_CB_OK;
}

int on_mirror_failure(void* data, const char* message, const char*) {
    auto& failures = static_cast<Transfer*>(data)->failures;
    if (message != nullptr && failures.size() < 5 &&
        std::find(failures.begin(), failures.end(), message) == failures.end()) {
        failures.emplace_back(message);
    }
    return LR_CB_OK;
}

void make_target(LrHandle* handle, Transfer& transfer) {
    const ResolvedPackage& package = transfer.file->package;
    // librepo breaks a transfer off whose Content-Length is not this; that of a continued one
    // is what remains. (Whole partial files are noticed by their digest, and not asked for.)
    const std::uint64_t remaining =
        transfer.resumed < package.size ? package.size - transfer.resumed : package.size;
    GError* raw = nullptr;
    transfer.target = TargetPtr(lr_packagetarget_new_v3(
        handle, package.location.c_str(), partial_path(*transfer.file).c_str(),
        lr_checksum_type(std::string(checksum_name(package.checksum.algorithm)).c_str()),
        package.checksum.hex.c_str(), static_cast<gint64>(remaining), nullptr, TRUE, on_progress,
        &transfer, on_end, on_mirror_failure, 0, 0, &raw));
    const GErrorPtr failure(raw);
    if (!transfer.target) {
        throw error(ErrorKind::fetch, "package {}: {}", package.nevra.text(),
                    failure ? failure->message : "librepo refuses to download it");
    }
}

bool has_failed(const Transfer& transfer) {
    // librepo reports a complete file of an earlier attempt as an error, too.
    const char* problem = transfer.target->err;
    return problem != nullptr && std::string_view(problem) != "Already downloaded";
}

/// What librepo says where no transfer failed, but the whole did; empty if all is well.
std::string run_transfers(LrHandle* handle, std::vector<Transfer>& transfers) {
    GSList* raw_list = nullptr;
    for (Transfer& transfer : transfers) {
        make_target(handle, transfer);
        raw_list = g_slist_prepend(raw_list, transfer.target.get());
    }
    const TargetList list(g_slist_reverse(raw_list));
    GError* raw = nullptr;
    const bool good = lr_download_packages(list.get(), LR_PACKAGEDOWNLOAD_FAILFAST, &raw) != FALSE;
    const GErrorPtr failure(raw);
    if (good) {
        return "";
    }
    return failure ? failure->message : "unknown problem";
}

std::vector<Transfer> make_transfers(Progress& progress, const std::vector<PackageFile>& wanted) {
    std::vector<Transfer> transfers;
    transfers.reserve(wanted.size());
    for (const PackageFile& file : wanted) {
        std::error_code code;
        const std::uintmax_t size = fs::file_size(partial_path(file), code);
        transfers.push_back({&progress, &file, code ? 0 : size, TargetPtr(), {}});
    }
    return transfers;
}

/// Drops the partial files that could not be continued; false if no such transfer failed.
bool drop_bad_partials(const std::vector<Transfer>& transfers) {
    bool dropped = false;
    for (const Transfer& transfer : transfers) {
        if (has_failed(transfer) && transfer.resumed > 0) {
            std::error_code gone;  // librepo may have removed it itself
            fs::remove(partial_path(*transfer.file), gone);
            dropped = true;
        }
    }
    return dropped;
}

[[noreturn]] void report(const Repository& repository, const std::vector<Transfer>& transfers,
                         const std::string& problem) {
    // With "fail fast" the others are broken off: the one that says why is the one to show.
    const Transfer* failed = nullptr;
    for (const Transfer& transfer : transfers) {
        if (has_failed(transfer) && (failed == nullptr || failed->failures.empty())) {
            failed = &transfer;
        }
    }
    if (failed == nullptr) {
        throw error(ErrorKind::fetch, "repository '{}': {}", repository.id, problem);
    }
    Error failure = error(ErrorKind::fetch, "package {} cannot be downloaded",
                          failed->file->package.nevra.text());
    if (failed->failures.empty()) {
        failure.traced(failed->target->err);
    }
    for (const std::string& why : failed->failures) {
        failure.traced(why);
    }
    failure.traced(
        fmt::format("from repository '{}', {}", repository.id, failed->file->package.location));
    throw failure.hinted(
        "the mirror may be stale or unreachable: try again; whatever is complete "
        "is kept in the cache");
}

}  // namespace

void download_packages(const Context& ctx, const Repository& repository,
                       const std::vector<PackageFile>& wanted) {
    if (ctx.offline) {
        throw error(ErrorKind::fetch,
                    "package {} is not in the cache, and --offline forbids a download",
                    wanted.front().package.nevra.text())
            .traced(fmt::format("packages of repository '{}' that are missing: {}", repository.id,
                                wanted.size()))
            .hinted("run the build once without --offline");
    }
    const LrHandlePtr handle = make_handle(repository);
    Progress progress{ctx, wanted.size()};
    std::vector<Transfer> transfers = make_transfers(progress, wanted);
    std::string problem = run_transfers(handle.get(), transfers);
    ctx.check_cancelled();
    if (!problem.empty() && drop_bad_partials(transfers)) {
        transfers = make_transfers(progress, wanted);
        problem = run_transfers(handle.get(), transfers);
        ctx.check_cancelled();
    }
    // Complete files are kept even if another one failed.
    for (const Transfer& transfer : transfers) {
        if (!has_failed(transfer)) {
            std::error_code code;
            fs::rename(partial_path(*transfer.file), transfer.file->path, code);
            if (code && problem.empty()) {
                throw errno_error(transfer.file->path.string(), code.value());
            }
        }
    }
    if (!problem.empty() || std::any_of(transfers.begin(), transfers.end(), has_failed)) {
        report(repository, transfers, problem);
    }
}

}  // namespace edgegpu
