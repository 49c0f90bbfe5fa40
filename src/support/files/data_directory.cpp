#include "support/files/data_directory.hpp"

#include <cstdlib>
#include <fstream>
#include <string>
#include <system_error>

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

/// The source tree of a build directory, or empty: CMake records it in its cache.
fs::path sources_of(const fs::path& build) {
    constexpr const char* key = "CMAKE_HOME_DIRECTORY:INTERNAL=";
    std::ifstream cache(build / "CMakeCache.txt");
    for (std::string line; std::getline(cache, line);) {
        if (line.starts_with(key)) {
            return line.substr(std::char_traits<char>::length(key));
        }
    }
    return {};
}

}  // namespace

fs::path data_directory_of(const fs::path& program, const char* named) {
    if (named != nullptr && *named != '\0') {
        return fs::absolute(named).lexically_normal();
    }
    std::error_code ignored;
    fs::path beside = (program.parent_path() / EDGEGPU_DATADIR_FROM_BIN).lexically_normal();
    if (!program.empty() && fs::is_directory(beside, ignored)) {
        return beside;
    }
    fs::path sources = sources_of(program.parent_path());
    if (!sources.empty() && fs::is_directory(sources / "selinux", ignored)) {
        return sources;
    }
    return EDGEGPU_DATADIR;
}

fs::path data_directory() {
    std::error_code ignored;
    return data_directory_of(fs::read_symlink("/proc/self/exe", ignored),
                             std::getenv("EDGEGPU_DATADIR"));
}

}  // namespace edgegpu
