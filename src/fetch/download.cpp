#include "fetch/download.hpp"

#include <cstdlib>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <glib.h>
#include <librepo/librepo.h>

#include "support/digest.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/handles.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

using RepoHandle = Handle<LrHandle, lr_handle_free>;
using GErrorHandle = Handle<GError, g_error_free>;

std::string message_of(const GErrorHandle& failure) {
    return failure ? failure->message : "unknown error";
}

void set_text(LrHandle* handle, LrHandleOption option, const std::string& value) {
    if (!value.empty()) {
        lr_handle_setopt(handle, nullptr, option, value.c_str());
    }
}

/// A librepo handle with the repository's mirrors and certificates.
RepoHandle make_handle(const Repository& repository) {
    RepoHandle handle(lr_handle_init());
    std::vector<char*> urls;
    for (const std::string& url : repository.baseurls) {
        urls.push_back(const_cast<char*>(url.c_str()));  // librepo copies and never writes
    }
    urls.push_back(nullptr);
    lr_handle_setopt(handle.get(), nullptr, LRO_REPOTYPE, LR_YUMREPO);
    if (!repository.baseurls.empty()) {
        lr_handle_setopt(handle.get(), nullptr, LRO_URLS, urls.data());
    }
    set_text(handle.get(), LRO_METALINKURL, repository.metalink);
    set_text(handle.get(), LRO_MIRRORLISTURL, repository.mirrorlist);
    set_text(handle.get(), LRO_SSLCLIENTCERT, repository.sslclientcert);
    set_text(handle.get(), LRO_SSLCLIENTKEY, repository.sslclientkey);
    set_text(handle.get(), LRO_SSLCACERT, repository.sslcacert);
    const long verify = repository.sslverify ? 1 : 0;
    lr_handle_setopt(handle.get(), nullptr, LRO_SSLVERIFYPEER, verify);
    lr_handle_setopt(handle.get(), nullptr, LRO_SSLVERIFYHOST, verify);
    lr_handle_setopt(handle.get(), nullptr, LRO_MAXPARALLELDOWNLOADS, 6L);
    lr_handle_setopt(handle.get(), nullptr, LRO_USERAGENT, "edgegpu/" EDGEGPU_VERSION);
    return handle;
}

/// What one running download reports to; lives until librepo returns.
struct Progress {
    const Context* ctx;
    std::size_t* done;
    std::size_t total;
    std::string name;
};

int on_progress(void* data, double, double) noexcept {
    const auto* progress = static_cast<const Progress*>(data);
    const auto* cancelled = progress->ctx->cancelled;
    return cancelled != nullptr && cancelled->load() ? LR_CB_ABORT : LR_CB_OK;
}

int on_end(void* data, LrTransferStatus, const char*) noexcept {
    const auto* progress = static_cast<const Progress*>(data);
    ++*progress->done;
    progress->ctx->console->progress(*progress->done, progress->total, progress->name);
    return LR_CB_OK;
}

using TargetList = Handle<GSList, g_slist_free>;
using Target = Handle<LrPackageTarget, lr_packagetarget_free>;

Target make_target(LrHandle* handle, const PackageFile& file, Progress& progress) {
    GError* raw = nullptr;
    // Resumed: a partial file of an interrupted build is continued, and dropped by librepo
    // where the digest of the whole does not match.
    const fs::path partial = file.path.string() + ".part";
    Target target(lr_packagetarget_new_v3(handle, file.package.location.c_str(), partial.c_str(),
                                          LR_CHECKSUM_SHA256, file.package.sha256.c_str(),
                                          static_cast<gint64>(file.package.size), nullptr, TRUE,
                                          on_progress, &progress, on_end, nullptr, 0, 0, &raw));
    const GErrorHandle failure(raw);
    if (!target) {
        throw error(ErrorKind::fetch, "package {}: {}", file.package.nevra.text(),
                    message_of(failure));
    }
    return target;
}

}  // namespace

void download_packages(const Context& ctx, const Repository& repository,
                       const std::vector<PackageFile>& wanted) {
    if (ctx.offline) {
        throw error(ErrorKind::fetch,
                    "package {} is not in the cache, and --offline forbids a download",
                    wanted.front().package.nevra.text())
            .traced(fmt::format("{} packages of repository '{}' are missing", wanted.size(),
                                repository.id))
            .hinted("run the build once without --offline");
    }
    const RepoHandle handle = make_handle(repository);
    std::size_t done = 0;
    std::vector<Progress> progress;
    progress.reserve(wanted.size());
    std::vector<Target> targets;
    GSList* raw_list = nullptr;
    for (const PackageFile& file : wanted) {
        progress.push_back({&ctx, &done, wanted.size(), file.package.nevra.name});
        targets.push_back(make_target(handle.get(), file, progress.back()));
        raw_list = g_slist_prepend(raw_list, targets.back().get());
    }
    const TargetList list(g_slist_reverse(raw_list));
    GError* raw = nullptr;
    const bool ok = lr_download_packages(list.get(), LR_PACKAGEDOWNLOAD_FAILFAST, &raw) != FALSE;
    const GErrorHandle failure(raw);
    ctx.check_cancelled();
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (targets[i]->err != nullptr &&
            std::string_view(targets[i]->err) != "Already downloaded") {
            throw error(ErrorKind::fetch, "package {} cannot be downloaded: {}",
                        wanted[i].package.nevra.text(), targets[i]->err)
                .traced(fmt::format("from repository '{}', {}", repository.id,
                                    wanted[i].package.location));
        }
    }
    if (!ok) {
        throw error(ErrorKind::fetch, "repository '{}': {}", repository.id, message_of(failure));
    }
    for (const PackageFile& file : wanted) {
        std::error_code code;
        fs::rename(file.path.string() + ".part", file.path, code);
        if (code) {
            throw errno_error(file.path.string(), code.value());
        }
    }
}

std::string download_text(const Context& ctx, const Repository& repository,
                          const std::string& url) {
    constexpr std::uint64_t limit = 1ULL << 20U;
    constexpr std::string_view file_scheme = "file://";
    if (url.starts_with(file_scheme) || url.starts_with('/')) {
        return read_file(url.starts_with('/') ? url : url.substr(file_scheme.size()), limit);
    }
    const fs::path cached = ctx.cache / "keys" / sha256_hex(url);
    if (fs::exists(cached)) {
        return read_file(cached, limit);
    }
    if (ctx.offline) {
        throw error(ErrorKind::fetch, "{} is not in the cache, and --offline forbids a download",
                    url);
    }
    make_directories(cached.parent_path());
    std::string temporary = cached.string() + ".XXXXXX";
    const Fd file(::mkostemp(temporary.data(), O_CLOEXEC));
    if (!file) {
        throw errno_error(cached.string(), errno);
    }
    const RepoHandle handle = make_handle(repository);
    GError* raw = nullptr;
    const bool ok = lr_download_url(handle.get(), url.c_str(), file.get(), &raw) != FALSE;
    const GErrorHandle failure(raw);
    std::error_code code;
    if (!ok) {
        fs::remove(temporary, code);
        throw error(ErrorKind::fetch, "{}: {}", url, message_of(failure));
    }
    fs::rename(temporary, cached, code);
    return read_file(cached, limit);
}

}  // namespace edgegpu
