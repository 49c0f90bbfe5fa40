#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace edgegpu {

/// The part of a dkms.conf (dkms(8)) that edgegpu needs. The file is a shell script; only dkms
/// executes it, in the build root.
struct DkmsConf {
    /// PACKAGE_NAME and PACKAGE_VERSION, the arguments of `dkms build -m … -v …`.
    std::string name;
    std::string version;
    /// The modules that it builds, by the names under which they are installed, without ".ko",
    /// sorted.
    std::vector<std::string> modules;
};

/// Reads the plain assignments (`KEY="value"`, `KEY[N]="value"`) of a dkms.conf and ignores all
/// other lines. Values that only a shell can expand count as missing. Throws Error beginning with
/// `origin` if name, version or the name of a module is missing or not a plain name.
[[nodiscard]] DkmsConf parse_dkms_conf(std::string_view text, const std::string& origin);

}  // namespace edgegpu
