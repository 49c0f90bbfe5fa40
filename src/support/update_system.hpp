#pragma once

namespace edgegpu {

/// How devices take up a new image.
enum class UpdateSystem {
    /// They deploy a commit: /usr is the commit's, /etc is merged, /var is the device's.
    ostree,
    /// transactional-update copies the files of a container image into a snapshot (`apply-oci`):
    /// what a device has in /etc stays, and its other subvolumes are not written to.
    snapshots
};

}  // namespace edgegpu
