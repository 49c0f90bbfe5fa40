#pragma once

#include "blueprint/fields/field.hpp"
#include "blueprint/image_settings.hpp"

/// Fields of the parent, and of the blueprint's disk images, none of which affects the commit.
namespace edgegpu {

consteval auto fields_of(const ParentRequest*) {
    // The checksum of the commit is an input (Resolution::parent).
    return all_fields_of<ParentRequest>(no_input("repository", &ParentRequest::repository),
                                        chooses_packages("ref", &ParentRequest::ref),
                                        chooses_packages("image", &ParentRequest::image),
                                        place(&ParentRequest::location));
}

consteval auto fields_of(const DiskSizes*) {
    return all_fields_of<DiskSizes>(
        no_input("disk", &DiskSizes::disk), no_input("root", &DiskSizes::rootfs),
        no_input("boot", &DiskSizes::boot), no_input("esp", &DiskSizes::esp));
}

consteval auto fields_of(const VolumeMount*) {
    return all_fields_of<VolumeMount>(no_input("mountpoint", &VolumeMount::point),
                                      no_input("directory", &VolumeMount::directory));
}

consteval auto fields_of(const Volume*) {
    return all_fields_of<Volume>(no_input("size", &Volume::size), no_input("label", &Volume::label),
                                 no_input("mounts", &Volume::mounts),
                                 no_input("volume_group", &Volume::group));
}

consteval auto fields_of(const ImageSettings*) {
    using Image = ImageSettings;
    return all_fields_of<Image>(
        no_input("size", &Image::size), no_input("stateroot", &Image::stateroot),
        no_input("remote", &Image::remote), no_input("append", &Image::kernel_arguments),
        no_input("target_rule", &Image::target_rule), place(&Image::target_rule_location),
        no_input("compress", &Image::compress), no_input("inject", &Image::injection),
        no_input("sign", &Image::sign), place(&Image::sign_location),
        no_input("least_sizes", &Image::least), no_input("volumes", &Image::volumes));
}

}  // namespace edgegpu
