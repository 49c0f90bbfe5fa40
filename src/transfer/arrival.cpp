#include "transfer/arrival.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/handles.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

using Kind = TransferFailureKind;

TransferFailure local_failure(const std::filesystem::path& source, Kind kind, std::string reason) {
    TransferFailure why;
    why.kind = kind;
    why.url = source.string();
    why.reason = std::move(reason);
    return why;
}

}  // namespace

bool looks_like_web_page(std::string_view beginning) {
    if (beginning.starts_with("\xef\xbb\xbf")) {
        beginning.remove_prefix(3);
    }
    beginning.remove_prefix(std::min(beginning.find_first_not_of(" \t\r\n"), beginning.size()));
    return begins_with_any_case(beginning, "<!doctype html") ||
           begins_with_any_case(beginning, "<html");
}

std::optional<TransferFailure> finish_part(const WantedFile& file, const std::string& mirror,
                                           const std::string& url, PartFile& part) {
    TransferFailure why;
    why.kind = Kind::wrong;
    why.url = url;
    why.of_file = true;
    why.reason = part.mismatch();
    if (why.reason.empty() && file.accept) {
        try {
            file.accept(part.path(), mirror);
        } catch (const Error& problem) {
            if (problem.kind() == ErrorKind::interrupted) {
                throw;
            }
            why.reason = problem.message();
            why.hint = problem.hint();
            why.error = problem;
        }
    }
    if (!why.reason.empty()) {
        part.restart();
        return why;
    }
    part.complete();
    return std::nullopt;
}

std::optional<TransferFailure> copy_local(const WantedFile& file, const std::string& mirror,
                                          const std::filesystem::path& source, PartFile& part) {
    const Fd fd(::open(source.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd) {
        const Kind kind = errno == ENOENT || errno == ENOTDIR ? Kind::missing : Kind::refused;
        return local_failure(source, kind, fmt::format("cannot be read: {}", std::strerror(errno)));
    }
    part.restart();
    std::array<char, std::size_t{256} * 1024> buffer;
    while (true) {
        const ssize_t got = ::read(fd.get(), buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return local_failure(source, Kind::refused,
                                 fmt::format("cannot be read: {}", std::strerror(errno)));
        }
        if (got == 0) {
            return finish_part(file, mirror, source.string(), part);
        }
        if (!part.append(buffer.data(), static_cast<std::size_t>(got))) {
            struct stat status {};
            const bool known = ::fstat(fd.get(), &status) == 0 && file.promise.size != 0;
            TransferFailure why = local_failure(
                source, Kind::wrong,
                known ? fmt::format("has {} bytes, but {} promises {}", status.st_size,
                                    file.promise.promiser, file.promise.size)
                      : fmt::format("has more than {} bytes, the limit for such a file",
                                    file.promise.most()));
            why.of_file = true;
            return why;
        }
    }
}

}  // namespace edgegpu
