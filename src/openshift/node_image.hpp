#pragma once

#include <string>

#include "blueprint/openshift.hpp"
#include "execution/context.hpp"
#include "repository/commit_view.hpp"

namespace edgegpu {

/// Reads manifest and configuration of the image of `request` with this SHA-256 from its registry
/// (skopeo), and checks what nodes check when they have drained already: that it is there, one
/// image of `architecture` (of RPM) or an index that has it, labelled as one that boots
/// (`ostree.bootable` or `containers.bootc`, as rpm-ostree and bootc insist), and made of `commit`.
/// Throws ErrorKind::fetch with what is wrong.
void check_node_image(const Context& ctx, const OpenshiftRequest& request,
                      const std::string& architecture, const std::string& digest,
                      const CommitInfo& commit);

}  // namespace edgegpu
