#include "resolve/solve/kabi.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "resolve/solve/filtered.hpp"
#include "resolve/solve/kernel.hpp"
#include "support/ranges.hpp"

namespace edgegpu {

namespace {

/// Capability and checksum of a kernel symbol; 0 and 0 for any other dependency.
std::pair<Id, Id> symbol_of(const PackagePool& pool, Id dependency) {
    if (ISRELDEP(dependency) == 0) {
        return {0, 0};
    }
    const Reldep* relation = GETRELDEP(pool.get(), dependency);
    if (relation->flags != REL_EQ || ISRELDEP(relation->name) != 0 ||
        kernel_symbol(pool_id2str(pool.get(), relation->name)).empty()) {
        return {0, 0};
    }
    return {relation->name, relation->evr};
}

/// Capability → checksums that these packages provide. Several variants of a kernel (debug, rt) may
/// provide the same symbol.
std::map<Id, std::vector<Id>> checksums_of(const PackagePool& pool, const std::set<Id>& parts) {
    std::map<Id, std::vector<Id>> checksums;
    for (const Id part : parts) {
        IdQueue provides;
        lookup_ids(pool.solvable(part), SOLVABLE_PROVIDES, provides);
        for (const Id provided : provides) {
            if (ISRELDEP(provided) != 0) {
                const Reldep* relation = GETRELDEP(pool.get(), provided);
                checksums[relation->name].push_back(relation->evr);
            }
        }
    }
    return checksums;
}

/// Adds the providers of `capability` that have the kernel's version.
void add_parts(const PackagePool& pool, Id capability, Id kernel, std::set<Id>& parts) {
    const Solvable* own = pool.solvable(kernel);
    for (const Id id : all_providers(pool, capability)) {
        const Solvable* part = pool.solvable(id);
        if (part->evr == own->evr && part->arch == own->arch) {
            parts.insert(id);
        }
    }
}

std::string symbol_text(const PackagePool& pool, Id capability) {
    return std::string(kernel_symbol(pool_id2str(pool.get(), capability)));
}

std::string kernel_text(const PackagePool& pool, Id kernel) {
    return fmt::format("kernel {}", pool.nevra(kernel).evr());
}

/// "a (0x1 in the kernel, 0x2 required)", "b (not exported, 0x3 required)"
std::string difference_text(const KabiDifference& difference) {
    return fmt::format("{} ({}, {} required)", difference.symbol,
                       difference.has.empty() ? "not exported" : difference.has + " in the kernel",
                       difference.wanted);
}

std::string message_of(const std::string& package, const std::string& kernel,
                       const KabiDifference& first) {
    if (first.has.empty()) {
        return fmt::format(
            "{} was built for another kABI: {} does not export the symbol {}, which the module "
            "requires with checksum {}",
            package, kernel, first.symbol, first.wanted);
    }
    return fmt::format(
        "{} was built for another kABI: symbol {} has checksum {} in {}, the module requires {}",
        package, first.symbol, first.has, kernel, first.wanted);
}

/// Kernels that provide every symbol, sorted by the distance from `kernel` in the order of
/// versions, of two equally near ones the newer first.
std::vector<Id> fitting_kernels(const PackagePool& pool, Id package, Id kernel) {
    std::vector<Id> kernels = filtered(pool.packages(), [&](Id id) {
        return pool.hidden(id) != Hidden::architecture && is_kernel(pool, id);
    });
    std::sort(kernels.begin(), kernels.end(), [&](Id left, Id right) {
        const int order = pool_evrcmp(pool.get(), pool.solvable(left)->evr,
                                      pool.solvable(right)->evr, EVRCMP_COMPARE);
        return order != 0 ? order > 0 : left < right;
    });
    const auto own = std::find(kernels.begin(), kernels.end(), kernel);
    std::vector<std::pair<std::ptrdiff_t, Id>> found;
    for (auto it = kernels.begin(); it != kernels.end(); ++it) {
        std::size_t total = 0;
        if (it != own && kabi_differences(pool, package, *it, total).empty()) {
            found.emplace_back(it < own ? own - it : it - own, *it);
        }
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& left, const auto& right) { return left.first < right.first; });
    return mapped(found, [](const auto& entry) { return entry.second; });
}

}  // namespace

std::string_view kernel_symbol(std::string_view capability) {
    for (const std::string_view prefix : {"kernel(", "ksym("}) {
        if (capability.starts_with(prefix) && capability.ends_with(')')) {
            capability.remove_prefix(prefix.size());
            capability.remove_suffix(1);
            return capability;
        }
    }
    return {};
}

std::vector<KabiDifference> kabi_differences(const PackagePool& pool, Id package, Id kernel,
                                             std::size_t& total) {
    std::vector<KabiDifference> differences;
    IdQueue requires_;
    lookup_ids(pool.solvable(package), SOLVABLE_REQUIRES, requires_);
    std::vector<std::pair<Id, Id>> symbols;
    std::set<Id> parts;
    for (const Id dependency : requires_) {
        const auto [capability, wanted] = symbol_of(pool, dependency);
        if (capability != 0) {
            symbols.emplace_back(capability, wanted);
            add_parts(pool, capability, kernel, parts);
        }
    }
    total += symbols.size();
    const std::map<Id, std::vector<Id>> checksums = checksums_of(pool, parts);
    for (const auto& [capability, wanted] : symbols) {
        const auto has = checksums.find(capability);
        if (has == checksums.end()) {
            differences.push_back(
                {symbol_text(pool, capability), pool_id2str(pool.get(), wanted), ""});
        } else if (std::find(has->second.begin(), has->second.end(), wanted) == has->second.end()) {
            differences.push_back({symbol_text(pool, capability), pool_id2str(pool.get(), wanted),
                                   pool_id2str(pool.get(), has->second.front())});
        }
    }
    std::sort(differences.begin(), differences.end(), [](const auto& left, const auto& right) {
        return std::make_tuple(left.has.empty(), left.symbol) <
               std::make_tuple(right.has.empty(), right.symbol);
    });
    return differences;
}

std::string kabi_message(const PackagePool& pool, Id package, Id kernel) {
    std::size_t total = 0;
    const std::vector<KabiDifference> differences = kabi_differences(pool, package, kernel, total);
    return differences.empty() ? ""
                               : message_of(pool.nevra(package).text(), kernel_text(pool, kernel),
                                            differences.front());
}

std::optional<KabiCause> explain_kabi(const PackagePool& pool, Id package, Id kernel) {
    constexpr std::size_t most = 4;
    std::size_t total = 0;
    const std::vector<KabiDifference> differences = kabi_differences(pool, package, kernel, total);
    if (differences.empty()) {
        return std::nullopt;
    }
    KabiCause cause;
    cause.message =
        message_of(pool.nevra(package).text(), kernel_text(pool, kernel), differences.front());
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < differences.size() && i < most; ++i) {
        texts.push_back(difference_text(differences[i]));
    }
    std::string line =
        fmt::format("{} of its {} kernel symbols differ{}: {}", differences.size(), total,
                    differences.size() == 1 ? "s" : "", fmt::join(texts, ", "));
    if (differences.size() > most) {
        line += fmt::format(" and {} more", differences.size() - most);
    }
    cause.lines.push_back(std::move(line));
    cause.fitting = fitting_kernels(pool, package, kernel);
    if (cause.fitting.empty()) {
        cause.lines.emplace_back("no kernel of the repositories has all of them");
    } else {
        const Id nearest = cause.fitting.front();
        cause.lines.push_back(
            fmt::format("the nearest kernel that has all of them: {} of "
                        "repository '{}'",
                        pool.nevra(nearest).text(), pool.solvable(nearest)->repo->name));
    }
    return cause;
}

}  // namespace edgegpu
