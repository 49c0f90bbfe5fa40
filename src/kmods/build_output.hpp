#pragma once

#include <map>
#include <string>

#include "execution/process.hpp"
#include "image/image_root.hpp"
#include "kmods/dkms_conf.hpp"
#include "resolve/resolution.hpp"

namespace edgegpu {

/// The modules of `conf` (name without ".ko" → content, decompressed) that the dkms run left in
/// `out` below "modules". The directory is untrusted: links and special files count as missing.
/// Throws Error with the end of make.log if dkms failed, or if a module is missing or is not for
/// the image's kernel.
[[nodiscard]] std::map<std::string, std::string> take_modules(const Resolution& resolution,
                                                              const DkmsConf& conf,
                                                              const ProcessResult& dkms,
                                                              const ImageRoot& out);

}  // namespace edgegpu
