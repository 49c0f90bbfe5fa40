#pragma once

#include <string>
#include <vector>

#include "resolve/solve/pool.hpp"

namespace edgegpu {

/// Adds the packages as what is installed. Throws Error naming the parent if libsolv cannot read a
/// header.
void add_installed(Pool* pool, const InstalledPackages& installed);

/// The kernel of the parent, which the image keeps. Throws ErrorKind::unsolvable if it has none or
/// several, or if its kernel does not match `glob` (`[nvidia] kernel`; empty: any does).
[[nodiscard]] Id installed_kernel(const PackagePool& pool, const std::string& glob);

/// While it exists, the solver does not see the packages of the parent: roots in which something is
/// compiled begin empty.
class WithoutInstalled {
public:
    explicit WithoutInstalled(const PackagePool& pool);
    ~WithoutInstalled();
    WithoutInstalled(const WithoutInstalled&) = delete;
    WithoutInstalled& operator=(const WithoutInstalled&) = delete;

private:
    Pool* pool_;
    ::Repo* installed_;
    std::vector<Id> hidden_;
};

}  // namespace edgegpu
