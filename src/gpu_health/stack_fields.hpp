#pragma once

#include "gpu_health/json_fields.hpp"
#include "gpu_health/stack.hpp"

namespace edgegpu::gpu_health {

template <>
struct FieldsOf<StackModule> {
    static constexpr auto list =
        std::tuple{Field{"name", &StackModule::name}, Field{"path", &StackModule::path},
                   Field{"version", &StackModule::version}, Field{"key_id", &StackModule::key_id},
                   Field{"signer", &StackModule::signer}};
};

template <>
struct FieldsOf<Stack> {
    static constexpr auto list =
        std::tuple{Field{"driver", &Stack::driver},     Field{"flavor", &Stack::flavor},
                   Field{"kernel", &Stack::kernel},     Field{"modules", &Stack::modules},
                   Field{"firmware", &Stack::firmware}, Field{"libraries", &Stack::libraries},
                   Field{"packages", &Stack::packages}};
};

}  // namespace edgegpu::gpu_health
