#include <gtest/gtest.h>

#include "customise/kernel_arguments.hpp"
#include "customise_fixture.hpp"
#include "support/process.hpp"

namespace edgegpu::test {
namespace {

namespace fs = std::filesystem;

// Stand-ins for the device's programs: they keep what the real ones keep of kernel arguments, in
// files below the test's directory, and note how they were called.
constexpr const char* fake_ostree = R"(#!/bin/sh
# A fake ostree, for tests.
case "$1 $2" in
    'admin status') cat "$EDGEGPU_ROOT/fake-status" ;;
esac
)";

constexpr const char* fake_rpm_ostree = R"(#!/bin/sh
# A fake rpm-ostree, for tests: prints as the older ones do.
shift
if [ $# = 0 ]; then
    echo 'The kernel arguments are:'
    cat "$EDGEGPU_ROOT/fake-kargs"
else
    printf 'rpm-ostree' >>"$EDGEGPU_ROOT/fake-calls"
    printf ' [%s]' "$@" >>"$EDGEGPU_ROOT/fake-calls"
fi
)";

class KernelArguments : public TreeTest {
protected:
    void SetUp() override {
        TreeTest::SetUp();
        host_file("bin/ostree", fake_ostree, 0755);
        entry(1, "root=LABEL=old ro");
        entry(2, "root=LABEL=x rw quiet ostree=/ostree/boot.1/lab/c/0");
        booted("aaa");
    }
    void entry(int version, const std::string& options) {
        host_file(fmt::format("boot/loader/entries/ostree-{}-lab.conf", version),
                  fmt::format("title x\nversion {}\noptions {}\nlinux /vmlinuz", version, options));
    }
    void booted(const std::string& commit, const std::string& others = "  lab bbb.0 (rollback)\n") {
        host_file("fake-status", "* lab " + commit + ".0\n    Version: 1\n" + others);
    }
    /// What the script prints with the image's list being this.
    std::string run(const std::string& list, int status = 0) {
        host_file("usr/lib/edgegpu/kernel-arguments", list);
        const ProcessResult result = run_process(
            ctx, {"/bin/sh", EDGEGPU_SOURCE_DIR "/src/customise/device/kernel-arguments"},
            {"PATH=" + (scratch / "bin").string() + ":/usr/bin:/bin",
             "EDGEGPU_ROOT=" + scratch.string()});
        EXPECT_EQ(result.status, status);
        return result.output;
    }
    std::string arguments() {
        const std::string text = read_file(scratch / "boot/loader/entries/ostree-2-lab.conf");
        const std::size_t at = text.find("options ") + 8;
        return text.substr(at, text.find('\n', at) - at);
    }
    std::string state() { return read_file(scratch / "var/lib/edgegpu/kernel-arguments"); }
};

TEST_F(KernelArguments, AddsWhatIsMissingOnce) {
    EXPECT_EQ(run("console=ttyS0\nquiet\n"), "kernel arguments: adding console=ttyS0\n");
    EXPECT_EQ(arguments(), "root=LABEL=x rw quiet ostree=/ostree/boot.1/lab/c/0 console=ttyS0");
    EXPECT_EQ(state(), "last aaa\naaa console=ttyS0\naaa quiet\n");
    EXPECT_EQ(run("console=ttyS0\nquiet\n"), "kernel arguments: set already for aaa\n");
    EXPECT_EQ(read_file(scratch / "boot/loader/entries/ostree-2-lab.conf"),
              "title x\nversion 2\noptions root=LABEL=x rw quiet ostree=/ostree/boot.1/lab/c/0 "
              "console=ttyS0\nlinux /vmlinuz\n");
    EXPECT_EQ(read_file(scratch / "boot/loader/entries/ostree-1-lab.conf"),
              "title x\nversion 1\noptions root=LABEL=old ro\nlinux /vmlinuz");
}

TEST_F(KernelArguments, AnUpgradeRemovesWhatTheLastImageBroughtAndNothingElse) {
    run("edge.stage=1\nedge.old\n");
    entry(2, arguments() + " mine=1");
    booted("ccc", "  lab aaa.0 (rollback)\n");
    EXPECT_EQ(run("edge.stage=2\nmine=1\n"),
              "kernel arguments: adding edge.stage=2\nkernel arguments: removing edge.stage=1\n"
              "kernel arguments: removing edge.old\n");
    EXPECT_EQ(arguments(),
              "root=LABEL=x rw quiet ostree=/ostree/boot.1/lab/c/0 mine=1 edge.stage=2");
    EXPECT_EQ(state(), "last ccc\naaa edge.stage=1\naaa edge.old\nccc edge.stage=2\n");
    // The device had mine=1 before an image did: it stays when the image no longer has it.
    booted("ddd", "  lab ccc.0 (rollback)\n");
    run("");
    EXPECT_EQ(arguments(), "root=LABEL=x rw quiet ostree=/ostree/boot.1/lab/c/0 mine=1");
    EXPECT_EQ(state(), "last ddd\nccc edge.stage=2\n");
}

TEST_F(KernelArguments, ARollbackKeepsWhatIsTheImages) {
    run("edge.stage=1\n");
    const std::string first = arguments();
    booted("ccc", "  lab aaa.0 (rollback)\n");
    run("edge.stage=2\n");
    booted("aaa", "  lab ccc.0\n");
    entry(2, first);
    EXPECT_EQ(run("edge.stage=1\n"), "");
    EXPECT_EQ(arguments(), first);
    booted("ccc", "  lab aaa.0 (rollback)\n");  // made anew from the first
    run("edge.stage=2\n");
    EXPECT_EQ(arguments(), "root=LABEL=x rw quiet ostree=/ostree/boot.1/lab/c/0 edge.stage=2");
}

TEST_F(KernelArguments, WithoutAStateTheOtherImagesTellWhatWasTheirs) {
    entry(2, "rw edge.stage=1 mine=1 ostree=/x");
    host_file("ostree/deploy/lab/deploy/bbb.0/usr/lib/edgegpu/kernel-arguments",
              "edge.stage=1\nrw\n");
    run("rw\nedge.stage=2\n");
    EXPECT_EQ(arguments(), "rw mine=1 ostree=/x edge.stage=2");
    EXPECT_EQ(state(), "last aaa\naaa rw\naaa edge.stage=2\n");
}

TEST_F(KernelArguments, QuotedAndSimilarArguments) {
    entry(2, "rw console=ttyS0,115200 a=\"b c\"");
    run("console=ttyS0\na=\"b c\"\nd=\"e  f\"\n");
    EXPECT_EQ(arguments(), "rw console=ttyS0,115200 a=\"b c\" console=ttyS0 d=\"e  f\"");
    booted("ccc");
    run("d=\"e  f\"\n");
    EXPECT_EQ(arguments(), "rw console=ttyS0,115200 d=\"e  f\"");
}

TEST_F(KernelArguments, WorksThroughRpmOstree) {
    host_file("bin/rpm-ostree", fake_rpm_ostree, 0755);
    host_file("fake-kargs", "root=LABEL=x rw quiet\n");
    run("quiet\nconsole=ttyS0\n");
    booted("ccc");
    host_file("fake-kargs", "root=LABEL=x rw quiet console=ttyS0\n");
    run("edge.new\nquiet\n");
    EXPECT_EQ(read_file(scratch / "fake-calls"),
              "rpm-ostree [--append-if-missing=console=ttyS0]"
              "rpm-ostree [--append-if-missing=edge.new] [--delete-if-present=console=ttyS0]");
}

TEST_F(KernelArguments, NeverFailsABoot) {
    host_file("fake-status", "  lab bbb.0 (pending)\n* lab aaa.0\n");
    EXPECT_EQ(run("a\n"), "kernel arguments: the booted deployment is not the default one\n");
    host_file("fake-status", "");
    EXPECT_EQ(run("a\n"), "kernel arguments: the booted deployment is not the default one\n");
    booted("aaa");
    host_file("boot/loader/grub.cfg", "");
    EXPECT_EQ(run("a\n"), "kernel arguments: the boot loader reads grub.cfg, not entries\n");
    fs::remove(scratch / "boot/loader/grub.cfg");
    make_directories(scratch / "boot/loader/entries/ostree-2-lab.conf.new");  // nobody can write it
    EXPECT_NE(run("a\n").find("kernel arguments: cannot change "), std::string::npos);
    fs::remove(scratch / "boot/loader/entries/ostree-2-lab.conf.new");
    EXPECT_EQ(run("a\n"), "kernel arguments: adding a\n");
    fs::remove_all(scratch / "var");
    host_file("var", "not a directory");
    booted("ccc");
    EXPECT_NE(run("b\n").find("cannot write"), std::string::npos);
    fs::remove_all(scratch / "boot/loader/entries");
    EXPECT_NE(run("a\n").find("no boot loader entry of ostree"), std::string::npos);
    fs::remove(scratch / "bin/ostree");
    // Debian's own ostree may be there; without a sysroot it knows no booted deployment.
    EXPECT_NE(run("a\n").find("kernel arguments: "), std::string::npos);
}

TEST_F(KernelArguments, TheImageBringsListAndUnit) {
    file("/usr/lib/systemd/system/multi-user.target", "");
    tree.kernel_arguments = {"quiet"};
    Blueprint blueprint;
    blueprint.kernel_arguments = {"console=ttyS0", "quiet"};
    record_kernel_arguments(ctx, blueprint, tree);
    EXPECT_EQ(text("/usr/lib/edgegpu/kernel-arguments"), "quiet\nconsole=ttyS0\n");
    EXPECT_EQ(text("/usr/libexec/edgegpu/kernel-arguments"),
              read_file(EDGEGPU_SOURCE_DIR "/src/customise/device/kernel-arguments"));
    EXPECT_EQ(tree.entries.at("/usr/libexec/edgegpu/kernel-arguments").mode, 0755U);
    EXPECT_EQ(
        text("/usr/lib/systemd/system/multi-user.target.wants/"
             "edgegpu-kernel-arguments.service"),
        read_file(EDGEGPU_SOURCE_DIR "/src/customise/device/edgegpu-kernel-arguments.service"));
}

}  // namespace
}  // namespace edgegpu::test
