#pragma once

#include <string>

#include "commands/commands.hpp"
#include "signing/signer.hpp"

namespace edgegpu {

/// Has `signer` sign for `ref` with these keys, which goes to the log, and tries whether they can
/// be used. Throws the errors of Signer::allow and Signer::sign_trial.
void allow_signatures(const Context& ctx, Signer& signer, const std::string& ref,
                      const SigningOptions& keys);

}  // namespace edgegpu
