#include "commit/signing_request.hpp"

namespace edgegpu {

SigningRequest signing_request(const OstreeRequest& ostree,
                               const std::optional<NvidiaRequest>& nvidia) {
    SigningRequest request;
    request.ref = ostree.ref;
    request.gpg_key = ostree.sign;
    request.gpg_homedir = ostree.gpg_homedir;
    request.ed25519_key = ostree.sign_ed25519;
    request.ed25519_command = ostree.sign_command;
    request.ed25519_public_key = ostree.ed25519_public_key;
    if (nvidia && nvidia->secure_boot) {
        const SecureBootRequest& modules = *nvidia->secure_boot;
        request.module_key = {modules.key, modules.certificate, modules.location};
    }
    return request;
}

}  // namespace edgegpu
