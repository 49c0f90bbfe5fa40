#include "support/text/ref_path.hpp"

#include <fmt/format.h>

namespace edgegpu {

std::string hint_for_ref_path(std::string_view ref) {
    constexpr std::string_view heads = "refs/heads/";
    constexpr std::string_view remotes = "refs/remotes/";
    if (ref.starts_with(heads)) {
        return fmt::format("name it without {}: {}", heads, ref.substr(heads.size()));
    }
    const std::string_view rest = ref.substr(ref.starts_with(remotes) ? remotes.size() : 0);
    if (const std::size_t slash = rest.find('/');
        rest.size() < ref.size() && slash != std::string_view::npos) {
        return fmt::format("name it without {}{}: {}, or {}:{} where one of a remote is read",
                           remotes, rest.substr(0, slash + 1), rest.substr(slash + 1),
                           rest.substr(0, slash), rest.substr(slash + 1));
    }
    return ref.starts_with("refs/") ? "name it without refs/, as ostree refs lists it" : "";
}

}  // namespace edgegpu
