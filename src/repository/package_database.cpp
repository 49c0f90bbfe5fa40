#include "repository/package_database.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace edgegpu {

namespace {

/// Where an image has its database.
std::string database_directory(const CommitInfo& commit) {
    return commit.update_system == UpdateSystem::snapshots ? "/usr/lib/sysimage/rpm"
                                                           : "/usr/share/rpm";
}
constexpr std::uint64_t largest_database = 1024U << 20U;
constexpr std::size_t most_database_files = 32;

}  // namespace

std::map<std::string, std::string> package_database(const CommitView& commit,
                                                    const std::string& except) {
    std::map<std::string, std::string> files;
    const std::string directory = database_directory(commit.info());
    const std::optional<CommitNode> node = commit.find(directory);
    if (!node || !node->directory) {
        return files;
    }
    for (const auto& [name, file] : commit.list(*node, directory)) {
        if (file.directory || name == except || files.size() == most_database_files) {
            continue;
        }
        const std::string path = fmt::format("{}/{}", directory, name);
        if (auto content = commit.read(path, largest_database)) {
            files.emplace(name, std::move(*content));
        }
    }
    return files;
}

}  // namespace edgegpu
