#include "machine/file_server.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <microhttpd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machine/server_certificate.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/handles.hpp"
#include "support/text/number.hpp"
#include "support/text/percent_encoding.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

using ResponseHandle = Handle<MHD_Response, MHD_destroy_response>;

constexpr unsigned server_threads = 4;
/// ostree opens eight; the rest is for a guest that has forgotten some.
constexpr unsigned connection_limit = 128;
/// seconds without a byte
constexpr unsigned idle_limit = 30;
/// bytes of a request's line and headers
constexpr std::size_t request_limit = 32U << 10U;

/// Opens a regular file below a directory, whatever `path` contains; nothing if that is not one.
Fd open_below(int directory, const std::string& path) {
    Fd file = open_at(directory, path, O_RDONLY | O_NONBLOCK | O_NOCTTY,
                      RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS);
    struct stat status {};
    return file && ::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode) ? std::move(file)
                                                                                : Fd();
}

/// The bytes of a file that a request asks for.
struct ByteRange {
    std::uint64_t first = 0;
    std::uint64_t size = 0;
};

/// Of "bytes=A-B", "bytes=A-" and "bytes=-N". Nothing for everything else, several ranges among
/// it: the answer is then the whole file, as RFC 9110 allows. A range beyond the end is empty.
std::optional<ByteRange> range_of(std::string_view header, std::uint64_t size) {
    constexpr std::string_view unit = "bytes=";
    const std::size_t dash = header.find('-');
    if (!header.starts_with(unit) || dash == std::string_view::npos) {
        return std::nullopt;
    }
    const std::string_view before = header.substr(unit.size(), dash - unit.size());
    const std::string_view after = header.substr(dash + 1);
    const std::optional<std::uint64_t> first = whole_number<std::uint64_t>(before);
    const std::optional<std::uint64_t> last = whole_number<std::uint64_t>(after);
    if (before.empty() && last) {
        const std::uint64_t count = std::min(*last, size);
        return ByteRange{size - count, count};
    }
    if (!first || (!last && !after.empty()) || (last && *last < *first)) {
        return std::nullopt;
    }
    if (*first >= size) {
        return ByteRange{size, 0};
    }
    return ByteRange{*first, std::min(last.value_or(size - 1), size - 1) - *first + 1};
}

MHD_Result answer_empty(MHD_Connection* connection, unsigned status) {
    const ResponseHandle response(
        MHD_create_response_from_buffer(0, nullptr, MHD_RESPMEM_PERSISTENT));
    if (!response) {
        return MHD_NO;
    }
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED) {
        MHD_add_response_header(response.get(), MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    }
    return MHD_queue_response(connection, status, response.get());
}

/// What a request names: the path without the slash in front, decoded; nothing for none.
std::optional<std::string> path_in(std::string_view url) {
    const std::string path = percent_decoded(url);
    const bool usable = path.size() > 1 && path.front() == '/' && path[1] != '/' &&
                        path.find('\0') == std::string::npos;
    return usable ? std::optional(path.substr(1)) : std::nullopt;
}

}  // namespace

struct FileServer::Impl {
    Fd directory;
    ServerCertificate identity;
    std::uint16_t port = 0;
    std::atomic<std::uint64_t> requests{0};
    std::atomic<std::uint64_t> bytes{0};
    mutable std::mutex mutex;
    /// There are no more of them than files.
    std::set<std::string> sent;
    /// Last: its threads end before what they use.
    Handle<MHD_Daemon, MHD_stop_daemon> daemon;

    MHD_Result answer(MHD_Connection* connection, std::string_view url, std::string_view method) {
        requests.fetch_add(1, std::memory_order_relaxed);
        if (method != MHD_HTTP_METHOD_GET && method != MHD_HTTP_METHOD_HEAD) {
            return answer_empty(connection, MHD_HTTP_METHOD_NOT_ALLOWED);
        }
        const std::optional<std::string> path = path_in(url);
        Fd file = path ? open_below(directory.get(), *path) : Fd();
        struct stat status {};
        if (!file || ::fstat(file.get(), &status) != 0) {
            return answer_empty(connection, MHD_HTTP_NOT_FOUND);
        }
        const bool content = method == MHD_HTTP_METHOD_GET;
        if (content) {
            const std::lock_guard lock(mutex);
            sent.insert(*path);
        }
        return send(connection, std::move(file), static_cast<std::uint64_t>(status.st_size),
                    content);
    }

    MHD_Result send(MHD_Connection* connection, Fd file, std::uint64_t size, bool content) {
        const std::string header = text_of(
            MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_RANGE));
        const std::optional<ByteRange> range = range_of(header, size);
        if (range && range->size == 0) {
            return answer_empty(connection, MHD_HTTP_RANGE_NOT_SATISFIABLE);
        }
        const ByteRange part = range.value_or(ByteRange{0, size});
        const ResponseHandle response(
            MHD_create_response_from_fd_at_offset64(part.size, file.get(), part.first));
        if (!response) {
            return MHD_NO;
        }
        // The response closes it.
        (void)file.release();
        if (range) {
            const std::string place =
                fmt::format("bytes {}-{}/{}", part.first, part.first + part.size - 1, size);
            MHD_add_response_header(response.get(), MHD_HTTP_HEADER_CONTENT_RANGE, place.c_str());
        }
        MHD_add_response_header(response.get(), MHD_HTTP_HEADER_ACCEPT_RANGES, "bytes");
        if (content) {
            bytes.fetch_add(part.size, std::memory_order_relaxed);
        }
        return MHD_queue_response(connection, range ? MHD_HTTP_PARTIAL_CONTENT : MHD_HTTP_OK,
                                  response.get());
    }

    /// libmicrohttpd's shape of it.
    static MHD_Result answer_request(void* server, MHD_Connection* connection, const char* url,
                                     const char* method, const char* /*version*/,
                                     const char* /*upload*/, std::size_t* upload_size,
                                     void** state) noexcept {
        try {
            // Called once more for each piece that a client sends; none is wanted.
            if (*upload_size != 0) {
                *upload_size = 0;
                return MHD_YES;
            }
            if (*state == nullptr) {
                *state = server;
                return MHD_YES;
            }
            return static_cast<Impl*>(server)->answer(connection, url, method);
        } catch (const std::exception&) {
            return MHD_NO;
        }
    }
};

namespace {

/// Paths are decoded by path_in, which sees a %00.
std::size_t leave_encoded(void* /*unused*/, MHD_Connection* /*connection*/, char* text) noexcept {
    return std::string_view(text).size();
}

/// A client that speaks no TLS, or ends too early, is no matter for the console.
void ignore_message(void* /*unused*/, const char* /*format*/, va_list /*arguments*/) noexcept {}

}  // namespace

FileServer::FileServer(const Context& ctx, const std::filesystem::path& directory,
                       const std::string& name)
    : impl_(std::make_unique<Impl>()) {
    impl_->directory = Fd(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!impl_->directory) {
        throw errno_error(directory.string(), errno);
    }
    impl_->identity = make_server_certificate(name);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    impl_->daemon.reset(MHD_start_daemon(
        MHD_USE_TLS | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL | MHD_USE_ERROR_LOG, 0,
        nullptr, nullptr, Impl::answer_request, impl_.get(), MHD_OPTION_EXTERNAL_LOGGER,
        ignore_message, nullptr, MHD_OPTION_SOCK_ADDR, reinterpret_cast<sockaddr*>(&address),
        MHD_OPTION_HTTPS_MEM_KEY, impl_->identity.key.c_str(), MHD_OPTION_HTTPS_MEM_CERT,
        impl_->identity.certificate.c_str(), MHD_OPTION_THREAD_POOL_SIZE, server_threads,
        MHD_OPTION_CONNECTION_LIMIT, connection_limit, MHD_OPTION_CONNECTION_TIMEOUT, idle_limit,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, request_limit, MHD_OPTION_UNESCAPE_CALLBACK,
        leave_encoded, nullptr, MHD_OPTION_END));
    const MHD_DaemonInfo* info =
        impl_->daemon ? MHD_get_daemon_info(impl_->daemon.get(), MHD_DAEMON_INFO_BIND_PORT)
                      : nullptr;
    if (info == nullptr || info->port == 0) {
        throw error("cannot serve {} over HTTPS", directory.string());
    }
    impl_->port = info->port;
    ctx.log.info("files are served", {{"directory", directory.string()}, {"port", impl_->port}});
}

FileServer::~FileServer() = default;

std::uint16_t FileServer::port() const noexcept {
    return impl_->port;
}
const std::string& FileServer::certificate() const noexcept {
    return impl_->identity.certificate;
}
std::set<std::string> FileServer::sent() const {
    const std::lock_guard lock(impl_->mutex);
    return impl_->sent;
}
std::uint64_t FileServer::requests() const noexcept {
    return impl_->requests.load();
}
std::uint64_t FileServer::bytes() const noexcept {
    return impl_->bytes.load();
}

}  // namespace edgegpu
