#include "fetch/fetch.hpp"

#include <atomic>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cache/entry_lock.hpp"
#include "cache/last_use.hpp"
#include "execution/parallel.hpp"
#include "fetch/download.hpp"
#include "fetch/identity.hpp"
#include "fetch/package_cache.hpp"
#include "openpgp/package_signature.hpp"
#include "resolve/metadata/gpgkeys.hpp"
#include "resolve/metadata/metadata_records.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "transfer/url.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view file_scheme = "file://";

/// The package's file in a file:// repository, if there is one.
std::optional<fs::path> local_path(const Repository& repository, const ResolvedPackage& package) {
    const std::vector<std::string> own{package.base};
    for (const std::string& url : package.base.empty() ? repository.baseurls : own) {
        // A lockfile is untrusted: the location must stay below the repository.
        const std::optional<fs::path> directory =
            url.starts_with(file_scheme) ? local_file(url) : std::nullopt;
        if (directory && !file_place(repository, "package " + package.nevra.text(), package.base,
                                     package.location)
                              .location.empty()) {
            fs::path path = *directory / package.location;
            std::error_code code;
            if (fs::is_regular_file(path, code)) {
                return path;
            }
        }
    }
    return std::nullopt;
}

/// Verifies packages with the keys of their repositories, and records the result in `verified/`, so
/// that the next build does not verify the same package with the same keys again.
class SignatureCheck {
public:
    SignatureCheck(const Context& ctx, const Plan& plan) : ctx_(ctx) {
        make_directories(ctx.cache / "verified");
        for (const auto& [id, source] : plan.sources) {
            if (source.repository.gpgcheck) {
                keys_.emplace(id, read_keys(source.repository));
            }
        }
    }

    void operator()(const Repository& repository, const PackageFile& file) const {
        if (!repository.gpgcheck) {
            record(file, "", "not checked: gpgcheck is off");
            return;
        }
        const PackageKeys& keys = keys_.at(repository.id);
        const fs::path mark = ctx_.cache / "verified" / (file.sha256 + "-" + keys.digest());
        if (mark_used(ctx_, mark)) {
            record(file, read_file(mark, 64), "good, as verified earlier");
            return;
        }
        std::string key;
        try {
            key =
                keys.verify(file.content->path(), file.content->shown(), file.package.nevra.text());
        } catch (const Error& problem) {
            // Of several packages that fail at once, one is the error of the build.
            record(file, "", problem.message());
            throw;
        }
        write_file(mark, key);
        record(file, key, "good");
    }

private:
    void record(const PackageFile& file, const std::string& key, std::string_view result) const {
        ctx_.log.debug("signature of a package", {{"package", file.package.nevra.text()},
                                                  {"repository", file.package.repository},
                                                  {"sha256", file.sha256},
                                                  {"key", key},
                                                  {"result", result}});
    }
    PackageKeys read_keys(const Repository& repository) const {
        if (repository.gpgkeys.empty()) {
            throw error(ErrorKind::fetch,
                        "repository '{}' has no gpgkey to check its packages with", repository.id)
                .traced("at " + repository.location.text())
                .hinted("set gpgkey to the key file that the vendor of the repository publishes");
        }
        std::vector<std::string> armored;
        std::vector<std::string> origins;
        for (const std::string& url : repository.gpgkeys) {
            armored.push_back(read_key(ctx_, repository, url));
            origins.push_back(
                fmt::format("gpgkey {} of repository '{}'", redacted(url), repository.id));
        }
        return {armored, origins};
    }

    const Context& ctx_;
    std::map<std::string, PackageKeys> keys_;
};

/// For each file the index of the first identical one: two roots may contain the same package, and
/// repositories may list one twice.
std::vector<std::size_t> first_of_each(const PackageFiles& files) {
    std::vector<std::size_t> firsts;
    std::map<std::pair<fs::path, std::string>, std::size_t> seen;
    for (const PackageFile& file : files) {
        const auto key = std::make_pair(file.path, file.package.checksum.text());
        firsts.push_back(seen.emplace(key, firsts.size()).first->second);
    }
    return firsts;
}

/// One count and one total of bytes for packages of all repositories and roots.
class Progress {
public:
    /// `what`: label of the progress line. Without `bytes` no total size is shown.
    Progress(const Context& ctx, std::string what, std::size_t packages, std::uint64_t bytes = 0)
        : ctx_(ctx),
          what_(std::move(what)),
          packages_(packages),
          of_bytes_(bytes > 0 ? " of " + human_size(bytes) : "") {}

    /// May be called from any thread.
    void count(const ResolvedPackage& package) {
        bytes_ += package.size;
        ctx_.console->progress(++done_, packages_,
                               fmt::format("{}, {}{}", what_, human_size(bytes_), of_bytes_));
    }

private:
    const Context& ctx_;
    std::string what_;
    std::size_t packages_;
    std::string of_bytes_;
    std::atomic<std::size_t> done_{0};
    std::atomic<std::uint64_t> bytes_{0};
};

/// All packages of the plan, root by root, in the order that `split` relies on.
std::vector<ResolvedPackage> all_packages(const Plan& plan) {
    std::vector<ResolvedPackage> all = plan.image;
    all.insert(all.end(), plan.policy_root.begin(), plan.policy_root.end());
    if (plan.module_build) {
        all.insert(all.end(), plan.module_build->packages.begin(),
                   plan.module_build->packages.end());
        all.push_back(plan.module_build->source);
    }
    return all;
}

FetchedPackages split(const Plan& plan, PackageFiles files) {
    auto next = std::make_move_iterator(files.begin());
    const auto take = [&](std::size_t count) {
        const auto begin = next;
        next += static_cast<std::ptrdiff_t>(count);
        return PackageFiles(begin, next);
    };
    FetchedPackages result;
    result.image = take(plan.image.size());
    result.policy_root = take(plan.policy_root.size());
    if (plan.module_build) {
        result.module_build.emplace();
        result.module_build->packages = take(plan.module_build->packages.size());
        result.module_build->source = *next;
    }
    return result;
}

/// Downloads packages of one repository. Waits for packages that another build is downloading, and
/// downloads them itself if that build fails.
void download_from(const Context& ctx, const Plan::Source& source, const PackageCache& cache,
                   PackageFiles missing, Progress& progress) {
    while (!missing.empty()) {
        PackageFiles own;
        std::vector<std::optional<EntryLock>> locks;
        PackageFiles busy;
        for (PackageFile& file : missing) {
            auto lock = EntryLock::try_take(ctx, EntryKind::package,
                                            package_lock_key(file.package.checksum));
            if (!lock) {
                busy.push_back(std::move(file));
            } else if (mark_used(ctx, cache.path_of(file.package.checksum))) {
                progress.count(file.package);
            } else {
                own.push_back(std::move(file));
                locks.push_back(std::move(lock));
            }
        }
        if (!own.empty()) {
            download_packages(ctx, source.repository, own, source.repomd_sha256,
                              [&](std::size_t i) {
                                  locks[i].reset();
                                  progress.count(own[i].package);
                              });
        }
        locks.clear();
        missing.clear();
        for (PackageFile& file : busy) {
            const EntryLock wait(ctx, EntryKind::package, package_lock_key(file.package.checksum),
                                 "is downloading package " + file.package.nevra.text());
            if (mark_used(ctx, cache.path_of(file.package.checksum))) {
                progress.count(file.package);
            } else {
                missing.push_back(std::move(file));
            }
        }
    }
}

/// Downloads the files that are neither in the cache nor in a local repository.
void download_missing(const Context& ctx, const Plan& plan, const PackageCache& cache,
                      const PackageFiles& files,
                      const std::vector<std::optional<fs::path>>& locals) {
    std::map<std::string, PackageFiles> missing;
    std::set<fs::path> seen;
    std::size_t count = 0;
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < files.size(); ++i) {
        const PackageFile& file = files[i];
        const bool found = mark_used(ctx, file.path);
        const bool first = seen.insert(file.path).second;
        if (first) {
            ctx.log.debug(found ? "cache hit" : "cache miss",
                          {{"kind", "packages"},
                           {"key", file.package.checksum.hex},
                           {"name", file.package.nevra.text()}});
        }
        if (!found && !locals[i] && first) {
            ++count;
            missing[file.package.repository].push_back(file);
            bytes += file.package.size;
        }
    }
    Progress progress(ctx, "downloaded", count, bytes);
    for (auto& [id, wanted] : missing) {
        download_from(ctx, plan.sources.at(id), cache, std::move(wanted), progress);
    }
}

}  // namespace

FetchedPackages fetch_packages(const Context& ctx, const Plan& plan) {
    const PackageCache cache(ctx);
    PackageFiles files;
    std::vector<std::optional<fs::path>> locals;
    for (ResolvedPackage& package : all_packages(plan)) {
        const Repository& repository = plan.sources.at(package.repository).repository;
        locals.push_back(local_path(repository, package));
        fs::path path = cache.path_of(package.checksum);
        files.push_back({std::move(package), std::move(path), "", nullptr});
    }
    download_missing(ctx, plan, cache, files, locals);

    const SignatureCheck check_signature(ctx, plan);
    const auto check = [&](const PackageFile& file) {
        check_signature(plan.sources.at(file.package.repository).repository, file);
        require_identity(file);
    };
    const std::vector<std::size_t> firsts = first_of_each(files);
    Progress progress(ctx, "packages", std::set(firsts.begin(), firsts.end()).size());
    parallel_for(ctx, files.size(), [&](std::size_t i) {
        if (firsts[i] == i) {
            cache.open(files[i], locals[i]);
            check(files[i]);
            progress.count(files[i].package);
        }
    });
    for (std::size_t i = 0; i < files.size(); ++i) {
        if (firsts[i] != i) {
            files[i].path = files[firsts[i]].path;
            files[i].sha256 = files[firsts[i]].sha256;
            files[i].content = files[firsts[i]].content;
            check(files[i]);
        }
    }
    return split(plan, std::move(files));
}

}  // namespace edgegpu
