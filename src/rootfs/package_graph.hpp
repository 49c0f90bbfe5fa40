#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "image/entries.hpp"
#include "rootfs/import.hpp"

namespace edgegpu {

/// Which packages of an image bring a path, and which others these need.
class PackageGraph {
public:
    /// The position of a package in the list that the graph was made of.
    using Package = std::uint32_t;

    /// Of no packages.
    PackageGraph() = default;
    /// `entries` are the packages' files (United::entries): links in directory parts of paths are
    /// resolved with them.
    PackageGraph(const std::vector<ImportedPackage>& packages, const Entries& entries);

    /// The packages that bring the file, link, directory or %ghost file at `path`, a path without
    /// links in its directory part. Empty if none does.
    [[nodiscard]] std::span<const Package> owners(std::string_view path) const;

    /// Whether a package of the parent, whose files are known by its header alone, brought a file
    /// with this content (SHA-256) at this path, without links in its directory part.
    [[nodiscard]] bool has_digest(std::string_view path, std::string_view digest) const {
        const auto found = digests_.find(path);
        return found != digests_.end() && found->second == digest;
    }

    /// Paths that a package brings, without links in their directory parts.
    [[nodiscard]] const std::vector<std::string>& files(Package package) const {
        return files_.at(package);
    }

    /// These packages and everything that they require, directly or not. Of a requirement that
    /// several packages meet, all are taken, and all packages that a rich dependency names
    /// ("(a if b)"); versions are not compared, because the packages are known to fit each other.
    [[nodiscard]] std::set<Package> with_requirements(std::set<Package> packages) const;
    /// The packages with the shared libraries that a package requires ("libc.so.6()(64bit)").
    [[nodiscard]] const std::set<Package>& libraries(Package package) const {
        return needs_.at(package).libraries;
    }
    /// The paths that a package requires ("/usr/bin/python3"): interpreters of its scripts.
    [[nodiscard]] const std::set<std::string>& required_paths(Package package) const {
        return needs_.at(package).paths;
    }

private:
    /// What a package requires directly.
    struct Needs {
        std::set<Package> packages;
        std::set<Package> libraries;
        std::set<std::string> paths;
    };
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const noexcept {
            return std::hash<std::string_view>{}(text);
        }
    };
    template <typename Value>
    using ByText = std::unordered_map<std::string, Value, Hash, std::equal_to<>>;

    ByText<std::vector<Package>> owners_;
    ByText<std::string> digests_;
    std::vector<std::vector<std::string>> files_;
    std::vector<Needs> needs_;
};

}  // namespace edgegpu
