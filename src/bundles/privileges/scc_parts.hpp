#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "bundles/pods.hpp"
#include "bundles/privileges/scc_admission.hpp"

namespace edgegpu {

/// One constraint, one pod, and what is found; for the parts of apply_scc().
struct SccAdmission {
    const Scc& scc;
    const NamespaceIds& ids;
    const nlohmann::json& pod;
    SccVerdict verdict;

    /// Adds a problem.
    void add(std::string pointer, std::string message, std::string hint);
};

/// The object below a key, made where there is none.
[[nodiscard]] nlohmann::json& member(nlohmann::json& object, const char* key);

/// A seccompProfile as annotations name it; empty for none, and for what is no profile.
[[nodiscard]] std::string profile_of(const nlohmann::json& field);

/// The seccomp profile of the pod or of a container (`owner`); `pointer` leads to it.
void check_profile(SccAdmission& admission, const std::string& owner, const std::string& pointer,
                   const std::string& profile);

/// The seLinuxOptions of the pod or of a container, null if it has none.
void check_selinux(SccAdmission& admission, const std::string& owner, const std::string& pointer,
                   const nlohmann::json& options);

/// Everything that is of one container.
void apply_container(SccAdmission& admission, const PodContainer& container);

}  // namespace edgegpu
