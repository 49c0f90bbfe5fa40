#pragma once

#include <optional>
#include <string>
#include <vector>

#include "support/source_location.hpp"
#include "transfer/repository.hpp"

/// Repositories as a blueprint has them: those configured on its devices. Those that an image is
/// built from are in transfer/repository.hpp.
namespace edgegpu {

/// `[[customizations.repositories]]`: a repository configured on the device, not used by the build.
struct DeviceRepository {
    Repository repository;
    /// File name in /etc/yum.repos.d, "x.repo".
    std::string filename;
    /// Keys given as text, which are written to files in /etc/pki/rpm-gpg.
    std::vector<std::string> inline_keys;
};

/// `[customizations.rhsm.config]`; unset: the default of the packages.
struct SubscriptionRequest {
    std::optional<bool> product_id_plugin;
    std::optional<bool> subscription_manager_plugin;
    std::optional<bool> manage_repos;
    std::optional<bool> auto_enable_yum_plugins;
    std::optional<bool> auto_registration;
    SourceLocation location;
};

}  // namespace edgegpu
