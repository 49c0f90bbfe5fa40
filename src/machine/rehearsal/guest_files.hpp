#pragma once

#include <string>
#include <string_view>

#include "machine/guest.hpp"

namespace edgegpu {

/// Writes a file in the guest, with parents, as root and with the label of its path; in pieces,
/// since a script cannot be of any length. Throws Error if that fails there.
void put_file(Guest& guest, const std::string& path, std::string_view content, unsigned mode);

}  // namespace edgegpu
