#pragma once

#include <string>
#include <vector>

#include "execution/context.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// Makes the image's CRI-O take the images `names` from the additional image store `store`. It
/// reads the store from storage.conf (see with_image_store); what would keep it from doing so in
/// crio.conf, crio.conf.d or its command line is an error. The images are pinned in a drop-in of
/// crio.conf.d: kubelet's garbage collection would try to remove them, which frees nothing. Does
/// nothing if the image has no CRI-O. Throws ErrorKind::usage, with the file and line of the
/// image's configuration.
void configure_crio(const Context& ctx, const std::vector<std::string>& names,
                    const std::string& store, Tree& tree);

}  // namespace edgegpu
