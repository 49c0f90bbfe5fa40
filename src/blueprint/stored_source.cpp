#include "blueprint/stored_source.hpp"

namespace edgegpu {

std::filesystem::path path_of_user(const std::filesystem::path& path) {
    const std::string text = path.string();
    const std::string mark = "/" + std::string(named_inputs) + "/";
    const std::size_t at = text.find(mark);
    return at == std::string::npos ? path
                                   : std::filesystem::path(text.substr(at + mark.size() - 1));
}

}  // namespace edgegpu
