#include "execution/program_path.hpp"

#include <cstdlib>
#include <system_error>

#include <unistd.h>

#include "support/text/text.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

fs::path find_program(std::string_view name, std::string_view directories) {
    for (const std::string_view directory : split(directories, ':')) {
        fs::path file = fs::path(directory) / name;
        std::error_code code;
        if (directory.starts_with('/') && fs::is_regular_file(file, code) &&
            ::access(file.c_str(), X_OK) == 0) {
            return file;
        }
    }
    return {};
}

fs::path find_in_path(std::string_view name) {
    const char* const path = std::getenv("PATH");
    return find_program(name, path != nullptr ? std::string_view(path) : standard_path);
}

}  // namespace edgegpu
