#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "resolve/solve/pool.hpp"

namespace edgegpu {

/// A kernel symbol that a package with kernel modules requires and a kernel does not provide with
/// the same checksum. RHEL's kernels provide "kernel(SYMBOL) = 0xCHECKSUM" for exported symbols;
/// modules require that, or "ksym(SYMBOL) = 0xCHECKSUM", with the checksums of the kernel that they
/// were built for.
struct KabiDifference {
    std::string symbol;
    std::string wanted;
    /// Empty: the kernel does not export it.
    std::string has;
};

/// SYMBOL of "kernel(SYMBOL)" or "ksym(SYMBOL)"; empty for any other capability.
[[nodiscard]] std::string_view kernel_symbol(std::string_view capability);

/// The kernel symbols that a package requires and that the kernel (all packages of its version)
/// does not provide; those with another checksum first, then sorted by symbol. Adds the number of
/// required symbols to `total`. Only after `PackagePool::prepare`.
[[nodiscard]] std::vector<KabiDifference> kabi_differences(const PackagePool& pool, Id package,
                                                           Id kernel, std::size_t& total);

/// A message about the first difference; empty if there is none.
[[nodiscard]] std::string kabi_message(const PackagePool& pool, Id package, Id kernel);

/// Explains that a package with kernel modules was built for another kernel.
struct KabiCause {
    std::string message;
    /// Number and first of the symbols; the nearest kernel that has them all.
    std::vector<std::string> lines;
    /// Kernels, visible or not, with all symbols, the nearest first.
    std::vector<Id> fitting;
};

/// The explanation, or nothing if all symbols match.
[[nodiscard]] std::optional<KabiCause> explain_kabi(const PackagePool& pool, Id package, Id kernel);

}  // namespace edgegpu
