#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>

#include "execution/context.hpp"

namespace edgegpu {

/// The programs that contain kustomize, the best first.
enum class RendererKind { kustomize, kubectl, oc };

/// A program of the build machine that renders bundles, new enough to be used.
struct Renderer {
    RendererKind kind = RendererKind::kustomize;
    /// "5.0.3"; of kubectl and oc their own version
    std::string version;
    std::filesystem::path file;

    /// "kustomize 5.0.3"
    [[nodiscard]] std::string title() const;
};

/// The program's name.
[[nodiscard]] std::string_view name_of(RendererKind kind);

/// Finds kustomize 5 or newer, else kubectl 1.27 or newer, else oc 4.14 or newer in PATH, by
/// running them in the sandbox for their version. The version of a kustomize that was compiled
/// without one
/// ("(devel)") is that of its module. Throws Error, if there is none, with what was found instead
/// and what to install.
[[nodiscard]] Renderer find_renderer(const Context& ctx);

/// How long a renderer may run: a minute, or `ctx.program_timeout` if that is less.
[[nodiscard]] std::chrono::seconds time_of_renderer(const Context& ctx);

/// "5.0.3" from what `kustomize version`, `kubectl version --client -o json` or
/// `oc version --client -o json` prints; empty if it is not in there.
[[nodiscard]] std::string version_in(RendererKind kind, std::string_view output);

}  // namespace edgegpu
