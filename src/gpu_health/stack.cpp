#include "gpu_health/stack.hpp"

#include "gpu_health/stack_fields.hpp"

namespace edgegpu::gpu_health {

std::string stack_json(const Stack& stack) {
    return json_text(stack);
}

Stack read_stack(std::string_view json) {
    Stack stack;
    read_json_text(json, stack);
    return stack;
}

}  // namespace edgegpu::gpu_health
