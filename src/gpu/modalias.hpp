#pragma once

#include <string>
#include <vector>

namespace edgegpu {

/// The modalias(5) strings that the kernel has for a card with this PCI id ("10de:20b7"), once as
/// one with a display (class 0300) and once as a 3D controller (0302): the id does not tell which.
/// The subsystem, which differs by board, is NVIDIA's with the number 0: patterns for one board
/// match no such alias. Empty if `pci_id` is none.
[[nodiscard]] std::vector<std::string> card_aliases(const std::string& pci_id);

/// Whether a package with `pattern` ("pci:v000010DEd000020B7sv*sd*bc03sc0[02]i00*", in which
/// "%2C" means a comma) is for hardware with one of `aliases`, as libzypp judges it: fnmatch(3)
/// without flags.
[[nodiscard]] bool matches_alias(const std::string& pattern,
                                 const std::vector<std::string>& aliases);

}  // namespace edgegpu
