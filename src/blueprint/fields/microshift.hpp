#pragma once

#include "blueprint/fields/field.hpp"
#include "blueprint/microshift.hpp"

/// Fields of `[microshift]`.
namespace edgegpu {

consteval auto fields_of(const BundleRequest*) {
    using Bundle = BundleRequest;
    return all_fields_of<Bundle>(input("name", &Bundle::name),
                                 copied("source", &Bundle::source, &Bundle::stored),
                                 place(&Bundle::location));
}

consteval auto fields_of(const ImagePattern*) {
    using Pattern = ImagePattern;
    return all_fields_of<Pattern>(input("glob", &Pattern::glob), place(&Pattern::location));
}

consteval auto fields_of(const MicroshiftRequest*) {
    using Microshift = MicroshiftRequest;
    return all_fields_of<Microshift>(input("bundles", &Microshift::bundles),
                                     // The images that they choose are inputs.
                                     no_input("embed_images", &Microshift::embed_images),
                                     place(&Microshift::location));
}

}  // namespace edgegpu
