#include "oci/layer_member.hpp"

#include <climits>
#include <cstdint>
#include <limits>
#include <vector>

#include <fmt/format.h>
#include <linux/limits.h>

#include "image/capabilities.hpp"
#include "support/text/text.hpp"
#include "support/text/utf8.hpp"

namespace edgegpu {

namespace {

/// Engines open files by their whole path, below the directory of a store.
constexpr std::size_t longest_path = PATH_MAX - 256;

/// libostree makes a device of such a file when it deploys a commit.
constexpr std::string_view ostree_whiteout = ".ostree-wh.";

void check_part(const ImageLayer& layer, std::string_view name, std::string_view part) {
    if (part.size() > NAME_MAX) {
        throw layer.refused(name, "has a name of more than 255 bytes");
    }
    if (part.find('\0') != std::string_view::npos || !is_utf8(part)) {
        throw layer.refused(name, "has a name that is not UTF-8, which ostree requires");
    }
    if (part.starts_with(ostree_whiteout)) {
        throw layer.refused(name, "has a name that ostree would turn into a deleted file");
    }
}

}  // namespace

Error ImageLayer::refused(std::string_view member, std::string_view reason) const {
    constexpr std::size_t shown = 200;
    const bool whole = member.size() <= shown;
    return error(ErrorKind::fetch, "image {}: layer {}: \"{}{}\" {}", image, digest,
                 member.substr(0, shown), whole ? "" : "...", reason)
        .hinted("no engine could use such an image: build it again");
}

std::string ImageLayer::place_of(std::string_view name) const {
    std::vector<std::string_view> parts;
    for (const std::string_view part : words_of(name, "/")) {
        if (part == "..") {
            if (parts.empty()) {
                throw refused(name, "leaves the image (\"..\")");
            }
            parts.pop_back();
        } else if (part != ".") {
            check_part(*this, name, part);
            parts.push_back(part);
        }
    }
    std::string path;
    for (const std::string_view part : parts) {
        path += '/';
        path += part;
    }
    if (path.size() > longest_path) {
        throw refused(name,
                      fmt::format("has {} bytes, more than paths can have in an engine's store",
                                  path.size()));
    }
    return path.empty() ? "/" : path;
}

Entry ImageLayer::link_of(const TarMember& member) const {
    if (member.target.empty() || member.target.size() >= PATH_MAX) {
        throw refused(member.name,
                      fmt::format("is a link to a path of {} bytes", member.target.size()));
    }
    if (!is_utf8(member.target)) {
        throw refused(member.name, "is a link to a name that is not UTF-8, which ostree requires");
    }
    return link_to(member.target);
}

Entry ImageLayer::with_owner(Entry entry, const TarMember& member) const {
    constexpr std::uint64_t most_ids = std::numeric_limits<std::uint32_t>::max();
    if (member.uid >= most_ids || member.gid >= most_ids) {
        throw refused(member.name, "has an owner that Linux does not have");
    }
    if (entry.type == EntryType::file && !member.capabilities.empty() &&
        !are_capabilities(member.capabilities)) {
        throw refused(member.name, "has capabilities that Linux does not take");
    }
    entry.uid = static_cast<std::uint32_t>(member.uid);
    entry.gid = static_cast<std::uint32_t>(member.gid);
    entry.capabilities = entry.type == EntryType::file ? member.capabilities : "";
    return entry;
}

}  // namespace edgegpu
