#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "support/source_location.hpp"

namespace edgegpu {

/// The key that signs kernel modules.
struct ModuleKey {
    /// Absolute path of the private key (PEM, RSA, without passphrase). Only the signing process
    /// reads it.
    std::filesystem::path key;
    /// Absolute path of its certificate (PEM or DER).
    std::filesystem::path certificate;
    /// where the blueprint names them
    SourceLocation location;
};

/// What a build may sign, and with which keys. It is set once, before anything of an image is read.
struct SigningRequest {
    /// the only ref that commits may be bound to
    std::string ref;
    /// GPG key id or mail address for commit and summary; empty if they are not signed
    std::string gpg_key;
    /// GPG home of its secret key; empty for the user's
    std::filesystem::path gpg_homedir;
    /// nothing if kernel modules are not signed
    std::optional<ModuleKey> module_key = {};
    /// file with the secret ed25519 key for commit and summary, absolute; empty if there is none
    std::filesystem::path ed25519_key = {};
    /// instead of that: a program that signs (Ed25519Command), absolute, and a file with the public
    /// key; empty if there is none
    std::filesystem::path ed25519_command = {};
    std::filesystem::path ed25519_public_key = {};
};

/// The signatures of a commit or of a summary; empty where there is no key of the kind.
struct Signatures {
    /// OpenPGP, binary packets
    std::string gpg;
    /// 64 bytes
    std::string ed25519;
};

/// The certificate of kernel modules' signatures.
struct ModuleCertificate {
    /// name of its file without extension
    std::string name;
    std::string der;
};

}  // namespace edgegpu
