#include "sandbox/limits.hpp"

#include <algorithm>

#include <sys/statvfs.h>
#include <unistd.h>

#include "support/text/terminal_text.hpp"

namespace edgegpu {

namespace {

constexpr std::uint64_t gib = 1ULL << 30U;
constexpr std::size_t shown_output = 2000;

std::uint64_t machine_memory() {
    const long pages = ::sysconf(_SC_PHYS_PAGES);
    const long size = ::sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0
               ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(size)
               : 8 * gib;
}

std::string what_happened(const ProcessLimits& limits, Ended ended) {
    switch (ended) {
        case Ended::time:
            return fmt::format("did not end within {} seconds", limits.time.count());
        case Ended::memory:
            return fmt::format("used more than {} of memory", human_size(limits.memory));
        case Ended::processes:
            return fmt::format("started more than {} processes", limits.processes);
        case Ended::file_size:
            return fmt::format("wrote a file of more than {}", human_size(limits.file_size));
        case Ended::disk:
            return fmt::format("left less than {} free on the disk of {}",
                               human_size(limits.disk_left), limits.disk.string());
        case Ended::idle:
            return fmt::format("wrote nothing for {} seconds", limits.idle.count());
        case Ended::written:
            return fmt::format("wrote more than {}", human_size(limits.most_written));
        case Ended::normally:
            break;
    }
    return "ended";
}

std::string way_out(Ended ended) {
    switch (ended) {
        case Ended::time:
            return "give it more time with --program-timeout SECONDS, leave the package out, or "
                   "report this to its maintainer";
        case Ended::memory:
            return "build on a machine with more memory, or leave the package out";
        case Ended::disk:
            return "free some space there, use another directory with --cache-dir, or leave the "
                   "package out";
        default:
            return "leave the package out, or report this to its maintainer";
    }
}

}  // namespace

std::uint64_t space_to_leave(const std::filesystem::path& directory) {
    struct statvfs status {};
    if (::statvfs(directory.c_str(), &status) != 0) {
        return 0;
    }
    return std::min(gib, std::uint64_t{status.f_bavail} * status.f_frsize / 2);
}

unsigned processes_of_a_program() {
    const long processors = ::sysconf(_SC_NPROCESSORS_ONLN);
    return std::max(1024U, 16 * static_cast<unsigned>(std::max(processors, 1L)));
}

unsigned processes_of_a_build() {
    return 4 * processes_of_a_program();
}

ProcessLimits program_limits(const Context& ctx, unsigned patience) {
    ProcessLimits limits;
    limits.time = ctx.program_timeout * patience;
    limits.memory = machine_memory() / 4 * 3;
    limits.processes = processes_of_a_program();
    limits.file_size = 32 * gib;
    limits.disk = ctx.cache;
    limits.disk_left = space_to_leave(ctx.cache);
    return limits;
}

std::uint64_t temporary_space() {
    return std::max(machine_memory() / 4, gib / 2);
}

void check_limits(std::string_view who, const ProcessLimits& limits, const ProcessResult& result) {
    if (result.ended == Ended::normally) {
        return;
    }
    Error problem = error("{} {}", who, what_happened(limits, result.ended));
    const std::string_view output = result.output;
    if (!output.empty()) {
        problem.traced(
            std::string(output.substr(output.size() - std::min(output.size(), shown_output))));
    }
    throw problem.hinted(way_out(result.ended));
}

}  // namespace edgegpu
