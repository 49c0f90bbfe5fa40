#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace edgegpu {

/// The main module of a Go program.
struct GoModule {
    /// "sigs.k8s.io/kustomize/kustomize/v5"
    std::string path;
    /// "v5.0.3"; "(devel)" if it was compiled in a checkout
    std::string version;
};

/// Reads it from the build information in a program's file, as `go version -m` does (the format is
/// described in Go's debug/buildinfo). Nothing for other files, and for programs compiled by a Go
/// older than 1.18.
[[nodiscard]] std::optional<GoModule> go_module_of(std::string_view program);

}  // namespace edgegpu
