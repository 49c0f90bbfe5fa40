#pragma once

#include "blueprint/fields/field.hpp"
#include "blueprint/test.hpp"

/// Fields of `[test]`. None is an input: what tests a commit does not change it.
namespace edgegpu {

consteval auto fields_of(const TestCheckRequest*) {
    using Check = TestCheckRequest;
    return all_fields_of<Check>(no_input("name", &Check::name),
                                no_input<Shown::text>("script", &Check::script),
                                no_input("path", &Check::path), no_input("user", &Check::user),
                                no_input("timeout", &Check::timeout),
                                no_input("phases", &Check::phases), place(&Check::location));
}

consteval auto fields_of(const AllowedDenialRequest*) {
    using Allowed = AllowedDenialRequest;
    return all_fields_of<Allowed>(
        no_input("source", &Allowed::source), no_input("target", &Allowed::target),
        no_input("class", &Allowed::object_class), no_input("permissions", &Allowed::permissions),
        no_input("reason", &Allowed::reason), place(&Allowed::location));
}

consteval auto fields_of(const TestRequest*) {
    return all_fields_of<TestRequest>(no_input("checks", &TestRequest::checks),
                                      no_input("allow_denials", &TestRequest::allow_denials));
}

}  // namespace edgegpu
