#pragma once

#include <cstdint>

#include <sys/types.h>

#include "signing/channel.hpp"

namespace edgegpu {

/// Kinds of messages. Requests: `allow` has the fields of a SigningRequest, `trial` none, the
/// others the content to sign. Answers: `done` has the result (for `allow` name and DER of the
/// certificate and the public ed25519 key, empty without them; for `trial` signature and
/// fingerprint; for `commit` and `summary` the Signatures), `failed` an Error (kind, message, hint,
/// traces).
namespace signing_message {
inline constexpr std::uint32_t allow = 1;
inline constexpr std::uint32_t commit = 2;
inline constexpr std::uint32_t summary = 3;
inline constexpr std::uint32_t module = 4;
inline constexpr std::uint32_t trial = 5;
inline constexpr std::uint32_t done = 100;
inline constexpr std::uint32_t failed = 101;
}  // namespace signing_message

/// Answers requests until the other end is closed, or `allow` failed. Throws Error for an invalid
/// request; the sender must not be answered any more.
void serve_signatures(Channel& channel);

/// Turns a forked child of `parent` into the signing process, with `socket` to the build. Does not
/// return.
[[noreturn]] void become_signing_process(int socket, pid_t parent) noexcept;

}  // namespace edgegpu
