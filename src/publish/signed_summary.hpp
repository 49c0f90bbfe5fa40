#pragma once

#include <filesystem>

#include "execution/context.hpp"
#include "repository/commit_view.hpp"
#include "signing/signer.hpp"

namespace edgegpu {

/// Clients with gpg-verify-summary refuse a summary without a signature. Throws ErrorKind::usage if
/// the summary of the repository is signed, and a new one would not be.
void require_signed_summary(const std::filesystem::path& repository, const Signer& signer);

/// Throws Error if devices that run `image` verify summaries, and would refuse what `signer` signs;
/// ErrorKind::usage if it signs nothing.
void require_verifiable_summary(const Context& ctx, const CommitView& image, Signer& signer);

}  // namespace edgegpu
