#pragma once

#include <string>
#include <string_view>

namespace edgegpu {

/// Checks the source of a CIL policy module with libsepol, which semodule compiles it with: its
/// lexical structure, and the form of each statement. Names are not resolved, since that takes the
/// image's policy. What a newer libsepol may know (statements, kinds of extended permissions,
/// statements in a booleanif) is left to the image's. Throws ErrorKind::usage "SHOWN:LINE: …".
void check_cil(std::string_view text, const std::string& shown);

}  // namespace edgegpu
