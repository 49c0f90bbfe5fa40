#include "support/directory.hpp"

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <system_error>

#include <dirent.h>

namespace edgegpu {

namespace fs = std::filesystem;

std::optional<std::vector<std::string>> names_in(Fd directory) {
    const Handle<DIR, ::closedir> stream(directory ? ::fdopendir(directory.get()) : nullptr);
    if (!stream) {
        return std::nullopt;
    }
    [[maybe_unused]] const int taken = directory.release();
    std::vector<std::string> names;
    errno = 0;
    while (const dirent* item = ::readdir(stream.get())) {
        const std::string_view name = static_cast<const char*>(item->d_name);
        if (name != "." && name != "..") {
            names.emplace_back(name);
        }
        errno = 0;
    }
    if (errno != 0) {
        return std::nullopt;
    }
    std::sort(names.begin(), names.end());
    return names;
}

std::vector<fs::directory_entry> children_of(const fs::path& directory) {
    std::vector<fs::directory_entry> found;
    std::error_code code;
    for (fs::directory_iterator at(directory, code), end; !code && at != end; at.increment(code)) {
        found.push_back(*at);
    }
    std::sort(found.begin(), found.end());
    return found;
}

}  // namespace edgegpu
