#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace edgegpu {

/// Public keys that packages of one repository may be signed with.
class PackageKeys {
public:
    /// `armored` holds the content of each key file (OpenPGP, ASCII armour); `origin` names
    /// them in errors. Throws ErrorKind::fetch for a key that librpm cannot read.
    PackageKeys(const std::vector<std::string>& armored, const std::vector<std::string>& origins);
    PackageKeys(PackageKeys&&) noexcept;
    PackageKeys& operator=(PackageKeys&&) noexcept;
    ~PackageKeys();

    /// Digest of the keys, to remember what a package was verified against.
    [[nodiscard]] const std::string& digest() const noexcept { return digest_; }

    /// Checks header, payload and signature of the RPM. Throws ErrorKind::fetch: unsigned,
    /// signed by another key, damaged; `name` names the package there. Many threads may call it
    /// at once: librpm locks its keyring.
    void verify(const std::filesystem::path& rpm, const std::string& name) const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
    std::vector<std::string> origins_;
    std::string digest_;
};

}  // namespace edgegpu
