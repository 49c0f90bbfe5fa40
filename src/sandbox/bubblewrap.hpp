#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "support/context.hpp"
#include "support/process.hpp"

namespace edgegpu {

/// More words of a command line.
inline void append_words(std::vector<std::string>& argv, std::initializer_list<std::string> more) {
    argv.insert(argv.end(), more);
}

/// Runs `request.argv`, which begins with "bwrap" and has --unshare-pid, under the filter of
/// seccomp.hpp, and waits until every process of its pid namespace is gone, however it ended.
/// `announced` of the result has "exit-code" if and only if the program was started. Throws Error
/// where the filter cannot be made; bubblewrap starts nothing that it could not filter.
[[nodiscard]] ProcessResult run_bubblewrap(const Context& ctx, ProcessRequest request);

}  // namespace edgegpu
