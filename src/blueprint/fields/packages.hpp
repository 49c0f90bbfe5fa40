#pragma once

#include "blueprint/fields/field.hpp"
#include "blueprint/packages.hpp"

/// Fields of what the blueprint says of packages, kernel and driver.
namespace edgegpu {

consteval auto fields_of(const PackageRequest*) {
    return all_fields_of<PackageRequest>(chooses_packages("spec", &PackageRequest::spec),
                                         place(&PackageRequest::location));
}

consteval auto fields_of(const ModuleRequest*) {
    using Module = ModuleRequest;
    return all_fields_of<Module>(
        chooses_packages("name", &Module::name), chooses_packages("stream", &Module::stream),
        chooses_packages("profiles", &Module::profiles), place(&Module::location));
}

consteval auto fields_of(const PackageSet*) {
    using Set = PackageSet;
    return all_fields_of<Set>(
        chooses_packages("name", &Set::name), chooses_packages("packages", &Set::packages),
        chooses_packages("excludes", &Set::excludes), unordered_input("services", &Set::services),
        chooses_packages("weak_dependencies", &Set::weak_dependencies), place(&Set::location));
}

consteval auto fields_of(const KernelChoice*) {
    return all_fields_of<KernelChoice>(chooses_packages("policy", &KernelChoice::policy),
                                       chooses_packages("glob", &KernelChoice::glob));
}

/// Whose certificate it is counts where a module is signed, and only the build knows that.
consteval auto fields_of(const SecureBootRequest*) {
    using SecureBoot = SecureBootRequest;
    return all_fields_of<SecureBoot>(no_input("key", &SecureBoot::key),
                                     no_input("certificate", &SecureBoot::certificate),
                                     place(&SecureBoot::location));
}

/// That there is an [nvidia] makes device files and units; the devices are checked against the
/// driver's own list when its packages are there.
consteval auto fields_of(const NvidiaRequest*) {
    using Nvidia = NvidiaRequest;
    return all_fields_of<Nvidia>(
        chooses_packages("driver", &Nvidia::driver), chooses_packages("modules", &Nvidia::modules),
        chooses_packages("flavor", &Nvidia::flavor), chooses_packages("kernel", &Nvidia::kernel),
        chooses_packages("toolkit", &Nvidia::toolkit),
        chooses_packages("profile", &Nvidia::profile), unordered_input("devices", &Nvidia::devices),
        no_input("secure_boot", &Nvidia::secure_boot), place(&Nvidia::location));
}

}  // namespace edgegpu
