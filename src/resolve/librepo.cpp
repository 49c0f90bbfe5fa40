#include "resolve/librepo.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

#include "support/digest.hpp"
#include "support/error.hpp"
#include "support/file.hpp"

namespace edgegpu {

namespace {

/// NULL-terminated view of strings, as librepo wants its lists.
std::vector<char*> c_list(const std::vector<std::string>& strings) {
    std::vector<char*> list;
    list.reserve(strings.size() + 1);
    for (const std::string& text : strings) {
        list.push_back(const_cast<char*>(text.c_str()));
    }
    list.push_back(nullptr);
    return list;
}

template <typename Value>
void set_option(const Repository& repository, LrHandle* handle, LrHandleOption option,
                Value value) {
    GError* raw = nullptr;
    if (!lr_handle_setopt(handle, &raw, option, value)) {
        const GErrorPtr problem(raw);
        throw error(ErrorKind::fetch, "repository '{}': {}", repository.id,
                    problem ? problem->message : "option refused");
    }
}

int on_progress(void* data, double /*total*/, double /*now*/) {
    const auto* ctx = static_cast<const Context*>(data);
    const bool stop = ctx->cancelled != nullptr && ctx->cancelled->load(std::memory_order_relaxed);
    return stop ? LR_CB_ABORT : LR_CB_OK;
}

Error perform_error(const Repository& repository, const GError* problem) {
    const std::string text = problem != nullptr ? problem->message : "unknown problem";
    Error failure = error(ErrorKind::fetch, "repository '{}': cannot get its metadata: {}",
                          repository.id, text);
    if (text.find("GPG") != std::string::npos) {
        failure = error(ErrorKind::fetch, "repository '{}': signature of repomd.xml: {}",
                        repository.id, text);
        failure.hinted(
            "check gpgkeys of the repository; repo_gpgcheck = false accepts unsigned "
            "metadata");
    }
    failure.traced(fmt::format("repository defined at {}", repository.location.text()));
    return failure;
}

std::string download_key(const Context& ctx, const Repository& repository, const std::string& url,
                         const std::filesystem::path& file) {
    if (ctx.offline) {
        if (!std::filesystem::exists(file)) {
            throw error(ErrorKind::fetch, "repository '{}': key {} is not in the cache",
                        repository.id, url)
                .hinted("run once without --offline");
        }
        return read_file(file, 1U << 20U);
    }
    make_directories(file.parent_path());
    const std::filesystem::path part = file.string() + ".part";
    GError* raw = nullptr;
    {
        const Fd fd(::open(part.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
        if (!fd) {
            throw errno_error(part.string(), errno);
        }
        const LrHandlePtr handle = make_handle(ctx, repository);
        if (!lr_download_url(handle.get(), url.c_str(), fd.get(), &raw)) {
            const GErrorPtr problem(raw);
            throw error(ErrorKind::fetch, "repository '{}': cannot get key {}: {}", repository.id,
                        url, problem ? problem->message : "unknown problem");
        }
    }
    std::filesystem::rename(part, file);
    return read_file(file, 1U << 20U);
}

}  // namespace

LrHandlePtr make_handle(const Context& ctx, const Repository& repository) {
    LrHandlePtr handle(lr_handle_init());
    LrHandle* raw = handle.get();
    set_option(repository, raw, LRO_REPOTYPE, static_cast<long>(LR_YUMREPO));
    std::vector<char*> urls = c_list(repository.baseurls);
    if (!repository.baseurls.empty()) {
        set_option(repository, raw, LRO_URLS, urls.data());
    }
    if (!repository.metalink.empty()) {
        set_option(repository, raw, LRO_METALINKURL, repository.metalink.c_str());
    } else if (!repository.mirrorlist.empty()) {
        set_option(repository, raw, LRO_MIRRORLISTURL, repository.mirrorlist.c_str());
    }
    set_option(repository, raw, LRO_USERAGENT, "edgegpu");
    set_option(repository, raw, LRO_CHECKSUM, 1L);
    set_option(repository, raw, LRO_SSLVERIFYPEER, repository.sslverify ? 1L : 0L);
    set_option(repository, raw, LRO_SSLVERIFYHOST, repository.sslverify ? 1L : 0L);
    if (!repository.sslcacert.empty()) {
        set_option(repository, raw, LRO_SSLCACERT, repository.sslcacert.c_str());
    }
    if (!repository.sslclientcert.empty()) {
        set_option(repository, raw, LRO_SSLCLIENTCERT, repository.sslclientcert.c_str());
    }
    if (!repository.sslclientkey.empty()) {
        set_option(repository, raw, LRO_SSLCLIENTKEY, repository.sslclientkey.c_str());
    }
    set_option(repository, raw, LRO_PROGRESSCB, &on_progress);
    set_option(repository, raw, LRO_PROGRESSDATA,
               const_cast<void*>(static_cast<const void*>(&ctx)));
    return handle;
}

void perform(const Context& ctx, const Repository& repository, LrHandle* handle, LrResult* result,
             const std::filesystem::path& destination, const std::vector<std::string>& types) {
    std::vector<char*> list = c_list(types);
    set_option(repository, handle, LRO_YUMDLIST, list.data());
    set_option(repository, handle, LRO_DESTDIR, destination.c_str());
    GError* raw = nullptr;
    const bool good = lr_handle_perform(handle, result, &raw) != 0;
    const GErrorPtr problem(raw);
    ctx.check_cancelled();
    if (!good) {
        throw perform_error(repository, problem.get());
    }
}

LrResultPtr open_local(const Context& ctx, const Repository& repository,
                       const std::filesystem::path& directory,
                       const std::vector<std::string>& types) {
    LrHandlePtr handle(lr_handle_init());
    const std::vector<std::string> urls{directory.string()};
    std::vector<char*> list = c_list(urls);
    set_option(repository, handle.get(), LRO_REPOTYPE, static_cast<long>(LR_YUMREPO));
    set_option(repository, handle.get(), LRO_URLS, list.data());
    set_option(repository, handle.get(), LRO_LOCAL, 1L);
    set_option(repository, handle.get(), LRO_IGNOREMISSING, 1L);
    LrResultPtr result(lr_result_init());
    perform(ctx, repository, handle.get(), result.get(), directory, types);
    return result;
}

std::string key_material(const Context& ctx, const Repository& repository,
                         const std::filesystem::path& directory) {
    std::string material;
    for (const std::string& key : repository.gpgkeys) {
        constexpr std::string_view file_scheme = "file://";
        const bool local = key.starts_with('/') || key.starts_with(file_scheme);
        if (local) {
            const std::string path = key.starts_with('/') ? key : key.substr(file_scheme.size());
            try {
                material += read_file(path, 1U << 20U);
            } catch (const Error& problem) {
                throw error(ErrorKind::fetch, "repository '{}': cannot read key {}: {}",
                            repository.id, key, problem.message());
            }
        } else {
            material += download_key(ctx, repository, key,
                                     directory / "keys" / sha256_hex(key).substr(0, 16));
        }
        if (!material.ends_with('\n')) {
            material += '\n';
        }
    }
    return material;
}

}  // namespace edgegpu
