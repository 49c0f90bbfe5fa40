#include "image/tree_step.hpp"

#include <set>

#include <fmt/format.h>

#include "support/error.hpp"

namespace edgegpu {

std::string order_problem(const std::vector<TreeStep>& steps) {
    std::set<std::string_view> done;
    for (const TreeStep& step : steps) {
        for (const std::string_view read : step.reads) {
            if (!done.contains(read)) {
                return fmt::format("{} reads {}, which is not before it", step.name, read);
            }
        }
        done.insert(step.name);
    }
    return {};
}

void run_in_order(const std::vector<TreeStep>& steps) {
    if (const std::string problem = order_problem(steps); !problem.empty()) {
        throw Error("a bug of edgegpu: " + problem);
    }
    for (const TreeStep& step : steps) {
        step.run();
    }
}

}  // namespace edgegpu
