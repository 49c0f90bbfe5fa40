#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <set>
#include <string>

#include "execution/context.hpp"

namespace edgegpu {

/// Serves the files of a directory over HTTPS on a port of loopback, with a certificate of its own
/// that nobody else has, while the object lives. Only GET and HEAD, nothing outside of the
/// directory, no listings.
class FileServer {
public:
    /// `name`: host name or IP address by which guests reach it, for the certificate. Throws Error.
    FileServer(const Context& ctx, const std::filesystem::path& directory, const std::string& name);
    FileServer(const FileServer&) = delete;
    FileServer& operator=(const FileServer&) = delete;
    ~FileServer();

    [[nodiscard]] std::uint16_t port() const noexcept;
    /// the certificate, PEM: what a client has to trust
    [[nodiscard]] const std::string& certificate() const noexcept;
    /// The files whose content was sent, relative to the directory.
    [[nodiscard]] std::set<std::string> sent() const;
    /// requests answered so far, and bytes sent in them
    [[nodiscard]] std::uint64_t requests() const noexcept;
    [[nodiscard]] std::uint64_t bytes() const noexcept;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace edgegpu
