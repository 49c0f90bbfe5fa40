#include "image/kernel_arguments.hpp"

#include <gtest/gtest.h>

namespace edgegpu {
namespace {

using Arguments = std::vector<std::string>;

Arguments after(const std::vector<std::string>& call, Arguments arguments = {}) {
    apply_grubby_call(call, arguments);
    return arguments;
}

TEST(GrubbyCall, AddsItsArgumentsInOrder) {
    EXPECT_EQ(after({"grubby", "--update-kernel=ALL",
                     "--args=rd.driver.blacklist=nouveau  modprobe.blacklist=nouveau",
                     "--remove-args=nomodeset"}),
              (Arguments{"rd.driver.blacklist=nouveau", "modprobe.blacklist=nouveau"}));
}

TEST(GrubbyCall, TakesTheValueFromTheNextWordToo) {
    EXPECT_EQ(after({"grubby", "--update-kernel", "ALL", "--args", "a b=1"}),
              (Arguments{"a", "b=1"}));
    EXPECT_EQ(after({"grubby", "--args"}), Arguments());
}

TEST(GrubbyCall, AddsNothingTwice) {
    EXPECT_EQ(after({"grubby", "--args=a b"}, {"b"}), (Arguments{"b", "a"}));
}

TEST(GrubbyCall, RemovesByNameOrByNameAndValue) {
    EXPECT_EQ(after({"grubby", "--remove-args=console quiet x=2"},
                    {"console=ttyS0", "quiet", "x=1", "consoles"}),
              (Arguments{"x=1", "consoles"}));
}

TEST(GrubbyCall, OtherOptionsChangeNothing) {
    EXPECT_EQ(after({"grubby", "--set-default=/boot/vmlinuz", "--info=ALL"}, {"a"}),
              (Arguments{"a"}));
}

}  // namespace
}  // namespace edgegpu
