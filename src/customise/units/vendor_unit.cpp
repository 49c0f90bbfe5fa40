#include "customise/units/vendor_unit.hpp"

#include <fmt/format.h>

#include "support/error.hpp"

namespace edgegpu {

void add_vendor_unit(const Context& ctx, Tree& tree, const std::string& name,
                     const std::string& target, const std::string& text) {
    const std::string units = "/usr/lib/systemd/system/";
    if (find_entry(tree, units + target) == nullptr) {
        throw error("the image has no {}, which would start {}", target, name)
            .hinted("add the package systemd to the blueprint");
    }
    put_entry(tree, units + name, make_file_entry(ctx, text, 0644));
    put_entry(tree, fmt::format("{}{}.wants/{}", units, target, name), link_to("../" + name));
}

}  // namespace edgegpu
