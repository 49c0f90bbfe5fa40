#include "kmods/build_output.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>

#include "kmods/module_file.hpp"
#include "support/error.hpp"
#include "support/source_location.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

constexpr std::size_t log_lines = 25;
/// Verbose makes print whole command lines of several thousand characters.
constexpr std::size_t longest_line = 200;
constexpr std::uint64_t log_limit = 64U << 20U;
constexpr std::uint64_t module_limit = 1U << 30U;
/// in messages of a compiler
constexpr std::string_view error_mark = ": error: ";

/// A file written by programs in the sandbox; nothing unless it is a regular file.
std::optional<std::string> read_output(const ImageRoot& out, const std::string& path,
                                       std::uint64_t limit) {
    const std::optional<struct stat> found = out.status(path);
    return found && S_ISREG(found->st_mode)
               ? std::optional(out.read(path, limit, LastLink::not_followed))
               : std::nullopt;
}

/// make.log, if it exists and is readable.
std::optional<std::string> read_log(const ImageRoot& out) {
    try {
        return read_output(out, "/make.log", log_limit);
    } catch (const Error&) {
        return std::nullopt;  // Too large: the failure of dkms matters more.
    }
}

/// The compiler's errors, then the end of the log: with make -j, output of other files follows the
/// errors.
Error build_failure(const Resolution& resolution, std::string what, const ImageRoot& out,
                    const std::string& output) {
    const std::string source = resolution.dkms_source->nevra.text();
    Error problem = error("the kernel modules of {} do not compile for kernel {}: {}", source,
                          resolution.kernel_uname, what);
    const std::optional<std::string> log = read_log(out);
    problem.traced(log ? "the end of make.log:" : "dkms said:");
    if (log) {
        std::size_t at = log->find(error_mark);
        for (int shown = 0; at != std::string::npos && shown < 5; ++shown) {
            const std::size_t begin = log->rfind('\n', at) + 1;
            const std::size_t end = std::min(log->find('\n', at), log->size());
            problem.traced(
                shortened(std::string_view(*log).substr(begin, end - begin), longest_line));
            at = log->find(error_mark, end);
        }
    }
    for (const std::string& line : last_lines(log ? *log : output, log_lines)) {
        problem.traced(shortened(line, longest_line));
    }
    return problem.hinted(
        "a distribution changes its newest kernels before NVIDIA's sources follow: set kernel to "
        "an older one (a glob over its NEVRA), or take a newer driver or modules = "
        "\"precompiled\"");
}

}  // namespace

std::map<std::string, std::string> take_modules(const Resolution& resolution, const DkmsConf& conf,
                                                const ProcessResult& dkms, const ImageRoot& out) {
    if (dkms.status != 0) {
        throw build_failure(resolution, fmt::format("dkms ended with status {}", dkms.status), out,
                            dkms.output);
    }
    std::map<std::string, std::string> modules;
    for (const std::string& name : conf.modules) {
        std::optional<std::string> content;
        for (const char* suffix : {".ko", ".ko.xz", ".ko.zst", ".ko.gz"}) {
            content = content ? content
                              : read_output(out, fmt::format("/modules/{}{}", name, suffix),
                                            module_limit);
        }
        if (!content) {
            throw build_failure(resolution, fmt::format("there is no {}.ko", name), out,
                                dkms.output);
        }
        std::string module = unpack_module(std::move(*content), name + ".ko");
        const std::string kernel = read_module(module, name + ".ko").kernel();
        if (kernel != resolution.kernel_uname) {
            throw build_failure(resolution, fmt::format("{}.ko is for kernel {}", name, kernel),
                                out, dkms.output);
        }
        modules.emplace(name, std::move(module));
    }
    return modules;
}

}  // namespace edgegpu
