#pragma once

#include "gpu_health/json_fields.hpp"
#include "gpu_health/stack.hpp"

namespace edgegpu::gpu_health {

template <>
struct FieldsOf<StackModule> {
    using T = StackModule;
    static constexpr auto list = fields<&T::name, &T::path, &T::version, &T::key_id, &T::signer>;
};

template <>
struct FieldsOf<Stack> {
    using T = Stack;
    static constexpr auto list = fields<&T::driver, &T::flavor, &T::kernel, &T::modules,
                                        &T::firmware, &T::libraries, &T::packages>;
};

}  // namespace edgegpu::gpu_health
