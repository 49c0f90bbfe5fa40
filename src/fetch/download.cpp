#include "fetch/download.hpp"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "resolve/metadata/metadata_download.hpp"
#include "support/error.hpp"
#include "support/ranges.hpp"
#include "transfer/mirrors.hpp"
#include "transfer/transfer.hpp"
#include "transfer/url.hpp"

namespace edgegpu {

namespace {

/// Limit for a package whose size is missing in the metadata.
constexpr std::uint64_t largest_package = 16ULL << 30U;

WantedFile wanted_file(const Repository& repository, const PackageFile& file) {
    const ResolvedPackage& package = file.package;
    WantedFile wanted;
    wanted.location =
        package.base.empty() ? package.location : join_url(package.base, package.location);
    wanted.destination = file.path;
    wanted.promise.size = package.size;
    wanted.promise.limit = largest_package;
    wanted.promise.checksum = package.checksum;
    wanted.promise.promiser = fmt::format("repository '{}'", repository.id);
    return wanted;
}

/// Whether the repository has changed since the package was resolved, which explains a missing file
/// or a wrong checksum.
bool has_changed(const Context& ctx, const Repository& repository,
                 const std::vector<std::string>& mirrors, const TransferResult& result,
                 const std::string& repomd_sha256) {
    const bool tells = std::ranges::any_of(result.failures, [](const auto& failure) {
        return failure.kind == TransferFailureKind::missing ||
               failure.kind == TransferFailureKind::wrong;
    });
    if (!tells || repomd_sha256.empty()) {
        return false;
    }
    const std::string now = current_repomd(ctx, repository, mirrors);
    return !now.empty() && now != repomd_sha256;
}

[[noreturn]] void report(const Repository& repository, const PackageFile& file,
                         const TransferResult& result, bool changed) {
    const std::string name = file.package.nevra.text();
    Error failure = error(ErrorKind::fetch, "package {} cannot be downloaded", name);
    if (changed) {
        failure = error(ErrorKind::fetch,
                        "repository '{}' changed between its metadata and its packages: package {} "
                        "is no longer available unchanged",
                        repository.id, name);
    }
    for (const TransferFailure& why : result.failures) {
        failure.traced(why.url + ": " + why.reason);
    }
    failure.traced(fmt::format("from repository '{}', {}", repository.id, file.package.location));
    if (changed) {
        throw failure.hinted(
            "run again; with --locked the lockfile requires what the repository no longer has: "
            "resolve without --locked");
    }
    for (const TransferFailure& why : result.failures) {
        if (!why.hint.empty()) {
            throw failure.hinted(why.hint);
        }
    }
    throw failure.hinted(
        "the mirror may be stale or unreachable: try again; whatever is complete "
        "is kept in the cache");
}

}  // namespace

void download_packages(const Context& ctx, const Repository& repository, const PackageFiles& wanted,
                       const std::string& repomd_sha256,
                       const std::function<void(std::size_t)>& arrived) {
    if (ctx.offline) {
        throw error(ErrorKind::fetch,
                    "package {} is not in the cache, and --offline forbids a download",
                    wanted.front().package.nevra.text())
            .traced(fmt::format("packages of repository '{}' that are missing: {}", repository.id,
                                wanted.size()))
            .hinted("run the build once without --offline");
    }
    const std::vector<WantedFile> files =
        mapped(wanted, [&](const PackageFile& file) { return wanted_file(repository, file); });
    const std::vector<std::string> mirrors = find_mirrors(ctx, repository).mirrors;
    const std::vector<TransferResult> results = transfer(ctx, repository, mirrors, files, arrived);
    for (std::size_t i = 0; i < files.size(); ++i) {
        if (results[i].given_up) {
            report(repository, wanted[i], results[i],
                   has_changed(ctx, repository, mirrors, results[i], repomd_sha256));
        }
    }
}

}  // namespace edgegpu
