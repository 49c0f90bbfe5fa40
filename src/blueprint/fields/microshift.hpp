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

consteval auto fields_of(const MicroshiftConfig*) {
    using Config = MicroshiftConfig;
    return all_fields_of<Config>(input("document", &Config::document),
                                 field<Counts::never, Shown::never>("places", &Config::places),
                                 place(&Config::location));
}

consteval auto fields_of(const MicroshiftRequest*) {
    using Microshift = MicroshiftRequest;
    return all_fields_of<Microshift>(
        input("bundles", &Microshift::bundles), input("microshift_config", &Microshift::config),
        input("microshift_firewall", &Microshift::firewall), place(&Microshift::location));
}

}  // namespace edgegpu
