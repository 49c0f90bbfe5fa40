#include "support/text/deployed_path.hpp"

#include "support/text/text.hpp"

namespace edgegpu {

std::string deployed_path(std::string_view path) {
    for (const MovedDirectory& moved : moved_directories) {
        if (is_below(path, moved.path)) {
            return std::string(moved.target).append(path.substr(moved.path.size()));
        }
    }
    return std::string(path);
}

bool is_path_of_device(std::string_view path) {
    return is_below(path, "/var") || is_below(path, "/run") || is_below(path, "/tmp");
}

}  // namespace edgegpu
