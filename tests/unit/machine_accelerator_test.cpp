#include "machine/accelerator.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "machine_peer.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/rpm_fixture.hpp"

namespace edgegpu {
namespace {

/// A program in the place of QEMU, as far as it gets when KVM does not work.
class AcceleratorTest : public ::testing::Test {
protected:
    std::string qemu(const std::string& commands) {
        write_file(directory.path() / "qemu", "#!/bin/sh\n" + commands, 0755);
        return directory.path() / "qemu";
    }
    std::string chosen(const std::string& program, const std::string& device = "/dev/null") {
        return choose_execution(ctx, program, Accelerator::automatic, std::nullopt, device).text;
    }

    test::TemporaryDirectory directory;
    Context ctx;
};

TEST_F(AcceleratorTest, SaysWhyItEmulates) {
    EXPECT_EQ(chosen("/bin/false", "/nonexistent/kvm"),
              "TCG (software emulation): KVM: there is no /nonexistent/kvm");
    EXPECT_EQ(chosen("/bin/false"), "TCG (software emulation): KVM: QEMU ended with status 1");
    EXPECT_EQ(chosen(qemu("echo 'qemu: failed to set MSR 0x10a'; kill -ABRT $$")),
              "TCG (software emulation): KVM: qemu: failed to set MSR 0x10a");
    EXPECT_EQ(chosen(qemu("echo noise; echo 'KVM internal error. Suberror: 1'; printf "
                          "'emulation failure\\033[2J\\n'; exec sleep 1000")),
              "TCG (software emulation): KVM: KVM internal error. Suberror: 1 (emulation "
              "failure\\x1b[2J)");
}

TEST_F(AcceleratorTest, TriesProcessorsUntilOneWorks) {
    // The descriptor's number follows "fd=".
    const Execution works =
        choose_execution(ctx,
                         qemu("case \" $* \" in *' host '*) echo no; exit 1;; esac\n"
                              "fd=${*##*fd=}; eval \"echo x >&${fd%% *}\"; exec sleep 1000"),
                         Accelerator::automatic, std::nullopt, "/dev/null");
    EXPECT_EQ(works.accelerator, Accelerator::kvm);
    EXPECT_EQ(works.cpu, "host,-arch-capabilities");
    EXPECT_EQ(works.text, "KVM (processor host,-arch-capabilities)");
}

TEST_F(AcceleratorTest, FailsWhereNothingElseIsWanted) {
    EXPECT_EQ(message_of([&] {
                  static_cast<void>(choose_execution(ctx, "/bin/false", Accelerator::kvm,
                                                     std::nullopt, "/nonexistent/kvm"));
              }),
              "KVM does not work: there is no /nonexistent/kvm");
    EXPECT_EQ(choose_execution(ctx, "/nonexistent", Accelerator::tcg, std::nullopt).text,
              "TCG (software emulation)");
}

}  // namespace
}  // namespace edgegpu
