#pragma once

#include <map>
#include <string>

#include "image/image_root.hpp"
#include "kmods/dkms_conf.hpp"
#include "resolve/resolution.hpp"
#include "support/process.hpp"

namespace edgegpu {

/// The modules of `conf` (name without ".ko" → content) that the run `dkms` left in `out` below
/// "modules", unpacked. What lies there is what programs of the build root made of it: links and
/// special files are as good as nothing. Throws Error with the end of out's make.log where dkms
/// failed, or where a module is missing or for another kernel than the image's.
[[nodiscard]] std::map<std::string, std::string> take_modules(const Resolution& resolution,
                                                              const DkmsConf& conf,
                                                              const ProcessResult& dkms,
                                                              const ImageRoot& out);

}  // namespace edgegpu
