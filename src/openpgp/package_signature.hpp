#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "openpgp/key_file.hpp"

namespace edgegpu {

/// Public keys that packages of one repository may be signed with.
class PackageKeys {
public:
    /// `files` holds the content of each key file (see read_key_file); `origins` name them in
    /// errors. Throws ErrorKind::fetch for a file without a key that librpm can use.
    PackageKeys(const std::vector<std::string>& files, const std::vector<std::string>& origins);
    PackageKeys(PackageKeys&&) noexcept;
    PackageKeys& operator=(PackageKeys&&) noexcept;
    ~PackageKeys();

    /// Digest of the keys and of the rules here, to remember what a package was verified against.
    [[nodiscard]] const std::string& digest() const noexcept { return digest_; }

    /// Checks header, payload and signatures of the RPM as `rpmkeys -K` with `_pkgverify_level all`
    /// does; besides, at least one signature must be over SHA-224 or better, with a key that is not
    /// revoked, is for signatures and had not expired when it was used. Throws ErrorKind::fetch:
    /// unsigned, signed by another key, a signature that is refused or does not fit, damaged;
    /// `name` names the package there, and `shown` the file. Many threads may call it at once:
    /// librpm locks its keyring.
    void verify(const std::filesystem::path& rpm, const std::string& shown,
                const std::string& name) const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
    std::vector<std::string> origins_;
    std::string digest_;
};

}  // namespace edgegpu
