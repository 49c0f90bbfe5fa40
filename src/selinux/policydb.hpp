#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

namespace edgegpu::selinux {

/// A finished binary policy ("policy.33"), read with libsepol.
class PolicyDb {
public:
    /// Throws Error naming the file if libsepol cannot read it.
    explicit PolicyDb(const std::filesystem::path& path);
    PolicyDb(PolicyDb&&) noexcept;
    PolicyDb& operator=(PolicyDb&&) noexcept;
    ~PolicyDb();

    /// Every boolean with its value.
    [[nodiscard]] std::map<std::string, bool> booleans() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace edgegpu::selinux
