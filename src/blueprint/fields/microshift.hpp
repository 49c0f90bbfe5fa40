#pragma once

#include "blueprint/fields/field.hpp"
#include "blueprint/microshift.hpp"

/// Fields of `[microshift]`.
namespace edgegpu {

consteval auto fields_of(const BundleComponent*) {
    using Component = BundleComponent;
    return all_fields_of<Component>(input("name", &Component::name), place(&Component::location));
}

consteval auto fields_of(const BundleImage*) {
    using Image = BundleImage;
    return all_fields_of<Image>(input("name", &Image::name), input("newName", &Image::new_name),
                                input("newTag", &Image::new_tag), input("digest", &Image::digest),
                                place(&Image::location));
}

consteval auto fields_of(const BundleReplicas*) {
    using Replicas = BundleReplicas;
    return all_fields_of<Replicas>(input("name", &Replicas::name), input("count", &Replicas::count),
                                   place(&Replicas::location));
}

consteval auto fields_of(const PatchTarget*) {
    using Target = PatchTarget;
    return all_fields_of<Target>(input("group", &Target::group), input("version", &Target::version),
                                 input("kind", &Target::kind), input("name", &Target::name),
                                 input("namespace", &Target::name_space),
                                 input("labelSelector", &Target::label_selector),
                                 input("annotationSelector", &Target::annotation_selector));
}

consteval auto fields_of(const BundlePatch*) {
    using Patch = BundlePatch;
    return all_fields_of<Patch>(input<Shown::text>("patch", &Patch::text),
                                input("target", &Patch::target), place(&Patch::location));
}

consteval auto fields_of(const BundleValues*) {
    using Values = BundleValues;
    return all_fields_of<Values>(input("name", &Values::name),
                                 input<Shown::text>("entries", &Values::entries),
                                 place(&Values::location));
}

consteval auto fields_of(const BundleRequest*) {
    using Bundle = BundleRequest;
    return all_fields_of<Bundle>(
        input("name", &Bundle::name), copied("source", &Bundle::source, &Bundle::stored),
        place(&Bundle::location), input("namespace", &Bundle::name_space),
        input("components", &Bundle::components), input("images", &Bundle::images),
        input("replicas", &Bundle::replicas), input("patches", &Bundle::patches),
        input("values", &Bundle::values));
}

consteval auto fields_of(const ImagePattern*) {
    using Pattern = ImagePattern;
    return all_fields_of<Pattern>(input("glob", &Pattern::glob), place(&Pattern::location));
}

consteval auto fields_of(const ProvidedObject*) {
    using Provided = ProvidedObject;
    return all_fields_of<Provided>(no_input("kind", &Provided::kind),
                                   no_input("namespace", &Provided::name_space),
                                   no_input("name", &Provided::name), place(&Provided::location));
}

consteval auto fields_of(const MicroshiftConfig*) {
    using Config = MicroshiftConfig;
    return all_fields_of<Config>(input("document", &Config::document),
                                 field<Counts::never, Shown::never>("places", &Config::places),
                                 place(&Config::location));
}

consteval auto fields_of(const MicroshiftRequest*) {
    using Microshift = MicroshiftRequest;
    return all_fields_of<Microshift>(
        input("bundles", &Microshift::bundles), input("embed_images", &Microshift::embed_images),
        input("manifests", &Microshift::manifests), input("tombstones", &Microshift::tombstones),
        input("delete_data", &Microshift::delete_data),
        input("microshift_config", &Microshift::config),
        input("microshift_firewall", &Microshift::firewall),
        no_input("provided", &Microshift::provided), place(&Microshift::location));
}

}  // namespace edgegpu
