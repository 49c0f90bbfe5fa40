#include "fetch/fetch.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "fetch/download.hpp"
#include "openpgp/package_signature.hpp"
#include "resolve/gpgkeys.hpp"
#include "support/digest.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/parallel.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view file_scheme = "file://";

const Repository& repository_of(const Blueprint& blueprint, const ResolvedPackage& package) {
    const auto found = std::find_if(
        blueprint.repositories.begin(), blueprint.repositories.end(),
        [&](const Repository& repository) { return repository.id == package.repository; });
    if (found == blueprint.repositories.end()) {
        throw error(ErrorKind::fetch,
                    "package {} comes from repository '{}', which the blueprint does not have",
                    package.nevra.text(), package.repository)
            .hinted("resolve the blueprint again without --locked");
    }
    return *found;
}

/// The state of a repository that the packages were chosen from.
std::string repomd_of(const Resolution& resolution, const std::string& id) {
    for (const ResolvedRepository& repository : resolution.repositories) {
        if (repository.id == id) {
            return repository.repomd_sha256;
        }
    }
    return "";
}

/// The package inside a file:// repository, which is read in place; nothing for others.
std::optional<fs::path> local_path(const Repository& repository, const ResolvedPackage& package) {
    for (const std::string& url : repository.baseurls) {
        if (url.starts_with(file_scheme)) {
            fs::path path = fs::path(url.substr(file_scheme.size())) / package.location;
            std::error_code code;
            if (fs::is_regular_file(path, code)) {
                return path;
            }
        }
    }
    return std::nullopt;
}

void verify_digest(const fs::path& path, const ResolvedPackage& package) {
    std::error_code code;
    const std::uint64_t size = fs::file_size(path, code);
    const std::string digest = sha256_file(path);
    if (digest != package.sha256) {
        throw error(
            ErrorKind::fetch,
            "package {}: {} bytes with SHA-256 {}, but repository '{}' promises {} bytes with {}",
            package.nevra.text(), size, digest, package.repository, package.size, package.sha256)
            .traced(fmt::format("file {}", path.string()))
            .hinted(
                "the file was truncated or changed after the repository's metadata were made; "
                "remove "
                "it from the cache if it lies there, or have the repository made again");
    }
}

/// Verifies packages against their repositories' keys, and remembers what was verified, so
/// that the next build need not do it again for the same package and keys.
class SignatureCheck {
public:
    SignatureCheck(const Context& ctx, const Blueprint& blueprint) : ctx_(ctx) {
        make_directories(ctx.cache / "verified");
        for (const Repository& repository : blueprint.repositories) {
            if (repository.enabled && repository.gpgcheck) {
                keys_.emplace(repository.id, read_keys(repository));
            }
        }
    }

    void operator()(const Repository& repository, const PackageFile& file) const {
        if (!repository.gpgcheck) {
            return;
        }
        const PackageKeys& keys = keys_.at(repository.id);
        const fs::path mark = ctx_.cache / "verified" / (file.package.sha256 + "-" + keys.digest());
        if (fs::exists(mark)) {
            return;
        }
        keys.verify(file.path, file.package.nevra.text());
        write_file(mark, "");
    }

private:
    PackageKeys read_keys(const Repository& repository) const {
        if (repository.gpgkeys.empty()) {
            throw error(ErrorKind::fetch,
                        "repository '{}' has no gpgkey to check its packages with", repository.id)
                .traced("at " + repository.location.text())
                .hinted("add gpgkey, or set gpgcheck = false");
        }
        std::vector<std::string> armored;
        std::vector<std::string> origins;
        for (const std::string& url : repository.gpgkeys) {
            armored.push_back(read_key(ctx_, repository, url));
            origins.push_back(fmt::format("gpgkey {} of repository '{}'", url, repository.id));
        }
        return {armored, origins};
    }

    const Context& ctx_;
    std::map<std::string, PackageKeys> keys_;
};

}  // namespace

PackageFiles fetch_packages(const Context& ctx, const Blueprint& blueprint,
                            const Resolution& resolution) {
    make_directories(ctx.cache / "packages");
    PackageFiles files;
    std::map<std::string, std::vector<PackageFile>> missing;
    for (const ResolvedPackage& package : resolution.packages) {
        const Repository& repository = repository_of(blueprint, package);
        PackageFile file{package, ctx.cache / "packages" / (package.sha256 + ".rpm")};
        if (!fs::exists(file.path)) {
            if (const auto local = local_path(repository, package)) {
                file.path = *local;
            } else {
                missing[repository.id].push_back(file);
            }
        }
        files.push_back(std::move(file));
    }
    for (const auto& [id, wanted] : missing) {
        download_packages(ctx, repository_of(blueprint, wanted.front().package), wanted,
                          repomd_of(resolution, id));
    }

    const SignatureCheck check_signature(ctx, blueprint);
    std::atomic<std::size_t> done{0};
    std::atomic<std::uint64_t> bytes{0};
    parallel_for(ctx, files.size(), [&](std::size_t i) {
        const PackageFile& file = files[i];
        verify_digest(file.path, file.package);
        check_signature(repository_of(blueprint, file.package), file);
        bytes += file.package.size;
        ctx.console->progress(++done, files.size(), "packages, " + human_size(bytes));
    });
    return files;
}

}  // namespace edgegpu
