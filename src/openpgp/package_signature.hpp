#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <rpm/header.h>

#include "support/handles.hpp"

namespace edgegpu {

using RpmHeader = Handle<headerToken_s, headerFree>;

/// The main header of an RPM, not verified. Throws ErrorKind::fetch, with `name` for the package
/// and `shown` for the file, if it is truncated or damaged.
[[nodiscard]] RpmHeader read_package_header(const std::filesystem::path& rpm,
                                            const std::string& shown, const std::string& name);

/// The public keys for packages of one repository.
class PackageKeys {
public:
    /// `files` has the content of each key file (see read_key_file); `origins` are their names in
    /// errors. Throws ErrorKind::fetch for a file without a key that librpm can use.
    PackageKeys(const std::vector<std::string>& files, const std::vector<std::string>& origins);
    PackageKeys(PackageKeys&&) noexcept;
    PackageKeys& operator=(PackageKeys&&) noexcept;
    ~PackageKeys();

    /// Digest of the keys and of the rules, for records of verified packages.
    [[nodiscard]] const std::string& digest() const noexcept { return digest_; }

    /// Verifies header, payload and signatures of the RPM like `rpmkeys -K` with `_pkgverify_level
    /// all`; in addition, at least one signature must use SHA-224 or better, and a key that is not
    /// revoked, is for signing and had not expired when it was used. Throws ErrorKind::fetch, with
    /// `name` for the package and `shown` for the file, if it is unsigned, damaged, signed by
    /// another key, or a signature does not match or is not acceptable. Returns the id of the
    /// key of the acceptable signature, 16 digits. Thread-safe.
    std::string verify(const std::filesystem::path& rpm, const std::string& shown,
                       const std::string& name) const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
    std::vector<std::string> origins_;
    std::string digest_;
};

}  // namespace edgegpu
