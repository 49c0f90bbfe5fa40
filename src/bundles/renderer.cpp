#include "bundles/renderer.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bundles/go_module.hpp"
#include "execution/program_path.hpp"
#include "sandbox/tool.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/files/file_content.hpp"
#include "support/source_location.hpp"
#include "support/text/enum_names.hpp"
#include "support/text/number.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

constexpr std::chrono::seconds most_time{60};
/// Larger ones are not read for their build information.
constexpr std::uint64_t largest_program = 512U << 20U;

struct Candidate {
    RendererKind kind;
    /// what it is asked for its version with
    std::vector<std::string> question;
    /// the key before the version in the answer
    std::string_view key;
    unsigned major;
    unsigned minor;
};

const std::array<Candidate, 3>& candidates() {
    static const std::array<Candidate, 3> all{{
        {RendererKind::kustomize, {"kustomize", "version"}, "Version:", 5, 0},
        {RendererKind::kubectl,
         {"kubectl", "version", "--client", "-o", "json"},
         "\"gitVersion\":",
         1,
         27},
        {RendererKind::oc,
         {"oc", "version", "--client", "-o", "json"},
         "\"releaseClientVersion\":",
         4,
         14},
    }};
    return all;
}

/// "v5.0.3" or "kustomize/v4.5.7" at the beginning of a text, as {5, 0} and "5.0.3".
struct Version {
    unsigned major = 0;
    unsigned minor = 0;
    std::string text;
};

std::optional<Version> read_version(std::string_view text) {
    text = trim(text, " \t\"{");
    constexpr std::string_view tag = "kustomize/";
    if (text.starts_with(tag)) {
        text.remove_prefix(tag.size());
    }
    if (text.starts_with('v')) {
        text.remove_prefix(1);
    }
    const std::string_view whole =
        text.substr(0, text.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz.-+"));
    const std::optional<unsigned> major = take_number<unsigned>(text);
    if (!major || !text.starts_with('.')) {
        return std::nullopt;
    }
    text.remove_prefix(1);
    const std::optional<unsigned> minor = take_number<unsigned>(text);
    if (!minor) {
        return std::nullopt;
    }
    return Version{*major, *minor, std::string(whole)};
}

/// The version of a kustomize that does not know it: that of its main module, or, for one that was
/// compiled in a checkout, the major version in the path of the module.
std::optional<Version> version_of_module(const Context& ctx, const std::filesystem::path& file) {
    ctx.log.debug("kustomize does not say its version", {{"file", file.string()}});
    const std::optional<GoModule> module = go_module_of(read_file(file, largest_program));
    if (!module) {
        return std::nullopt;
    }
    if (auto version = read_version(module->version)) {
        return version;
    }
    std::string_view path = module->path;
    path.remove_prefix(std::min(path.rfind("/v"), path.size()));
    path.remove_prefix(std::min<std::size_t>(2, path.size()));
    const std::optional<unsigned> major = take_number<unsigned>(path);
    return major ? std::optional(Version{*major, 0, fmt::format("{} (devel)", *major)})
                 : std::nullopt;
}

/// Why a candidate cannot be used, or its version.
std::pair<std::string, std::optional<Version>> examine(const Context& ctx,
                                                       const Candidate& candidate,
                                                       const std::filesystem::path& file) {
    if (file.empty()) {
        return {"not installed", std::nullopt};
    }
    ToolCommand command;
    command.program = file;
    command.argv = candidate.question;
    command.time = time_of_renderer(ctx);
    const ToolResult result = run_tool(ctx, command);
    if (result.ended != Ended::normally) {
        return {fmt::format("does not say its version within {} seconds", command.time.count()),
                std::nullopt};
    }
    std::optional<Version> version = read_version(version_in(candidate.kind, result.output));
    if (!version && candidate.kind == RendererKind::kustomize && result.status == 0 &&
        result.output.find("(devel)") != std::string::npos) {
        version = version_of_module(ctx, file);
    }
    if (!version) {
        const std::vector<std::string> said = last_lines(result.output, 1);
        return {fmt::format("does not say its version but \"{}\"",
                            said.empty() ? "" : shortened(said.front())),
                std::nullopt};
    }
    if (std::pair(version->major, version->minor) < std::pair(candidate.major, candidate.minor)) {
        return {fmt::format("{} is too old", version->text), std::nullopt};
    }
    return {"", version};
}

/// What was found earlier in this process: a build asks several times, and starting the program
/// takes as long as rendering a small bundle.
class KnownRenderer {
public:
    std::optional<Renderer> find(const std::filesystem::path& file) {
        const std::lock_guard lock(mutex_);
        const bool same = renderer_ && renderer_->file == file && state_ == state_of_program(file);
        return same ? renderer_ : std::nullopt;
    }
    Renderer keep(Renderer renderer) {
        const std::lock_guard lock(mutex_);
        state_ = state_of_program(renderer.file);
        return *(renderer_ = std::move(renderer));
    }

private:
    static FileState state_of_program(const std::filesystem::path& file) {
        return state_of(open_to_read(file).get(), file.string());
    }

    std::mutex mutex_;
    std::optional<Renderer> renderer_;
    FileState state_;
};

}  // namespace

std::string Renderer::title() const {
    return fmt::format("{} {}", name_of(kind), version);
}

std::string_view name_of(RendererKind kind) {
    return nth_name(kind, {"kustomize", "kubectl", "oc"});
}

std::chrono::seconds time_of_renderer(const Context& ctx) {
    return ctx.program_timeout.count() == 0 ? most_time : std::min(most_time, ctx.program_timeout);
}

std::string version_in(RendererKind kind, std::string_view output) {
    for (const Candidate& candidate : candidates()) {
        if (candidate.kind != kind) {
            continue;
        }
        const std::size_t key = output.find(candidate.key);
        if (key != std::string_view::npos) {
            const std::optional<Version> version =
                read_version(output.substr(key + candidate.key.size()));
            return version ? version->text : "";
        }
    }
    // kustomize 5 prints nothing else.
    const std::optional<Version> version =
        kind == RendererKind::kustomize ? read_version(trim(output)) : std::nullopt;
    return version ? version->text : "";
}

Renderer find_renderer(const Context& ctx) {
    static KnownRenderer known;
    std::vector<std::string> findings;
    for (const Candidate& candidate : candidates()) {
        const std::filesystem::path file = find_in_path(name_of(candidate.kind));
        if (std::optional<Renderer> found = known.find(file)) {
            return *std::move(found);
        }
        const auto [problem, version] = examine(ctx, candidate, file);
        if (version) {
            ctx.log.info("renderer of bundles", {{"program", file}, {"version", version->text}});
            return known.keep({candidate.kind, version->text, file});
        }
        findings.push_back(fmt::format("{}: {}", name_of(candidate.kind), problem));
    }
    Error missing(
        "bundles need kustomize 5 or newer, kubectl 1.27 or newer or oc 4.14 or newer on the "
        "build machine");
    for (std::string& finding : findings) {
        missing.traced(std::move(finding));
    }
    throw missing.hinted(
        "scripts/setup installs kustomize; any of these programs in PATH will do (oc is in package "
        "openshift-clients)");
}

}  // namespace edgegpu
