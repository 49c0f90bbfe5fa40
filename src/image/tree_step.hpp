#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace edgegpu {

/// One of several calls that change a tree one after the other.
struct TreeStep {
    std::string_view name;
    /// The steps whose results it uses. What packages brought is there for every step.
    std::vector<std::string_view> reads;
    /// The paths below which it changes the tree; "kernel arguments": those of the tree. Empty: it
    /// only checks.
    std::vector<std::string_view> writes;
    std::function<void()> run;
};

/// "a reads b, which is not before it" of the first step for which that is so; empty if the order
/// of the steps fits what they read.
[[nodiscard]] std::string order_problem(const std::vector<TreeStep>& steps);

/// Runs the steps in their order. Throws Error before the first of them if the order does not fit.
void run_in_order(const std::vector<TreeStep>& steps);

}  // namespace edgegpu
