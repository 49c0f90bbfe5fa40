#include "customise/microshift/nvidia_runtime.hpp"

#include <gtest/gtest.h>

#include "customise_fixture.hpp"

namespace edgegpu::test {
namespace {

constexpr const char* nvidia_drop_in = "/etc/crio/crio.conf.d/99-nvidia.conf";
constexpr const char* toolkit = "/etc/nvidia-container-runtime/config.toml";

class NvidiaRuntime : public TreeTest {
protected:
    void runtimes() {
        file("/usr/bin/crio", "", 0755);
        file("/usr/bin/crun", "", 0755);
        file("/usr/bin/nvidia-container-runtime", "", 0755);
        file("/etc/crio/crio.conf.d/10-microshift.conf",
             "[crio.runtime]\ndefault_runtime = \"crun\"\n");
        file("/usr/lib/systemd/system/nvidia-cdi-refresh.service", "");
    }
};

TEST_F(NvidiaRuntime, NeedsBothPrograms) {
    file("/usr/bin/crio", "", 0755);
    add_nvidia_runtime(ctx, tree);
    EXPECT_EQ(find_entry(tree, nvidia_drop_in), nullptr);
    remove_entry(tree, "/usr/bin/crio");
    file("/usr/bin/nvidia-container-runtime", "", 0755);
    file(toolkit, "[nvidia-container-runtime]\nruntimes = [\"runc\"]\n");
    add_nvidia_runtime(ctx, tree);
    EXPECT_EQ(find_entry(tree, nvidia_drop_in), nullptr);
    EXPECT_EQ(text(toolkit), "[nvidia-container-runtime]\nruntimes = [\"runc\"]\n");
}

TEST_F(NvidiaRuntime, IsTheDefaultAfterMicroshifts) {
    runtimes();
    add_nvidia_runtime(ctx, tree);
    EXPECT_EQ(text(nvidia_drop_in),
              "# NVIDIA's runtime for all containers: those that ask for no GPU are passed on to "
              "crun unchanged.\n"
              "[crio.runtime]\ndefault_runtime = \"nvidia\"\n\n[crio.runtime.runtimes.nvidia]\n"
              "runtime_path = \"/usr/bin/nvidia-container-runtime\"\nruntime_type = \"oci\"\n");
}

TEST_F(NvidiaRuntime, LeavesAnothersAlone) {
    runtimes();
    file("/etc/crio/crio.conf.d/50-own.conf",
         "  [crio.runtime.runtimes.nvidia]  \nruntime_path = \"/opt/x\"\n");
    add_nvidia_runtime(ctx, tree);
    EXPECT_EQ(find_entry(tree, nvidia_drop_in), nullptr);
    file("/etc/crio/crio.conf.d/50-own.conf", "# [crio.runtime.runtimes.nvidia]\n");
    add_nvidia_runtime(ctx, tree);
    EXPECT_NE(find_entry(tree, nvidia_drop_in), nullptr);
}

TEST_F(NvidiaRuntime, ReadsTomlInAnyForm) {
    runtimes();
    for (const char* own : {"[crio.runtime.runtimes.\"nvidia\"]\nruntime_path = \"/opt/x\"\n",
                            "[crio.runtime]\nruntimes.nvidia = {runtime_path = \"/opt/x\"}\n"}) {
        file(nvidia_drop_in, own);
        add_nvidia_runtime(ctx, tree);
        EXPECT_EQ(text(nvidia_drop_in), own);
    }
}

TEST_F(NvidiaRuntime, DoesNotOverwriteAnothersFile) {
    runtimes();
    file("/etc/crio/seccomp.json", "{}");
    file(nvidia_drop_in, "[crio.runtime]\ndefault_runtime = \"crun\"\n");
    EXPECT_EQ(error_of([&] { add_nvidia_runtime(ctx, tree); }),
              "/etc/crio/crio.conf.d/99-nvidia.conf of the image comes from elsewhere, and has no "
              "table [crio.runtime.runtimes.nvidia]|NVIDIA's runtime is written to this file: give "
              "the other one another name, or add the table to it");
    EXPECT_EQ(text(nvidia_drop_in), "[crio.runtime]\ndefault_runtime = \"crun\"\n");
}

TEST_F(NvidiaRuntime, PutsCrunFirst) {
    runtimes();
    const std::string before =
        "#x = 1\nruntimes = [\"runc\"]\n[nvidia-container-runtime]\nlog-level = \"info\"\n";
    const std::string after =
        "\n[nvidia-container-runtime.modes.cdi]\nruntimes = [\"runc\", \"crun\"]\n";
    for (const auto& [given, expected] :
         {std::pair("runtimes = [\"runc\", \"crun\"]", "runtimes = [\"crun\", \"runc\"]"),
          std::pair("  runtimes=['docker-runc', 'runc']  # why",
                    "runtimes = [\"crun\", \"docker-runc\", \"runc\"]"),
          std::pair("runtimes = [\"crun\", \"runc\"] # same",
                    "runtimes = [\"crun\", \"runc\"] # same"),
          std::pair("runtimes = []", "runtimes = []"), std::pair("runtimes = [", "runtimes = ["),
          std::pair("runtimes-x = [\"a\"]", "runtimes-x = [\"a\"]"),
          std::pair("#runtimes = [\"runc\"]", "#runtimes = [\"runc\"]")}) {
        file(toolkit, before + given + after, 0640);
        add_nvidia_runtime(ctx, tree);
        EXPECT_EQ(text(toolkit), before + expected + after);
        EXPECT_EQ(tree.entries.at(toolkit).mode, 0640U);
    }
}

TEST_F(NvidiaRuntime, WarnsOfCdiThatIsBakedOrMissing) {
    Console recorded(Color::never, true);
    runtimes();
    file("/etc/cdi/nvidia.yaml", "kind: nvidia.com/gpu\n");
    file("/etc/cdi/other.yaml", "kind: vendor.com/net\n");
    ::testing::internal::CaptureStderr();
    {
        Console console(Color::never);
        ctx.console = &console;
        add_nvidia_runtime(ctx, tree);
        remove_entry(tree, "/usr/lib/systemd/system/nvidia-cdi-refresh.service");
        add_nvidia_runtime(ctx, tree);
    }
    const std::string shown = ::testing::internal::GetCapturedStderr();
    EXPECT_NE(shown.find("/etc/cdi/nvidia.yaml: a CDI specification belongs to the device"),
              std::string::npos)
        << shown;
    EXPECT_EQ(shown.find("other.yaml"), std::string::npos);
    EXPECT_NE(shown.find("no unit of the image generates the CDI specification"),
              std::string::npos);
}

}  // namespace
}  // namespace edgegpu::test
