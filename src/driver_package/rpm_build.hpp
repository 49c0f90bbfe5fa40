#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "execution/context.hpp"

namespace edgegpu {

/// A package of an RpmSource.
struct RpmPackage {
    std::string name;
    std::string summary;
    /// Values of tags, as a spec has them: "nvidia-kmod = 3:570.211.01".
    std::vector<std::string> requirements;
    /// What its scriptlet needs.
    std::vector<std::string> post_requirements = {};
    std::vector<std::string> provides;
    std::vector<std::string> conflicts;
    /// Shell, or empty.
    std::string post_install = {};
    /// Whether rpm looks for libraries that the files need and offer.
    bool finds_libraries = false;
    struct File {
        /// Absolute; a plain path.
        std::string path;
        unsigned mode = 0644;
        bool is_link = false;
        bool is_configuration = false;
    };
    std::vector<File> files;
    /// Those that it owns.
    std::set<std::string> directories = {};
};

/// Packages of one build, which have their version in common.
struct RpmSource {
    std::string name;
    std::uint32_t epoch = 0;
    std::string version;
    std::string release;
    std::string architecture;
    std::string license;
    /// Unix time, which packages and their files get.
    std::int64_t time = 0;
    std::vector<RpmPackage> packages;
};

/// The spec from which rpmbuild makes the packages.
[[nodiscard]] std::string spec_text(const RpmSource& source);

/// Makes the packages with the machine's rpmbuild, of the files below `root`, into `output`; `work`
/// is for what rpmbuild makes on the way. The same files and the same rpm give the same packages.
/// Throws Error with the end of rpmbuild's output; with a hint if there is no rpmbuild.
void build_rpms(const Context& ctx, const RpmSource& source, const std::filesystem::path& root,
                const std::filesystem::path& work, const std::filesystem::path& output);

/// Makes `directory` a repository with the machine's createrepo_c. All files get `time`. Throws
/// as build_rpms does.
void make_repository(const Context& ctx, const std::filesystem::path& directory, std::int64_t time);

}  // namespace edgegpu
