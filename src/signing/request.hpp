#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "blueprint/blueprint.hpp"

namespace edgegpu {

/// What a build may sign, and with which keys. Fixed once: before anything of an image is read.
struct SigningRequest {
    /// the only ref that commits may be bound to
    std::string ref;
    /// GPG key id or mail address for the commit and the summary; empty: they stay unsigned
    std::string gpg_key;
    /// where its secret half is; empty: the user's GPG home
    std::filesystem::path gpg_homedir;
    /// what kernel modules are signed with; nothing: they are not
    std::optional<SecureBootRequest> secure_boot;
};

/// What the blueprint says of it.
[[nodiscard]] SigningRequest signing_request(const Blueprint& blueprint);

/// The certificate that belongs to the key of kernel modules.
struct ModuleCertificate {
    /// name of its file without extension
    std::string name;
    std::string der;
};

}  // namespace edgegpu
