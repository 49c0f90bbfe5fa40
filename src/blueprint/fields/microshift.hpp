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

consteval auto fields_of(const ProvidedObject*) {
    using Provided = ProvidedObject;
    return all_fields_of<Provided>(no_input("kind", &Provided::kind),
                                   no_input("namespace", &Provided::name_space),
                                   no_input("name", &Provided::name), place(&Provided::location));
}

consteval auto fields_of(const MicroshiftRequest*) {
    using Microshift = MicroshiftRequest;
    return all_fields_of<Microshift>(input("bundles", &Microshift::bundles),
                                     no_input("provided", &Microshift::provided),
                                     place(&Microshift::location));
}

}  // namespace edgegpu
