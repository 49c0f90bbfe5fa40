#include "resolve/metadata/gpgkeys.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/files/file.hpp"
#include "transfer/transfer.hpp"
#include "transfer/url.hpp"

namespace edgegpu {

namespace {

constexpr std::uint64_t largest_key = 1ULL << 20U;

std::string read_local_key(const Repository& repository, const std::filesystem::path& path) {
    try {
        return read_file(path, largest_key);
    } catch (const Error& problem) {
        throw error(ErrorKind::fetch, "repository '{}': cannot read gpgkey: {}", repository.id,
                    problem.message())
            .traced("repository defined at " + repository.location.text());
    }
}

std::string download_key(const Context& ctx, const Repository& repository, const std::string& url) {
    const std::filesystem::path file = ctx.cache / "keys" / sha256_hex(url);
    if (ctx.offline) {
        if (!std::filesystem::exists(file)) {
            throw error(ErrorKind::fetch, "repository '{}': key {} is not in the cache",
                        repository.id, redacted(url))
                .hinted("run once without --offline");
        }
        return read_file(file, largest_key);
    }
    std::string key = transfer_text(ctx, repository, url, largest_key, "key");
    make_directories(file.parent_path());
    write_file(file, key);
    return key;
}

}  // namespace

std::string read_key(const Context& ctx, const Repository& repository, const std::string& url) {
    if (const std::optional<std::filesystem::path> path = local_file(url)) {
        return read_local_key(repository, *path);
    }
    return download_key(ctx, repository, url);
}

std::string key_material(const Context& ctx, const Repository& repository) {
    std::string material;
    for (const std::string& url : repository.gpgkeys) {
        material += read_key(ctx, repository, url);
        if (!material.ends_with('\n')) {
            material += '\n';
        }
    }
    return material;
}

bool has_local_keys(const Repository& repository) {
    return std::ranges::all_of(repository.gpgkeys,
                               [](const std::string& url) { return local_file(url).has_value(); });
}

}  // namespace edgegpu
