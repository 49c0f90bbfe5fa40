#include "commands/published/signing_options.hpp"

#include <filesystem>

#include "signing/request.hpp"

namespace edgegpu {

void allow_signatures(const Context& ctx, Signer& signer, const std::string& ref,
                      const SigningOptions& keys) {
    signer.log_to(ctx.log);
    SigningRequest request;
    request.ref = ref;
    request.gpg_key = keys.sign;
    request.gpg_homedir = keys.gpg_homedir;
    if (!keys.sign_ed25519.empty()) {
        request.ed25519_key = std::filesystem::absolute(keys.sign_ed25519);
    }
    if (!keys.sign_command.empty()) {
        request.ed25519_command = std::filesystem::absolute(keys.sign_command);
        request.ed25519_public_key = std::filesystem::absolute(keys.sign_command_key);
    }
    signer.allow(request);
    if (signer.signs_with_gpg()) {
        static_cast<void>(signer.sign_trial());
    }
}

}  // namespace edgegpu
