#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace edgegpu::test {

/// A directory of its own below /tmp (or $TMPDIR), removed at the end.
class TemporaryDirectory {
public:
    TemporaryDirectory();
    ~TemporaryDirectory();
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

private:
    std::filesystem::path path_;
};

/// Runs a program and throws std::runtime_error with its output if it fails.
void run(const std::vector<std::string>& argv);

/// Builds the RPMs of a spec file (its text) with rpmbuild and puts them, main package and
/// subpackages, into `repository`/Packages. The build time is fixed.
void build_rpm(const std::filesystem::path& repository, const std::string& spec);

/// The text of a spec file without content: `header` are further lines of the preamble ("Requires:
/// x\n"), `rest` follows %description ("%post\n…", "%files\n…"; by default "%files\n").
[[nodiscard]] std::string simple_spec(const std::string& name, const std::string& version,
                                      const std::string& release, const std::string& header = "",
                                      const std::string& rest = "%files\n",
                                      const std::string& arch = "x86_64");

/// Makes (or renews) the metadata of a repository; `comps` (comps.xml) and `modules` (modulemd
/// YAML) are added if not empty.
void createrepo(const std::filesystem::path& repository, const std::string& comps = "",
                const std::string& modules = "");

/// A GPG key pair that lives in a directory of its own.
class SigningKey {
public:
    /// Makes a key without passphrase for `address`.
    explicit SigningKey(const std::string& address = "test@example.com");
    ~SigningKey();
    SigningKey(const SigningKey&) = delete;
    SigningKey& operator=(const SigningKey&) = delete;

    /// Signs repodata/repomd.xml of a repository (repomd.xml.asc).
    void sign_repository(const std::filesystem::path& repository) const;
    /// Signs all RPMs of a repository in place; createrepo has to follow.
    void sign_packages(const std::filesystem::path& repository) const;
    /// The armoured public key, a file.
    [[nodiscard]] const std::filesystem::path& public_key() const noexcept { return public_key_; }
    /// The GnuPG home directory.
    [[nodiscard]] const std::filesystem::path& home() const noexcept { return home_.path(); }
    [[nodiscard]] const std::string& address() const noexcept { return address_; }

private:
    TemporaryDirectory home_;
    std::string address_;
    std::filesystem::path public_key_;
};

}  // namespace edgegpu::test
