#pragma once

#include "blueprint/fields/field.hpp"
#include "blueprint/files.hpp"

/// Fields of the blueprint's files, overlays and policy modules.
namespace edgegpu {

consteval auto fields_of(const FileRequest*) {
    using File = FileRequest;
    return all_fields_of<File>(
        input("path", &File::path), input("user", &File::user), input("group", &File::group),
        input<Shown::octal>("mode", &File::mode), input<Shown::text>("data", &File::data),
        copied("source", &File::source, &File::stored), input("directory", &File::directory),
        input("ensure_parents", &File::ensure_parents), place(&File::location));
}

consteval auto fields_of(const OverlayRule*) {
    using Rule = OverlayRule;
    return all_fields_of<Rule>(input("path", &Rule::path), input("user", &Rule::user),
                               input("group", &Rule::group),
                               input<Shown::octal>("mode", &Rule::mode),
                               input("label", &Rule::label), place(&Rule::location));
}

consteval auto fields_of(const OverlayRequest*) {
    using Overlay = OverlayRequest;
    return all_fields_of<Overlay>(
        copied("source", &Overlay::source, &Overlay::stored), input("target", &Overlay::target),
        input("strip_components", &Overlay::strip_components), input("user", &Overlay::user),
        input("group", &Overlay::group), input("replace", &Overlay::replace),
        input("rules", &Overlay::rules), place(&Overlay::location));
}

consteval auto fields_of(const SecretAllowance*) {
    using Allowance = SecretAllowance;
    // The files that it names are for their owner alone, unless another mode is set.
    return all_fields_of<Allowance>(
        input("path", &Allowance::path), no_input("kind", &Allowance::kind),
        no_input("reason", &Allowance::reason), place(&Allowance::location));
}

consteval auto fields_of(const PolicyRuleRequest*) {
    return all_fields_of<PolicyRuleRequest>(input("rule", &PolicyRuleRequest::text),
                                            place(&PolicyRuleRequest::location));
}

consteval auto fields_of(const SelinuxRequest*) {
    using Selinux = SelinuxRequest;
    return all_fields_of<Selinux>(
        field<Counts::module>("modules", &Selinux::modules), input("booleans", &Selinux::booleans),
        unordered_input("require", &Selinux::require), unordered_input("forbid", &Selinux::forbid),
        input("gpu_containers", &Selinux::gpu_containers),
        field<Counts::module, Shown::never>("map_module", &Selinux::map_module),
        place(&Selinux::module_locations), place(&Selinux::location));
}

}  // namespace edgegpu
