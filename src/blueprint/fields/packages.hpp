#pragma once

#include "blueprint/containers.hpp"
#include "blueprint/fields/field.hpp"
#include "blueprint/fields/gpu_settings.hpp"
#include "blueprint/packages.hpp"

/// Fields of the blueprint's packages, kernel and driver.
namespace edgegpu {

consteval auto fields_of(const PackageRequest*) {
    return all_fields_of<PackageRequest>(chooses_packages("spec", &PackageRequest::spec),
                                         place(&PackageRequest::location),
                                         place(&PackageRequest::repeated));
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
        chooses_packages("name", &Set::name), no_input<Shown::never>("distro", &Set::distro),
        chooses_packages("packages", &Set::packages), chooses_packages("excludes", &Set::excludes),
        unordered_input("services", &Set::services),
        chooses_packages("weak_dependencies", &Set::weak_dependencies), place(&Set::location));
}

consteval auto fields_of(const ContainerRequest*) {
    using Container = ContainerRequest;
    // The digests that the sources lead to are inputs.
    return all_fields_of<Container>(
        chooses_packages("source", &Container::source),
        no_input<Shown::never>("located", &Container::located), input("name", &Container::name),
        no_input("tls_verify", &Container::tls_verify), place(&Container::location));
}

consteval auto fields_of(const KernelRequest*) {
    using Kernel = KernelRequest;
    return all_fields_of<Kernel>(chooses_packages("kernel_name", &Kernel::name),
                                 input("kernel_arguments", &Kernel::arguments),
                                 place(&Kernel::location));
}

consteval auto fields_of(const KernelChoice*) {
    return all_fields_of<KernelChoice>(chooses_packages("policy", &KernelChoice::policy),
                                       chooses_packages("glob", &KernelChoice::glob));
}

/// The certificate is an input if modules are compiled and signed, which only the build knows
/// (`inputs_digest`).
consteval auto fields_of(const SecureBootRequest*) {
    using SecureBoot = SecureBootRequest;
    return all_fields_of<SecureBoot>(no_input("key", &SecureBoot::key),
                                     no_input("certificate", &SecureBoot::certificate),
                                     place(&SecureBoot::location));
}

/// The presence of [nvidia] adds device files and units; `devices` are checked against the driver's
/// own list when its packages have been fetched. `gpus` is only what bundles are checked against.
consteval auto fields_of(const NvidiaRequest*) {
    using Nvidia = NvidiaRequest;
    return all_fields_of<Nvidia>(
        chooses_packages("driver", &Nvidia::driver), chooses_packages("modules", &Nvidia::modules),
        chooses_packages("flavor", &Nvidia::flavor), chooses_packages("kernel", &Nvidia::kernel),
        chooses_packages("toolkit", &Nvidia::toolkit),
        chooses_packages("profile", &Nvidia::profile), unordered_input("devices", &Nvidia::devices),
        no_input("gpus", &Nvidia::gpus), no_input("secure_boot", &Nvidia::secure_boot),
        input("mig", &Nvidia::mig), input("sharing", &Nvidia::sharing),
        input("vgpu", &Nvidia::vgpu), input("numa_node", &Nvidia::numa_node),
        place(&Nvidia::devices_location), place(&Nvidia::location));
}

}  // namespace edgegpu
