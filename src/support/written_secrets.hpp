#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace edgegpu {

/// A secret that somebody has written into a file. Its text is nowhere in it.
struct WrittenSecret {
    /// 1-based; 0 in a binary file.
    std::uint32_t line = 0;
    /// "a private key", "a password", …
    std::string_view kind;
    bool operator==(const WrittenSecret&) const = default;
};

/// Secrets that belong to one machine, and are for everybody only where exactly that is said.
inline constexpr std::string_view registry_login = "registry login";
inline constexpr std::string_view licence_token = "licence token";

/// Which of these two a secret of this kind ("a login at a registry") is; empty: neither.
[[nodiscard]] std::string_view machine_secret(std::string_view kind);

/// The secrets in the content of a file, in the order of its lines; `name` is its path or last
/// component, since some files consist of passwords by their name.
///
/// `hide_secrets` hides too much rather than too little; this reports only what is one: private
/// keys with their content, tokens of well-known forms, passwords of URLs, registry logins (`auth`
/// of docker's and podman's JSON), values of settings and options with such a name, lines of
/// password files, tokens of NVIDIA's licence server by the name of their file (by its end, if it
/// has nothing but a token). Certificates, public keys, hashes of passwords, and what stands for a
/// value
/// ("${PASSWORD}", "<token>", "changeme", a path) are none, nor are settings in comments and in
/// sources of programs. Content of compressed files is not seen. Takes time proportional to the
/// text's length.
[[nodiscard]] std::vector<WrittenSecret> find_written_secrets(std::string_view name,
                                                              std::string_view content);

}  // namespace edgegpu
