#include "rootfs/package_graph.hpp"

#include <algorithm>
#include <utility>

#include "image/content.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

/// Takes off parentheses that have no counterpart in the word: those of a rich dependency.
std::string_view without_outer_parentheses(std::string_view word) {
    while (word.starts_with('(')) {
        word.remove_prefix(1);
    }
    while (word.ends_with(')') && std::ranges::count(word, ')') > std::ranges::count(word, '(')) {
        word.remove_suffix(1);
    }
    return word;
}

/// Whether rpm's generator made the name from that of a shared library: "libz.so.1()(64bit)".
bool is_library_name(std::string_view name) {
    return !name.starts_with('/') && name.find(".so") != std::string_view::npos;
}

/// The names in a requirement: one, or those of a rich dependency, besides operators and versions,
/// which nothing provides.
std::vector<std::string_view> names_in(std::string_view requirement) {
    if (!requirement.starts_with('(')) {
        return {requirement};
    }
    std::vector<std::string_view> names = words_of(requirement, " ");
    for (std::string_view& name : names) {
        name = without_outer_parentheses(name);
    }
    return names;
}

}  // namespace

PackageGraph::PackageGraph(const std::vector<ImportedPackage>& packages, const Entries& entries)
    : files_(packages.size()), needs_(packages.size()) {
    ByText<std::vector<Package>> providers;
    const auto place = [&](std::string_view path) {
        return resolve_in_entries(entries, path, false);
    };
    for (Package package = 0; package < packages.size(); ++package) {
        for (const ImportedFile& file : packages[package].files) {
            std::string path = place(file.path);
            owners_[path].push_back(package);
            if (file.entry.content.empty() && !file.entry.digest.empty() && !file.is_ghost()) {
                digests_[path] = file.entry.digest;
            }
            files_[package].push_back(std::move(path));
        }
        for (std::string& name :
             header_strings(packages[package].header.get(), RPMTAG_PROVIDENAME)) {
            providers[std::move(name)].push_back(package);
        }
    }
    for (Package package = 0; package < packages.size(); ++package) {
        Needs& needs = needs_[package];
        for (const std::string& requirement :
             header_strings(packages[package].header.get(), RPMTAG_REQUIRENAME)) {
            for (const std::string_view name : names_in(requirement)) {
                if (name.starts_with('/')) {
                    const std::string path = place(name);
                    const std::span<const Package> bringing = owners(path);
                    needs.packages.insert(bringing.begin(), bringing.end());
                    needs.paths.insert(path);
                }
                if (const auto found = providers.find(name); found != providers.end()) {
                    needs.packages.insert(found->second.begin(), found->second.end());
                    if (is_library_name(name)) {
                        needs.libraries.insert(found->second.begin(), found->second.end());
                    }
                }
            }
        }
    }
}

std::span<const PackageGraph::Package> PackageGraph::owners(std::string_view path) const {
    const auto found = owners_.find(path);
    return found == owners_.end() ? std::span<const Package>() : found->second;
}

std::set<PackageGraph::Package> PackageGraph::with_requirements(std::set<Package> packages) const {
    std::vector<Package> waiting(packages.begin(), packages.end());
    while (!waiting.empty()) {
        const Package package = waiting.back();
        waiting.pop_back();
        for (const Package other : needs_.at(package).packages) {
            if (packages.insert(other).second) {
                waiting.push_back(other);
            }
        }
    }
    return packages;
}

}  // namespace edgegpu
