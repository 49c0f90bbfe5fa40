#include "oci/image_signature.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include "execution/process.hpp"
#include "oci/skopeo.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/handles.hpp"
#include "support/text/number.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

/// Fields of gpg's --with-colons (doc/DETAILS of GnuPG), from 0.
constexpr std::size_t validity_field = 1;
constexpr std::size_t expiry_field = 6;
constexpr std::size_t fingerprint_field = 9;

struct SecretKey {
    std::string fingerprint;
    /// why nothing can be signed with it, or empty
    std::string unusable;
};

std::string unusable_by(const std::vector<std::string_view>& fields) {
    const std::string_view validity = fields.size() > expiry_field ? fields[validity_field] : "";
    if (validity == "e") {
        return fmt::format("has expired on {}",
                           day_text(leading_number<std::int64_t>(fields[expiry_field])));
    }
    return validity == "r" ? "is revoked" : "";
}

std::vector<SecretKey> secret_keys_in(const std::string& output) {
    std::vector<SecretKey> found;
    std::optional<std::string> unusable;
    for (const std::string_view line : lines_of(output)) {
        const std::vector<std::string_view> fields = split(line, ':');
        if (fields.front() == "sec") {
            unusable = unusable_by(fields);
        } else if (fields.front() == "fpr" && unusable && fields.size() > fingerprint_field) {
            found.push_back({std::string(fields[fingerprint_field]), *unusable});
            unusable.reset();
        }
    }
    return found;
}

/// "edge/node" of "quay.io/edge/node:1".
std::string path_in_registry(const ImagePlace& place) {
    const std::string_view repository = parts_of_image_name(place.rest).repository;
    return std::string(repository.substr(repository.find('/') + 1));
}

/// Nodes ask for the first, the second and so on, up to one that is not there.
std::string signature_name(std::size_t number) {
    return fmt::format("signature-{}", number);
}

/// Also as a value in YAML.
std::string as_path_of_url(std::string_view path) {
    std::string text;
    constexpr std::string_view plain =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/_.-";
    for (const char c : path) {
        if (plain.find(c) != std::string_view::npos) {
            text += c;
        } else {
            text += fmt::format("%{:02X}", static_cast<unsigned char>(c));
        }
    }
    return text;
}

/// What a signature has to be of, and by whom.
struct Verification {
    const ImageSigning& signing;
    const ImagePlace& place;
    const fs::path& manifest;

    /// Why a node would not take it; nothing: it would.
    [[nodiscard]] std::optional<std::string> problem_of(const Context& ctx,
                                                        const fs::path& signature) const {
        ProcessRequest request;
        request.argv = {"skopeo",   "standalone-verify", manifest.string(),
                        place.rest, signing.key,         signature.string()};
        request.env = skopeo_environment();
        std::ranges::move(signing_environment(signing), std::back_inserter(request.env));
        const ProcessResult result = run_process(ctx, request);
        return result.status == 0 ? std::nullopt : std::optional<std::string>(trim(result.output));
    }
};

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
    const std::vector<SecretKey> found = secret_keys_in(result.output);
    const std::string where = homedir.empty() ? "GnuPG's home of this user" : homedir.string();
    if (found.size() != 1) {
        throw error(ErrorKind::usage, "{} has {} secret {} \"{}\"", where,
                    found.empty() ? "no" : std::to_string(found.size()),
                    found.size() > 1 ? "keys" : "key", key)
            .hinted("gpg --list-secret-keys lists them; --gpg-homedir names another home");
    }
    if (!found.front().unusable.empty()) {
        throw error(ErrorKind::usage,
                    "the secret key \"{}\" of {} {}: nodes would take no signature", key, where,
                    found.front().unusable)
            .hinted("name another key with --sign; gpg --quick-set-expire gives one more time");
    }
    return found.front().fingerprint;
}

fs::path signature_store(const fs::path& layout) {
    return fs::path(layout).concat(".signatures");
}

void write_signature_store(const fs::path& store) {
    make_directories(store);
    // skopeo before 1.10 knows the second name alone.
    write_file(store / "signatures.yaml",
               fmt::format("default-docker:\n  lookaside-staging: {0}\n  sigstore-staging: {0}\n",
                           "file://" + as_path_of_url(fs::absolute(store).string())));
}

void add_image_signature(const Context& ctx, const ImageSigning& signing, const fs::path& store,
                         const ImagePlace& place, const fs::path& manifest,
                         const std::string& digest) {
    const std::string name = fmt::format("{}@sha256={}", path_in_registry(place), digest);
    const fs::path made = store / name / signature_name(1);
    if (!fs::exists(made)) {
        throw error("skopeo left no signature of image {}", place.rest);
    }
    const Verification verification{signing, place, manifest};
    if (const auto problem = verification.problem_of(ctx, made)) {
        throw error("the signature of image {} cannot be verified: {}", place.rest, *problem)
            .hinted("has the key expired? gpg --list-keys shows it");
    }
    const fs::path directory = signing.signatures / name;
    make_directories(directory);
    // The same image may be signed for two tags at the same time.
    const Fd lock(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!lock || !lock_file(lock.get(), LOCK_EX)) {
        throw errno_error(directory.string(), errno);
    }
    std::size_t number = 1;
    while (fs::exists(directory / signature_name(number)) &&
           verification.problem_of(ctx, directory / signature_name(number))) {
        ++number;
    }
    write_file(directory / signature_name(number), read_file(made), 0644, true);
}

}  // namespace edgegpu
