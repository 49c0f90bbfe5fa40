#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "resolve/solve/pool.hpp"

namespace edgegpu {

/// A kernel symbol that a package of modules wants otherwise than a kernel has it. RHEL's kernels
/// provide "kernel(SYMBOL) = 0xCHECKSUM" for what they export; modules require that, or
/// "ksym(SYMBOL) = 0xCHECKSUM", with the checksums of the kernel they were built for.
struct KabiDifference {
    std::string symbol;
    std::string wanted;
    /// empty: the kernel does not export it
    std::string has;
};

/// SYMBOL of "kernel(SYMBOL)" or "ksym(SYMBOL)"; empty for any other capability.
[[nodiscard]] std::string_view kernel_symbol(std::string_view capability);

/// Which kernel symbols of a package differ from what the kernel, with all packages of its version,
/// provides; sorted by symbol, those that it has with another checksum first. `total` gets the
/// number of symbols that the package wants. Only after `PackagePool::prepare`.
[[nodiscard]] std::vector<KabiDifference> kabi_differences(const PackagePool& pool, Id package,
                                                           Id kernel, std::size_t& total);

/// The first difference in words, without a look at other kernels; empty where there is none.
[[nodiscard]] std::string kabi_message(const PackagePool& pool, Id package, Id kernel);

/// That a package of modules was built for another kernel.
struct KabiCause {
    std::string message;
    /// count and first symbols; the nearest kernel that has them all
    std::vector<std::string> lines;
    /// kernels, hidden or not, whose symbols fit, the nearest first
    std::vector<Id> fitting;
};

/// Says so where symbols differ; nothing where none does.
[[nodiscard]] std::optional<KabiCause> explain_kabi(const PackagePool& pool, Id package, Id kernel);

}  // namespace edgegpu
