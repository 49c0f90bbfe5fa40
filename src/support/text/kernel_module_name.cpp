#include "support/text/kernel_module_name.hpp"

#include <algorithm>

namespace edgegpu {

std::string kernel_module_name(std::string_view name) {
    std::string known(name);
    std::ranges::replace(known, '-', '_');
    return known;
}

std::string module_of_file(std::string_view path) {
    const std::string_view file = path.substr(path.rfind('/') + 1);
    const std::size_t end = file.find(".ko");
    const std::string_view suffix = end == std::string_view::npos ? "" : file.substr(end);
    const bool module =
        suffix == ".ko" || suffix == ".ko.xz" || suffix == ".ko.gz" || suffix == ".ko.zst";
    return module ? kernel_module_name(file.substr(0, end)) : std::string();
}

}  // namespace edgegpu
