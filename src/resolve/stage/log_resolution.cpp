#include "resolve/stage/log_resolution.hpp"

#include <fmt/format.h>

namespace edgegpu {

namespace {

void log_packages(const Log& log, const char* message,
                  const std::vector<ResolvedPackage>& packages) {
    for (const ResolvedPackage& package : packages) {
        log.debug(message, {{"nevra", package.nevra.text()},
                            {"repository", package.repository},
                            {"why", package.why.text()},
                            {"bytes", package.size},
                            {"checksum", package.checksum.hex}});
    }
}

}  // namespace

void log_resolution(const Log& log, const Resolution& resolution) {
    log.info(
        "kernel and driver",
        {{"kernel", resolution.kernel.text()},
         {"driver", resolution.driver_version},
         {"flavor", resolution.driver_flavor ? fmt::format("{}", *resolution.driver_flavor) : ""},
         {"compiled", resolution.dkms_source.has_value()},
         {"packages", resolution.packages.size()}});
    for (const PassedOver& passed : resolution.passed_over) {
        log.info("passed over", {{"what", passed.what}, {"why", passed.reason}});
    }
    if (!log.wants(LogLevel::debug)) {
        return;
    }
    for (const ResolvedRepository& repository : resolution.repositories) {
        log.debug("repository", {{"id", repository.id},
                                 {"repomd_sha256", repository.repomd_sha256},
                                 {"newest_metadata", repository.revision_time}});
    }
    for (const ResolvedModule& module : resolution.modules) {
        log.debug("module stream", {{"name", module.name},
                                    {"stream", module.stream},
                                    {"version", module.version},
                                    {"context", module.context}});
    }
    log_packages(log, "package", resolution.packages);
    log_packages(log, "package of the build root", resolution.build_root);
    log_packages(log, "package of the policy root", resolution.policy_root);
}

}  // namespace edgegpu
