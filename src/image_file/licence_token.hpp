#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "blueprint/toml/toml_reader.hpp"
#include "disk/injection.hpp"
#include "repository/commit_view.hpp"

namespace edgegpu {

/// Where the image's nvidia-gridd looks for its token, by what its gridd.conf (empty: there is
/// none) sets.
[[nodiscard]] std::string token_directory_of(std::string_view gridd_conf);

/// `[nvidia]` of an injection file: its `client_token` names the token of a virtual GPU's licence,
/// relative to `base`. It gets its own name and NVIDIA's mode, in the directory in which the
/// image's nvidia-gridd looks. Throws ErrorKind::usage, at line and column, for an image without
/// nvidia-gridd or whose gridd.conf needs no token, and for a file that is no such token, or one
/// that has expired or had when the commit was made; its content is in no message.
[[nodiscard]] Injected read_licence_token(const TableReader& table,
                                          const std::filesystem::path& base,
                                          const CommitView& commit);

}  // namespace edgegpu
