#include "doctor/doctor.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "doctor/programs.hpp"
#include "doctor/sandbox.hpp"
#include "support/text/terminal_text.hpp"

namespace edgegpu {

namespace {

/// What a first build of an image with a driver takes: packages, their content, an image's root.
constexpr std::uint64_t first_build = 8ULL << 30U;

Finding free_space(const Context& ctx) {
    std::error_code code;
    const std::filesystem::space_info space = std::filesystem::space(ctx.cache, code);
    Finding finding{"space for the cache", Readiness::good, "", ""};
    if (code) {
        finding.readiness = Readiness::limited;
        finding.found = fmt::format("{}: {}", ctx.cache.string(), code.message());
        return finding;
    }
    finding.found = fmt::format("{}: {} free", ctx.cache.string(), human_size(space.available));
    if (space.available < first_build) {
        finding.readiness = Readiness::limited;
        finding.cure = fmt::format(
            "a first build of an image with a GPU driver takes up to {}: --cache-dir names another "
            "place, edgegpu cache prune --max-size SIZE makes room",
            human_size(first_build));
    }
    return finding;
}

}  // namespace

std::vector<Finding> examine_machine(const Context& ctx) {
    std::vector<Finding> findings = try_sandboxes(ctx);
    findings.push_back(free_space(ctx));
    std::ranges::move(find_programs(ctx), std::back_inserter(findings));
    return findings;
}

}  // namespace edgegpu
