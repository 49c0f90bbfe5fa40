#include "oci/image_signature.hpp"

#include <string_view>

#include <fmt/format.h>

#include "execution/process.hpp"
#include "oci/skopeo.hpp"
#include "support/error.hpp"
#include "support/files/directory.hpp"
#include "support/files/file.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

/// Fields of gpg's --with-colons: type, …, the tenth a fingerprint.
constexpr std::size_t fingerprint_field = 9;

std::vector<std::string> fingerprints_in(const std::string& output) {
    std::vector<std::string> found;
    bool primary = false;
    for (const std::string_view line : lines_of(output)) {
        const std::vector<std::string_view> fields = split(line, ':');
        if (fields.front() == "sec") {
            primary = true;
        } else if (fields.front() == "fpr" && primary && fields.size() > fingerprint_field) {
            found.emplace_back(fields[fingerprint_field]);
            primary = false;
        }
    }
    return found;
}

/// "edge/node" of "quay.io/edge/node:1".
std::string path_in_registry(const ImagePlace& place) {
    const std::string_view repository = parts_of_image_name(place.rest).repository;
    return std::string(repository.substr(repository.find('/') + 1));
}

}  // namespace

std::vector<std::string> signing_environment(const ImageSigning& signing) {
    if (signing.homedir.empty()) {
        return {};
    }
    return {"GNUPGHOME=" + signing.homedir.string()};
}

std::string find_image_key(const Context& ctx, const std::string& key, const fs::path& homedir) {
    ProcessRequest request;
    request.argv = {"gpg", "--batch", "--with-colons", "--fingerprint"};
    if (!homedir.empty()) {
        request.argv.push_back("--homedir=" + homedir.string());
    }
    request.argv.insert(request.argv.end(), {"--list-secret-keys", "--", key});
    request.env = skopeo_environment();
    const ProcessResult result = run_process(ctx, request);
    const std::vector<std::string> found = fingerprints_in(result.output);
    if (found.size() != 1) {
        const std::string where = homedir.empty() ? "GnuPG's home of this user" : homedir.string();
        throw error(ErrorKind::usage, "{} has {} secret {} \"{}\"", where,
                    found.empty() ? "no" : std::to_string(found.size()),
                    found.size() > 1 ? "keys" : "key", key)
            .hinted("gpg --list-secret-keys lists them; --gpg-homedir names another home");
    }
    return found.front();
}

void write_signature_store(const ImageSigning& signing, const fs::path& directory) {
    make_directories(directory);
    // skopeo before 1.10 knows the second name alone.
    const std::string url = "file://" + signing.signatures.string();
    write_file(
        directory / "signatures.yaml",
        fmt::format("default-docker:\n  lookaside-staging: {0}\n  sigstore-staging: {0}\n", url));
}

void verify_image_signature(const Context& ctx, const ImageSigning& signing,
                            const ImagePlace& place, const fs::path& manifest,
                            const std::string& digest) {
    const fs::path directory =
        signing.signatures / fmt::format("{}@sha256={}", path_in_registry(place), digest);
    const std::size_t count = children_of(directory).size();
    if (count == 0) {
        throw error("skopeo left no signature in {}", directory.string());
    }
    ProcessRequest request;
    request.argv = {"skopeo",          "standalone-verify",
                    manifest.string(), place.rest,
                    signing.key,       (directory / fmt::format("signature-{}", count)).string()};
    request.env = skopeo_environment();
    for (std::string& variable : signing_environment(signing)) {
        request.env.push_back(std::move(variable));
    }
    if (const ProcessResult result = run_process(ctx, request); result.status != 0) {
        throw error("the signature of image {} cannot be verified: {}", place.rest,
                    trim(result.output))
            .hinted("has the key expired? gpg --list-keys shows it");
    }
}

}  // namespace edgegpu
