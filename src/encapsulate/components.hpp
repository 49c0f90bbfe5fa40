#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "encapsulate/container_tree.hpp"
#include "encapsulate/file_owners.hpp"

namespace edgegpu {

/// What is in an image's layers as a whole: the content of a source package, of an initramfs, of a
/// layer of an embedded container image, …
struct Component {
    /// bytes of its files, uncompressed
    std::uint64_t size = 0;
    /// checksums of its file objects, sorted
    std::vector<std::string> objects;
};

/// The component of small files that come from no package; it changes with every build.
inline constexpr const char* unpackaged_component = "unpackaged";

/// Divides the file objects of a commit: name → component. Each object is in exactly one, although
/// its paths may belong to several. Names do not contain versions, and never a comma. What comes
/// from no package is "initramfs", "rpmdb", "selinux-policy", "container-layer:ID", the path of a
/// file of at least 1 MiB, or `unpackaged_component`. Without packages, directories take their
/// place.
[[nodiscard]] std::map<std::string, Component> divide(const ContainerTree& tree,
                                                      const FileOwners& packages);

}  // namespace edgegpu
