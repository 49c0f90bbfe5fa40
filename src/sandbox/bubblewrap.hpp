#pragma once

#include <string>
#include <vector>

#include "execution/context.hpp"
#include "execution/process.hpp"
#include "sandbox/seccomp.hpp"

namespace edgegpu {

/// Appends words to a command line.
inline void append_words(std::vector<std::string>& argv, const std::vector<std::string>& more) {
    argv.insert(argv.end(), more.begin(), more.end());
}

/// Runs `request.argv`, which begins with "bwrap" and has --unshare-pid, with the filter of
/// seccomp.hpp, and waits until all processes of its pid namespace are gone. `announced` of the
/// result contains "exit-code" if and only if the program was started. Throws Error if the filter
/// cannot be created; bubblewrap starts no program without it.
[[nodiscard]] ProcessResult run_bubblewrap(const Context& ctx, ProcessRequest request,
                                           MoreCalls more = MoreCalls::none);

}  // namespace edgegpu
