#pragma once

#include <string>
#include <string_view>

#include <ostree.h>

#include "repository/tree_objects.hpp"
#include "support/glib.hpp"

namespace edgegpu {

/// What is wrong with an object.
enum class ObjectState {
    good,
    missing,
    truncated,
    /// it has another checksum than its name
    checksum,
    /// it has its checksum, and no client accepts it; or it is no file
    malformed,
    /// the system does not let it be read
    unreadable
};

/// "missing", "truncated", …
[[nodiscard]] std::string_view name_of(ObjectState state);

/// An object as it is found.
struct CheckedObject {
    ObjectState state = ObjectState::good;
    /// more about it, or empty
    std::string detail;
    /// of commits, directories and their metadata: the object, if it is good
    VariantHandle object;
};

/// Reads an object of an untrusted repository, and compares it with its checksum.
[[nodiscard]] CheckedObject check_object(OstreeRepo* repo, const TreeObject& object);

}  // namespace edgegpu
