#include "support/file_locks.hpp"

#include <fstream>
#include <string>

#include <fmt/format.h>
#include <sys/stat.h>

namespace edgegpu::test {

bool is_waited_for(const std::filesystem::path& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) {
        return false;
    }
    const std::string inode = fmt::format(":{} ", status.st_ino);
    std::ifstream locks("/proc/locks");
    for (std::string line; std::getline(locks, line);) {
        if (line.find("-> FLOCK") != std::string::npos && line.find(inode) != std::string::npos) {
            return true;
        }
    }
    return false;
}

}  // namespace edgegpu::test
