#pragma once

#include "blueprint/fields/field.hpp"
#include "blueprint/openshift.hpp"

/// Fields of `[openshift]`. They are about the cluster; only whether there is one changes the
/// image.
namespace edgegpu {

consteval auto fields_of(const MachineSetRequest*) {
    using Set = MachineSetRequest;
    return all_fields_of<Set>(no_input("source", &Set::source), no_input("name", &Set::name),
                              no_input("instance_type", &Set::instance_type),
                              no_input("template", &Set::machine_template),
                              no_input("accelerator", &Set::accelerator),
                              no_input("accelerators", &Set::accelerators),
                              no_input("replicas", &Set::replicas), place(&Set::location));
}

consteval auto fields_of(const OnClusterBuildRequest*) {
    using Build = OnClusterBuildRequest;
    return all_fields_of<Build>(
        no_input("push_to", &Build::push_to), no_input("push_secret", &Build::push_secret),
        no_input("pull_secret", &Build::pull_secret), place(&Build::location));
}

consteval auto fields_of(const OperatorsRequest*) {
    using Operators = OperatorsRequest;
    return all_fields_of<Operators>(no_input("installed", &Operators::installed),
                                    no_input("gpu_channel", &Operators::gpu_channel),
                                    no_input("nfd_channel", &Operators::nfd_channel),
                                    no_input("gpu_source", &Operators::gpu_source),
                                    no_input("nfd_source", &Operators::nfd_source),
                                    no_input("manual_approval", &Operators::manual_approval),
                                    no_input("mig_strategy", &Operators::mig_strategy),
                                    place(&Operators::location));
}

consteval auto fields_of(const OpenshiftRequest*) {
    using Openshift = OpenshiftRequest;
    return all_fields_of<Openshift>(
        input("pool", &Openshift::pool), no_input("image", &Openshift::image),
        no_input("tls_verify", &Openshift::tls_verify),
        no_input("on_cluster_build", &Openshift::on_cluster_build),
        no_input("machine_sets", &Openshift::machine_sets),
        no_input("operators", &Openshift::operators), place(&Openshift::location));
}

}  // namespace edgegpu
