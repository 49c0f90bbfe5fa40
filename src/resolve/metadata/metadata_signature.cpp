#include "resolve/metadata/metadata_signature.hpp"

#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "openpgp/detached_signature.hpp"
#include "openpgp/key_file.hpp"
#include "resolve/metadata/gpgkeys.hpp"
#include "support/error.hpp"
#include "transfer/url.hpp"

namespace edgegpu {

namespace {

std::vector<Certificate> certificates_of(const Context& ctx, const Repository& repository) {
    std::vector<Certificate> all;
    for (const std::string& url : repository.gpgkeys) {
        std::vector<Certificate> some = read_key_file(
            read_key(ctx, repository, url),
            fmt::format("gpgkey {} of repository '{}'", redacted(url), repository.id));
        all.insert(all.end(), std::make_move_iterator(some.begin()),
                   std::make_move_iterator(some.end()));
    }
    return all;
}

/// The keys of the blueprint's other repositories that can be read.
std::vector<OtherKeys> keys_of_others(const Context& ctx,
                                      const std::vector<Repository>& repositories,
                                      const Repository& repository) {
    std::vector<OtherKeys> others;
    for (const Repository& other : repositories) {
        if (other.id == repository.id) {
            continue;
        }
        try {
            others.push_back(
                {fmt::format("repository '{}'", other.id), certificates_of(ctx, other)});
        } catch (const Error& problem) {
            // Ignored: these keys are only used for an error message.
            if (problem.kind() == ErrorKind::interrupted) {
                throw;
            }
        }
    }
    return others;
}

}  // namespace

void check_repomd_signature(const Context& ctx, const std::vector<Repository>& repositories,
                            const Repository& repository, std::string_view repomd,
                            std::string_view signature) {
    const std::vector<Certificate> certificates = certificates_of(ctx, repository);
    const auto began = std::chrono::steady_clock::now();
    DetachedSignature answer = check_detached_signature(ctx, repomd, signature, certificates);
    if (answer.verdict == SignatureVerdict::other_key) {
        answer = check_detached_signature(ctx, repomd, signature, certificates,
                                          keys_of_others(ctx, repositories, repository));
    }
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - began;
    ctx.log.debug("signature of metadata, checked with gpg",
                  {{"repository", repository.id},
                   {"good", answer.verdict == SignatureVerdict::good},
                   {"key", answer.key},
                   {"detail", answer.detail},
                   {"seconds", time.count()}});
    if (answer.verdict != SignatureVerdict::good) {
        throw signature_error(answer, repository.id, "repomd.xml", certificates);
    }
}

}  // namespace edgegpu
