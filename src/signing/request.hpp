#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "blueprint/blueprint.hpp"

namespace edgegpu {

/// What a build may sign, and with which keys. It is set once, before anything of an image is read.
struct SigningRequest {
    /// the only ref that commits may be bound to
    std::string ref;
    /// GPG key id or mail address for commit and summary; empty if they are not signed
    std::string gpg_key;
    /// GPG home of its secret key; empty for the user's
    std::filesystem::path gpg_homedir;
    /// key and certificate for kernel modules; nothing if they are not signed
    std::optional<SecureBootRequest> secure_boot;
};

/// The request of `[ostree]` and `[nvidia.secure_boot]`.
[[nodiscard]] SigningRequest signing_request(const OstreeRequest& ostree,
                                             const std::optional<NvidiaRequest>& nvidia);

/// The certificate of kernel modules' signatures.
struct ModuleCertificate {
    /// name of its file without extension
    std::string name;
    std::string der;
};

}  // namespace edgegpu
