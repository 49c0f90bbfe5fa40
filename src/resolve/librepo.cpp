#include "resolve/librepo.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "support/digest.hpp"
#include "support/error.hpp"
#include "support/file.hpp"

namespace edgegpu {

namespace {

constexpr std::uint64_t largest_key = 1ULL << 20U;

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

bool is_cancelled(const Context& ctx) {
    return ctx.cancelled != nullptr && ctx.cancelled->load(std::memory_order_relaxed);
}

int on_key_progress(void* data, double /*total*/, double /*now*/) noexcept {
    return is_cancelled(*static_cast<const Context*>(data)) ? LR_CB_ABORT : LR_CB_OK;
}

/// One transfer of metadata under way, and why mirrors failed.
struct Transfer {
    const Context* ctx;
    std::vector<std::string> failures;
};

int on_progress(void* data, double /*total*/, double /*now*/) noexcept {
    return is_cancelled(*static_cast<const Transfer*>(data)->ctx) ? LR_CB_ABORT : LR_CB_OK;
}

int on_mirror_failure(void* data, const char* message, const char* /*url*/,
                      const char* /*metadata*/) {
    auto& failures = static_cast<Transfer*>(data)->failures;
    if (message != nullptr && failures.size() < 5 &&
        std::find(failures.begin(), failures.end(), message) == failures.end()) {
        failures.emplace_back(message);
    }
    return LR_CB_OK;
}

/// The mirror's report of a metadata file whose content is not what repomd.xml promises, or "".
std::string unfit_file(const Transfer& transfer, const std::string& text) {
    const auto tells = [](const std::string& why) {
        return why.find("checksum doesn't match") != std::string::npos;
    };
    const auto found = std::find_if(transfer.failures.begin(), transfer.failures.end(), tells);
    return found != transfer.failures.end() ? *found : tells(text) ? text : "";
}

Error perform_error(const Repository& repository, const GError* problem, const Transfer& transfer) {
    const std::string text = problem != nullptr ? problem->message : "unknown problem";
    Error failure(ErrorKind::fetch, "");
    if (const std::string unfit = unfit_file(transfer, text); !unfit.empty()) {
        failure = error(ErrorKind::fetch,
                        "repository '{}': a metadata file does not fit repomd.xml: its checksum is "
                        "another one",
                        repository.id)
                      .hinted(
                          "the mirror is half-way through an update, or the file is damaged: "
                          "try again in a few minutes, then another mirror");
    } else {
        failure =
            error(ErrorKind::fetch, "repository '{}': cannot get its metadata", repository.id);
        failure.hinted("check the URL of the repository");
    }
    if (transfer.failures.empty()) {
        failure.traced(text);
    }
    for (const std::string& why : transfer.failures) {
        failure.traced(why);
    }
    return failure.traced("repository defined at " + repository.location.text());
}

std::string read_key_file(const Repository& repository, const std::string& path) {
    try {
        return read_file(path, largest_key);
    } catch (const Error& problem) {
        throw error(ErrorKind::fetch, "repository '{}': cannot read gpgkey: {}", repository.id,
                    problem.message())
            .traced("repository defined at " + repository.location.text());
    }
}

std::string download_key(const Context& ctx, const Repository& repository, const std::string& url) {
    const std::filesystem::path file = ctx.cache / "keys" / sha256_hex(url);
    if (ctx.offline) {
        if (!std::filesystem::exists(file)) {
            throw error(ErrorKind::fetch, "repository '{}': key {} is not in the cache",
                        repository.id, url)
                .hinted("run once without --offline");
        }
        return read_file(file, largest_key);
    }
    make_directories(file.parent_path());
    std::string part = file.string() + ".XXXXXX";
    const Fd fd(::mkostemp(part.data(), O_CLOEXEC));
    if (!fd) {
        throw errno_error(part, errno);
    }
    const LrHandlePtr handle = make_handle(repository);
    set_option(repository, handle.get(), LRO_PROGRESSCB, &on_key_progress);
    set_option(repository, handle.get(), LRO_PROGRESSDATA,
               const_cast<void*>(static_cast<const void*>(&ctx)));
    GError* raw = nullptr;
    const bool good = lr_download_url(handle.get(), url.c_str(), fd.get(), &raw) != FALSE;
    const GErrorPtr problem(raw);
    if (!good || ::rename(part.c_str(), file.c_str()) != 0) {
        ::unlink(part.c_str());
        ctx.check_cancelled();
        throw error(ErrorKind::fetch, "repository '{}': cannot get key {}: {}", repository.id, url,
                    problem ? problem->message : "unknown problem")
            .traced("repository defined at " + repository.location.text());
    }
    return read_file(file, largest_key);
}

}  // namespace

LrHandlePtr make_handle(const Repository& repository) {
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
    set_option(repository, raw, LRO_USERAGENT, "edgegpu/" EDGEGPU_VERSION);
    set_option(repository, raw, LRO_MAXPARALLELDOWNLOADS, 6L);
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
    return handle;
}

void perform(const Context& ctx, const Repository& repository, LrHandle* handle, LrResult* result,
             const std::filesystem::path& destination, const std::vector<std::string>& types) {
    std::vector<char*> list = c_list(types);
    set_option(repository, handle, LRO_YUMDLIST, list.data());
    set_option(repository, handle, LRO_DESTDIR, destination.c_str());
    Transfer transfer{&ctx, {}};
    set_option(repository, handle, LRO_PROGRESSCB, &on_progress);
    set_option(repository, handle, LRO_HMFCB, &on_mirror_failure);
    set_option(repository, handle, LRO_PROGRESSDATA, static_cast<void*>(&transfer));
    GError* raw = nullptr;
    const bool good = lr_handle_perform(handle, result, &raw) != 0;
    const GErrorPtr problem(raw);
    ctx.check_cancelled();
    if (!good) {
        throw perform_error(repository, problem.get(), transfer);
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

std::string read_key(const Context& ctx, const Repository& repository, const std::string& url) {
    constexpr std::string_view file_scheme = "file://";
    if (url.starts_with('/')) {
        return read_key_file(repository, url);
    }
    if (url.starts_with(file_scheme)) {
        return read_key_file(repository, url.substr(file_scheme.size()));
    }
    return download_key(ctx, repository, url);
}

std::string key_material(const Context& ctx, const Repository& repository) {
    std::string material;
    for (const std::string& url : repository.gpgkeys) {
        material += read_key(ctx, repository, url);
        if (!material.ends_with('\n')) {
            material += '\n';
        }
    }
    return material;
}

}  // namespace edgegpu
