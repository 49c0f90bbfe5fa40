#pragma once

#include "blueprint/fields/field.hpp"
#include "blueprint/gpu_settings.hpp"

/// Fields of what devices do with their GPUs.
namespace edgegpu {

consteval auto fields_of(const GpuRequirements*) {
    using Requirements = GpuRequirements;
    return all_fields_of<Requirements>(input("memory", &Requirements::memory),
                                       input("mig", &Requirements::mig),
                                       input("persistence", &Requirements::persistence),
                                       input("link_width", &Requirements::link_width),
                                       input("link_generation", &Requirements::link_generation));
}

consteval auto fields_of(const GpuHealthRequest*) {
    using Health = GpuHealthRequest;
    return all_fields_of<Health>(
        input("minimum", &Health::minimum), unordered_input("devices", &Health::devices),
        place(&Health::devices_location), input("passthrough", &Health::passthrough),
        input("on_missing_gpu", &Health::on_missing_gpu), input("on_unclear", &Health::on_unclear),
        input("require", &Health::require), unordered_input("workload", &Health::workload),
        input("workload_image", &Health::workload_image), place(&Health::workload_image_location),
        input("deadlines", &Health::deadlines), input("textfile", &Health::textfile),
        place(&Health::location));
}

consteval auto fields_of(const MigLayout*) {
    return all_fields_of<MigLayout>(input("device", &MigLayout::device),
                                    input("profiles", &MigLayout::profiles),
                                    place(&MigLayout::location));
}

consteval auto fields_of(const SharingRequest*) {
    using Sharing = SharingRequest;
    return all_fields_of<Sharing>(
        input("mode", &Sharing::mode), input("replicas", &Sharing::replicas),
        unordered_input("resources", &Sharing::resources), place(&Sharing::location));
}

consteval auto fields_of(const VgpuRequest*) {
    using Vgpu = VgpuRequest;
    return all_fields_of<Vgpu>(
        input("ServerAddress", &Vgpu::server_address), input("ServerPort", &Vgpu::server_port),
        input("BackupServerAddress", &Vgpu::backup_server_address),
        input("BackupServerPort", &Vgpu::backup_server_port),
        input("FeatureType", &Vgpu::feature_type), input("EnableUI", &Vgpu::enable_ui),
        input("LicenseInterval", &Vgpu::license_interval),
        input("LingerInterval", &Vgpu::linger_interval),
        input("ClientConfigTokenPath", &Vgpu::token_directory), place(&Vgpu::location));
}

}  // namespace edgegpu
