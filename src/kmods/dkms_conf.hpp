#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace edgegpu {

/// What edgegpu has to know of a dkms.conf (dkms(8)). The file is a shell script; dkms itself runs
/// it, inside the build root only.
struct DkmsConf {
    /// PACKAGE_NAME and PACKAGE_VERSION: what `dkms build -m … -v …` is called with
    std::string name;
    std::string version;
    /// The modules it promises, by the names they are installed under, without ".ko", sorted.
    std::vector<std::string> modules;
};

/// Reads the plain assignments (`KEY="value"`, `KEY[N]="value"`) of a dkms.conf; all other lines
/// are passed over. Values that only a shell could expand count as absent. Throws Error beginning
/// with `origin` where name, version or a module's name is absent or not a plain name.
[[nodiscard]] DkmsConf parse_dkms_conf(std::string_view text, const std::string& origin);

}  // namespace edgegpu
