#include "sandbox/bubblewrap.hpp"

#include <array>
#include <cerrno>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include "sandbox/seccomp.hpp"
#include "support/error.hpp"
#include "support/handles.hpp"

namespace edgegpu {

ProcessResult run_bubblewrap(const Context& ctx, ProcessRequest request) {
    const Fd filter = open_call_filter();
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        throw errno_error("pipe", errno);
    }
    const Fd announcement(ends[0]);
    const Fd announces(ends[1]);
    if (::fcntl(announcement.get(), F_SETFL, O_NONBLOCK) != 0) {
        throw errno_error("pipe", errno);
    }
    const std::string filter_number = std::to_string(filter.get());
    const std::string announces_number = std::to_string(announces.get());
    request.argv.insert(request.argv.begin() + 1,
                        {"--seccomp", filter_number, "--json-status-fd", announces_number});
    request.descriptors.insert(request.descriptors.end(), {filter.get(), announces.get()});
    request.announcement = announcement.get();
    return run_process(ctx, request);
}

}  // namespace edgegpu
