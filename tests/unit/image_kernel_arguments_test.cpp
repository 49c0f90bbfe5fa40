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

TEST(KernelArgumentsProblem, ThoseThatABootEntryCanHave) {
    for (const Arguments& good : {Arguments{},
                                  {"quiet", "console=ttyS0,115200n8", "security=selinux"},
                                  {"dyndbg=\"file drivers/usb/* +p\"", "\"a b\"", "x="},
                                  {"a=#1,{2}*", "dyndbg=\"file a +p; file b +p & <c>\"", "x"},
                                  {"rootflags=x", "ostreex=1", "rdinit=/x", "rd.luks.uuid=U"}}) {
        EXPECT_EQ(kernel_arguments_problem(good), "");
    }
}

TEST(KernelArgumentsProblem, ThoseThatNoneCanHave) {
    for (const auto& [argument, reason] :
         {std::pair<std::string, std::string>{"", "not one kernel argument"},
          {"=x", "not one kernel argument"},
          {"a b", "not one kernel argument"},
          // It would swallow what the boot entry adds: ostree=.
          {"a=\"b", "not one kernel argument"},
          {"a\nlinux /evil", "not one kernel argument"},
          {"a\x7f", "not one kernel argument"},
          {"a=$b", "the kernel argument \"a=$b\" cannot be set: GRUB takes $ for a part"},
          {"a=\"$b\"", "GRUB takes $ for"},
          {"a;reboot", "GRUB takes ; for"},
          {"a&b", "GRUB takes & for"},
          {"a=<b>", "GRUB takes < for"},
          {"#a", "GRUB takes # for"},
          {"}", "GRUB takes } for"},
          {"ostree=/evil", "\"ostree=/evil\" cannot be set: ostree sets it"},
          {"ostree", "cannot be set"},
          {"root=/dev/sda1", "cannot be set"},
          {"initrd=/evil.img", "cannot be set"},
          {"BOOT_IMAGE=x", "cannot be set"},
          {"init=/bin/sh", "cannot be set"},
          {"rd.luks.name=U=root", "cannot be set"},
          {"rd.luks.options=U=discard", "cannot be set"},
          {std::string(5'000'000, 'x'), "kernel arguments of 5000007 bytes are too long"}}) {
        EXPECT_NE(kernel_arguments_problem({"quiet", argument}).find(reason), std::string::npos)
            << argument.substr(0, 100) << ": " << kernel_arguments_problem({"quiet", argument});
        EXPECT_LT(kernel_arguments_problem({argument}).size(), 400U);
    }
    EXPECT_NE(kernel_arguments_problem(Arguments(300, "abcde")), "");
}

}  // namespace
}  // namespace edgegpu
