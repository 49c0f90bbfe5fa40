#include "repository/package_database.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace edgegpu {

namespace {

constexpr const char* database_directory = "/usr/share/rpm";
constexpr std::uint64_t largest_database = 1024U << 20U;
constexpr std::size_t most_database_files = 32;

}  // namespace

std::map<std::string, std::string> package_database(const CommitView& commit,
                                                    const std::string& except) {
    std::map<std::string, std::string> files;
    const std::optional<CommitNode> node = commit.find(database_directory);
    if (!node || !node->directory) {
        return files;
    }
    for (const auto& [name, file] : commit.list(*node, database_directory)) {
        if (file.directory || name == except || files.size() == most_database_files) {
            continue;
        }
        const std::string path = fmt::format("{}/{}", database_directory, name);
        if (auto content = commit.read(path, largest_database)) {
            files.emplace(name, std::move(*content));
        }
    }
    return files;
}

}  // namespace edgegpu
