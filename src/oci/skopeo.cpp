#include "oci/skopeo.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "execution/process.hpp"
#include "oci/manifest.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/files/directory.hpp"
#include "support/files/file.hpp"
#include "support/handles.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

/// Before the second attempt; it doubles for each of the others.
constexpr std::chrono::milliseconds first_pause{250};

/// Variables that say where the user's configuration is, and the way to the network.
constexpr std::array<const char*, 17> passed_on{"HOME",
                                                "XDG_CONFIG_HOME",
                                                "XDG_RUNTIME_DIR",
                                                "REGISTRY_AUTH_FILE",
                                                "PATH",
                                                "DOCKER_CONFIG",
                                                "CONTAINERS_REGISTRIES_CONF",
                                                "DOCKER_CERT_PATH",
                                                "HTTP_PROXY",
                                                "HTTPS_PROXY",
                                                "NO_PROXY",
                                                "http_proxy",
                                                "https_proxy",
                                                "no_proxy",
                                                "SSL_CERT_FILE",
                                                "SSL_CERT_DIR",
                                                "REGISTRIES_CONFIG_PATH"};

/// What skopeo says of a failure, without the form of its log.
std::string reason_in(const std::string& output) {
    constexpr std::string_view mark = "level=fatal msg=\"";
    const std::size_t at = output.rfind(mark);
    if (at == std::string::npos) {
        const std::vector<std::string> last = last_lines(output, 1);
        return last.empty() ? "skopeo said nothing" : last.front();
    }
    std::string reason;
    for (std::size_t i = at + mark.size(); i < output.size() && output[i] != '"'; ++i) {
        if (output[i] == '\\' && i + 1 < output.size()) {
            ++i;
            reason += output[i] == 'n' || output[i] == 't' ? ' ' : output[i];
        } else {
            reason += output[i];
        }
    }
    return reason;
}

std::string host_of(const ImagePlace& place) {
    return place.rest.substr(0, place.rest.find('/'));
}

/// "docker://quay.io/x/app"
std::string repository_of(const ImagePlace& place) {
    return ImagePlace{place.transport, std::string(parts_of_image_name(place.rest).repository)}
        .text();
}

/// What kind of failure it is, by the words of it that have stayed the same over skopeo's versions.
enum class SkopeoFailure {
    files,
    certificate,
    credentials,
    name,
    content,
    policy,
    connection,
    silence
};

SkopeoFailure failure_kind(const ImagePlace& place, const std::string& reason) {
    const auto says = [&](std::initializer_list<std::string_view> words) {
        return std::ranges::any_of(
            words, [&](std::string_view word) { return reason.find(word) != std::string::npos; });
    };
    if (says({"rejected by policy", "policy.json"})) {
        return SkopeoFailure::policy;
    }
    if (place.transport != ImageTransport::docker) {
        return SkopeoFailure::files;
    }
    if (says({"certificate", "x509", "server gave HTTP response"})) {
        return SkopeoFailure::certificate;
    }
    if (says({"unauthorized", "authentication required", "denied", "invalid username/password",
              "status 401", "status 403"})) {
        return SkopeoFailure::credentials;
    }
    if (says({"manifest unknown", "name unknown", "not found", "status 404"})) {
        return SkopeoFailure::name;
    }
    if (says({"signature"})) {
        return SkopeoFailure::policy;
    }
    return says({"Digest did not match", "digest"}) ? SkopeoFailure::content
                                                    : SkopeoFailure::connection;
}

std::string hint_for(const ImagePlace& place, SkopeoFailure failure) {
    const std::string host = host_of(place);
    switch (failure) {
        case SkopeoFailure::files:
            return "is it an image of this kind? 'skopeo inspect " + place.text() + "' says more";
        case SkopeoFailure::certificate:
            return "put the authority's certificate into /etc/containers/certs.d/" + host +
                   "/ca.crt";
        case SkopeoFailure::credentials:
            return "log in with 'skopeo login " + host +
                   "', or name a file with the credentials in REGISTRY_AUTH_FILE";
        case SkopeoFailure::name:
            return "is its name right? 'skopeo list-tags " + repository_of(place) +
                   "' shows the tags";
        case SkopeoFailure::content:
            return "the registry, or a mirror of it, sends other bytes than the image has: push "
                   "the image again, or use another registry";
        case SkopeoFailure::policy:
            return "the build machine's policy.json refuses it (containers-policy.json(5))";
        case SkopeoFailure::silence:
        case SkopeoFailure::connection:
            break;
    }
    return "is the registry running, and reachable from here? Layers that have arrived are kept: "
           "build again";
}

/// What to do about a push that failed.
std::string push_hint(const ImagePlace& place, SkopeoFailure failure) {
    switch (failure) {
        case SkopeoFailure::certificate:
            return hint_for(place, failure);
        case SkopeoFailure::credentials:
            return hint_for(place, failure) + "; may this user push there?";
        case SkopeoFailure::name:
            return "does the registry have such a repository, and create new ones?";
        default:
            return "is the registry running, and reachable from here? Layers that it has are not "
                   "sent again";
    }
}

/// What a run of skopeo is for, and how long it may take.
struct SkopeoTask {
    /// "look up"
    std::string_view doing;
    ProcessLimits limits;
    bool push = false;
    /// Beside skopeo_environment().
    std::vector<std::string> environment;
};

/// Why a run of skopeo failed.
struct SkopeoProblem {
    SkopeoFailure kind;
    std::string reason;
    /// How often it may fail like this.
    int attempts;
};

SkopeoProblem problem_of(const ImagePlace& place, const ProcessLimits& limits,
                         const ProcessResult& result) {
    constexpr int attempts = 4;
    // Of a registry that is silent for minutes, there is little hope.
    constexpr int silent_attempts = 2;
    if (result.ended == Ended::written) {
        return {SkopeoFailure::content, "more bytes have arrived than its manifest declares", 1};
    }
    if (result.ended != Ended::normally) {
        const bool idle = result.ended == Ended::idle;
        return {SkopeoFailure::silence,
                fmt::format("{} for {} seconds", idle ? "nothing has arrived" : "no answer",
                            idle ? limits.idle.count() : limits.time.count()),
                silent_attempts};
    }
    std::string reason = reason_in(result.output);
    const SkopeoFailure kind = failure_kind(place, reason);
    return {kind, std::move(reason), kind == SkopeoFailure::connection ? attempts : 1};
}

/// Runs skopeo with `arguments`; returns what it writes to its standard output. Skopeo's own
/// --retry-times leaves out connections that break.
std::string run_skopeo(const Context& ctx, const ImageAccess& access, const SkopeoTask& task,
                       const std::vector<std::string>& arguments) {
    ProcessRequest request;
    request.argv = {"skopeo"};
    request.argv.insert(request.argv.end(), arguments.begin(), arguments.end());
    request.env = skopeo_environment();
    request.env.insert(request.env.end(), task.environment.begin(), task.environment.end());
    request.purpose = "image " + shown_image(access.place.text());
    request.limits = task.limits;
    for (int attempt = 1;; ++attempt) {
        const Fd output(::memfd_create("skopeo", MFD_CLOEXEC));
        if (!output) {
            throw errno_error("memory file for skopeo's output", errno);
        }
        request.standard_output = output.get();
        const ProcessResult result = run_process(ctx, request);
        if (result.status == 0) {
            return read_file(output.get(), "skopeo's output", largest_manifest + 1);
        }
        const SkopeoProblem problem = problem_of(access.place, task.limits, result);
        if (attempt >= problem.attempts) {
            throw error(ErrorKind::fetch, "cannot {} image {}: {}", task.doing,
                        shown_image(access.place.text()), problem.reason)
                .hinted(task.push ? push_hint(access.place, problem.kind)
                                  : hint_for(access.place, problem.kind));
        }
        ctx.pause(first_pause * (1 << (attempt - 1)));
    }
}

void require_online(const Context& ctx, const ImageAccess& access, std::string_view what) {
    if (ctx.offline && access.place.transport == ImageTransport::docker) {
        throw error(ErrorKind::fetch, "offline, and the cache does not have {} of image {}", what,
                    shown_image(access.place.text()))
            .hinted("build once without --offline; with --locked only what is locked is needed");
    }
}

/// Options that choose an image of an index.
std::vector<std::string> choosing(const ImageAccess& access) {
    std::vector<std::string> options{"--override-os=linux"};
    if (!access.architecture.empty()) {
        options.push_back("--override-arch=" + access.architecture);
    }
    return options;
}

/// A manifest of the index of an image layout, of which skopeo gives the index alone; empty if
/// there is none.
std::string manifest_in_layout(const ImagePlace& place, const std::string& sha256) {
    std::error_code code;
    const fs::path layout = fs::is_directory(place.rest, code)
                                ? place.rest
                                : place.rest.substr(0, place.rest.rfind(':'));
    const fs::path file = layout / "blobs/sha256" / sha256;
    return fs::is_regular_file(file, code) ? read_file(file, largest_manifest) : std::string();
}

std::string inspect(const Context& ctx, const ImageAccess& access, bool config) {
    require_online(ctx, access, config ? "the configuration" : "the manifest");
    std::vector<std::string> arguments = choosing(access);
    arguments.insert(arguments.end(), {"inspect", "--raw"});
    if (config) {
        arguments.emplace_back("--config");
    }
    if (access.place.transport == ImageTransport::docker) {
        arguments.emplace_back(access.tls_verify ? "--tls-verify=true" : "--tls-verify=false");
    }
    arguments.push_back(access.place.text());
    SkopeoTask task{"look up", {}, false, {}};
    if (access.place.transport == ImageTransport::docker) {
        task.limits.time = ctx.registry_timeout;
    }
    return run_skopeo(ctx, access, task, arguments);
}

}  // namespace

std::vector<std::string> skopeo_environment() {
    std::vector<std::string> result{"LC_ALL=C", "TZ=UTC"};
    for (const char* name : passed_on) {
        if (const char* value = std::getenv(name); value != nullptr) {
            result.push_back(std::string(name) + '=' + value);
        }
    }
    return result;
}

std::string read_image_manifest(const Context& ctx, const ImageAccess& access) {
    return inspect(ctx, access, false);
}

std::string read_image_manifest(const Context& ctx, const ImageAccess& access,
                                const std::string& sha256) {
    std::string text = inspect(ctx, access.pinned(sha256), false);
    if (sha256_hex(text) != sha256 && access.place.transport == ImageTransport::oci) {
        text = manifest_in_layout(access.place, sha256);
    }
    if (sha256_hex(text) != sha256) {
        const bool remote = access.place.transport == ImageTransport::docker;
        throw error(ErrorKind::fetch, "image {}: its manifest {} is not there, but {}",
                    shown_image(access.place.text()), sha256, sha256_hex(text))
            .hinted(remote ? "the registry, or a mirror of it, sends other bytes than the image has"
                           : "if the image was changed on purpose, resolve it again: build without "
                             "--locked. Of an image for several architectures, use an OCI layout, "
                             "or copy one architecture: skopeo --override-arch=… copy");
    }
    return text;
}

std::string read_image_config(const Context& ctx, const ImageAccess& access) {
    return inspect(ctx, access, true);
}

void copy_image_layers(const Context& ctx, const ImageAccess& access, std::uint64_t size,
                       const fs::path& blobs) {
    require_online(ctx, access, "all layers");
    // Its manifest is in OCI's format whatever the image's: only the layers are used.
    const TemporaryDirectory layout(fs::path(blobs).concat(".layout"));
    std::vector<std::string> arguments = choosing(access);
    arguments.insert(
        arguments.end(),
        {"--tmpdir=" + layout.path().string(), "copy", "--remove-signatures",
         "--dest-oci-accept-uncompressed-layers", "--dest-shared-blob-dir=" + blobs.string()});
    if (access.place.transport == ImageTransport::docker) {
        arguments.emplace_back(access.tls_verify ? "--src-tls-verify=true"
                                                 : "--src-tls-verify=false");
    }
    arguments.push_back(access.place.text());
    arguments.push_back("oci:" + (layout.path() / "image").string() + ":copy");
    SkopeoTask task{"copy", {}, false, {}};
    if (access.place.transport == ImageTransport::docker) {
        // Its manifest and configuration are written as well.
        constexpr std::uint64_t documents = 4 * largest_manifest;
        task.limits.idle = ctx.layer_timeout;
        task.limits.written = {layout.path(), blobs};
        task.limits.most_written = size + documents;
    }
    static_cast<void>(run_skopeo(ctx, access, task, arguments));
}

void push_image(const Context& ctx, const fs::path& layout, const ImageAccess& access,
                const std::optional<ImageSigning>& signing) {
    SkopeoTask task{"push", {}, true, {}};
    std::vector<std::string> arguments{"--insecure-policy",
                                       "--tmpdir=" + layout.parent_path().string()};
    std::vector<std::string> options{"--preserve-digests", access.tls_verify
                                                               ? "--dest-tls-verify=true"
                                                               : "--dest-tls-verify=false"};
    if (signing) {
        const fs::path store = signature_store(layout);
        write_signature_store(store);
        arguments.push_back("--registries.d=" + store.string());
        options.push_back("--sign-by=" + signing->key);
        task.environment = signing_environment(*signing);
    }
    arguments.emplace_back("copy");
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.insert(arguments.end(), {"oci:" + layout.string(), access.place.text()});
    static_cast<void>(run_skopeo(ctx, access, task, arguments));
}

}  // namespace edgegpu
