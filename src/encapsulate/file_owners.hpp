#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "execution/context.hpp"
#include "repository/commit_view.hpp"

namespace edgegpu {

/// Which package a path of a commit comes from. Packages are named by their source package
/// ("systemd" for systemd-udev as well), since what is built together changes together.
class FileOwners {
public:
    FileOwners() = default;
    /// `owners`: path as packages have it ("/etc/passwd", "/bin/sh") → source package
    explicit FileOwners(std::unordered_map<std::string, std::string> owners)
        : owners_(std::move(owners)) {}

    [[nodiscard]] bool empty() const noexcept { return owners_.empty(); }
    /// The source package of a path of a commit ("/usr/etc/passwd", "/usr/bin/sh"), or empty.
    [[nodiscard]] std::string_view owner(std::string_view path) const;

private:
    std::unordered_map<std::string, std::string> owners_;
};

/// Reads the package database of a commit (/usr/share/rpm) with the builder's rpm, in a sandbox:
/// the commit may be anybody's. Empty, with a warning on the console, if there is no database, or
/// none that can be read: an image can be split without it.
[[nodiscard]] FileOwners read_file_owners(const Context& ctx, const CommitView& commit);

}  // namespace edgegpu
