#include "sandbox/bubblewrap.hpp"

#include <string>

#include "execution/pipe.hpp"
#include "support/handles.hpp"

namespace edgegpu {

ProcessResult run_bubblewrap(const Context& ctx, ProcessRequest request, MoreCalls more) {
    const Fd filter = open_call_filter(more);
    const auto [announcement, announces] = make_pipe(EmptyPipe::fails);
    const std::string filter_number = std::to_string(filter.get());
    const std::string announces_number = std::to_string(announces.get());
    request.argv.insert(request.argv.begin() + 1,
                        {"--seccomp", filter_number, "--json-status-fd", announces_number});
    request.descriptors.insert(request.descriptors.end(), {filter.get(), announces.get()});
    request.announcement = announcement.get();
    return run_process(ctx, request);
}

}  // namespace edgegpu
