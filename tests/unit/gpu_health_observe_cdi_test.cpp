#include <sys/stat.h>

#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gpu_health/observe/cdi_text.hpp"
#include "gpu_health_machine_tree.hpp"

namespace edgegpu::gpu_health {
namespace {

using test::MachineTree;
using testing::ElementsAre;
using testing::HasSubstr;

/// As `nvidia-ctk cdi generate` writes it, shortened.
constexpr const char* specification = R"(---
cdiVersion: 0.5.0
kind: nvidia.com/gpu
devices:
- name: "0"
  containerEdits:
    deviceNodes:
    - path: /dev/nvidia0
- name: all
  containerEdits:
    deviceNodes:
    - path: /dev/nvidia0
    - path: /dev/dri/card1
      hostPath: /dev/dri/card0
containerEdits:
  env:
  - NVIDIA_VISIBLE_DEVICES=void
  deviceNodes:
  - path: /dev/nvidiactl
  hooks:
  - hookName: createContainer
    path: /usr/bin/nvidia-cdi-hook
    args: [nvidia-cdi-hook, update-ldcache, --folder, /usr/lib64]
  mounts:
  - hostPath: /usr/lib64/libcuda.so.580.159.04
    containerPath: /usr/lib64/libcuda.so.580.159.04
    options: [ro, nosuid, nodev, bind]
  - hostPath: /usr/lib64/libnvidia-egl-wayland.so.1.1.13
    containerPath: /usr/lib64/libnvidia-egl-wayland.so.1.1.13
  - hostPath: /lib/firmware/nvidia/580.159.04/gsp_ga10x.bin
    containerPath: /lib/firmware/nvidia/580.159.04/gsp_ga10x.bin
)";

TEST(GpuHealthCdi, NamesWhatIsMissing) {
    const MachineTree tree;
    tree.write("root/etc/cdi/nvidia.yaml", specification);
    tree.write("root/usr/bin/nvidia-cdi-hook", "");
    tree.write("root/usr/lib64/libcuda.so.580.159.04", "");
    tree.link("root/usr/lib64/libnvidia-egl-wayland.so.1.1.13", "gone");
    tree.link("root/lib", "usr/lib");
    tree.write("root/usr/lib/firmware/nvidia/580.159.04/gsp_ga10x.bin", "");
    tree.write("dev/nvidiactl", "");
    tree.write("dev/dri/card0", "");
    tree.write("root/usr/share/containers/oci/hooks.d/oci-nvidia-hook.json", "{}");
    tree.write("root/usr/share/containers/oci/hooks.d/other.json", "{}");
    const Cdi cdi = tree.observed(Step::cdi).cdi;
    EXPECT_TRUE(cdi.toolkit);
    EXPECT_THAT(cdi.hooks, ElementsAre("/usr/share/containers/oci/hooks.d/oci-nvidia-hook.json"));
    EXPECT_THAT(cdi.specs,
                ElementsAre(CdiSpec{"/etc/cdi/nvidia.yaml",
                                    "",
                                    "nvidia.com/gpu",
                                    {"0", "all"},
                                    {"/dev/nvidia0", "/usr/lib64/libnvidia-egl-wayland.so.1.1.13"},
                                    {"580.159.04"}}));
}

TEST(GpuHealthCdi, IsReadFromEachDirectoryOnce) {
    const MachineTree tree;
    tree.write("root/run/cdi/a.json",
               R"({"kind": "k8s.device-plugin.nvidia.com/gpu", "devices": [{"name": "x"}]})");
    tree.write("root/run/cdi/other.yaml", "kind: vendor.com/nic\ndevices: [{name: x}]\n");
    tree.write("root/run/cdi/broken-other.yaml", "kind: vendor.com/nic: x\n");
    tree.write("root/run/cdi/readme.txt", "nvidia");
    tree.link("root/var/run", "../run");
    const Cdi cdi = tree.observed(Step::cdi).cdi;
    ASSERT_EQ(cdi.specs.size(), 1U);
    EXPECT_EQ(cdi.specs[0].path, "/run/cdi/a.json");
    EXPECT_FALSE(cdi.toolkit);
    EXPECT_EQ(MachineTree().observed(Step::cdi).cdi, Cdi{});
}

TEST(GpuHealthCdi, SaysWhyItIsNone) {
    const auto error_of = [](const std::string& content) {
        const MachineTree tree;
        tree.write("root/etc/cdi/nvidia.yaml", content);
        return tree.observed(Step::cdi).cdi.specs.at(0).error;
    };
    EXPECT_THAT(error_of(""), HasSubstr("it has no kind"));
    EXPECT_THAT(error_of("[]"), HasSubstr("it has no kind"));
    EXPECT_THAT(error_of("kind: [nvidia.com/gpu]"), HasSubstr("it has no kind"));
    EXPECT_THAT(error_of("kind: nvidia.com/gpu\n"), HasSubstr("it has no devices"));
    EXPECT_THAT(error_of("kind: nvidia.com/gpu\ndevices: {a: b}\n"), HasSubstr("no devices"));
    EXPECT_THAT(error_of("kind: a\nkind: b: c\n"), HasSubstr("neither YAML nor JSON: line 2"));
    EXPECT_THAT(error_of("\xff\xfe\xff"), HasSubstr("neither YAML nor JSON"));
    EXPECT_THAT(error_of("kind: \xc3\x28"), HasSubstr("neither YAML nor JSON"));
    const MachineTree tree;
    tree.directory("root/etc/cdi/nvidia.yaml");
    ASSERT_EQ(::mkfifo(tree.at("root/run/cdi/nvidia.json").c_str(), 0600), 0);
    const Cdi cdi = tree.observed(Step::cdi).cdi;
    EXPECT_EQ(cdi.specs.at(0).error, "Is a directory");
    EXPECT_EQ(cdi.specs.at(1).error, "it is no regular file");
}

TEST(GpuHealthCdi, MayBeCutAnywhere) {
    const std::string text = specification;
    for (std::size_t size = 0; size < text.size(); ++size) {
        try {
            EXPECT_FALSE(read_cdi(text.substr(0, size)).kind.empty());
        } catch (const std::runtime_error& error) {
            EXPECT_STRNE(error.what(), "");
        }
    }
}

TEST(GpuHealthCdi, MayUseAnchorsAndFlows) {
    const CdiText cdi = read_cdi(
        "kind: &k nvidia.com/gpu\ncontainerEdits: &e {mounts: &m [{hostPath: /a}, [], x]}\n"
        "devices: [{name: *k, containerEdits: *e}, {name: b, containerEdits: {mounts: *m, "
        "deviceNodes: [{path: /b, hostPath: /c}], hooks: {path: /d}}}]\n");
    EXPECT_THAT(cdi.devices, ElementsAre("nvidia.com/gpu", "b"));
    EXPECT_THAT(cdi.paths, ElementsAre("/a", "/c"));
    EXPECT_THROW(static_cast<void>(read_cdi("kind: x\ndevices: *none\n")), std::runtime_error);
}

/// Aliases of aliases, which would be 10^20 devices if they were copied; a list that holds itself;
/// more nesting than a stack has.
TEST(GpuHealthCdi, DoesNotGrowByAliases) {
    std::string text = "kind: nvidia.com/gpu\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
    for (int i = 1; i <= 20; ++i) {
        const std::string before = " *a" + std::to_string(i - 1);
        text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
        for (int j = 0; j < 10; ++j) {
            text += before + " ,";
        }
        text += before + " ]\n";
    }
    EXPECT_EQ(read_cdi(text + "devices: *a20\n").devices.size(), 11U);
    EXPECT_EQ(read_cdi("kind: x\ndevices: &d [*d , *d ]\n").devices.size(), 2U);
    std::string edits = "kind: x\ncontainerEdits: &e\n  mounts:\n";
    std::string devices = "devices:\n";
    for (int i = 0; i < 3000; ++i) {
        edits += "  - hostPath: /p" + std::to_string(i) + "\n";
        devices += "- {name: d, containerEdits: *e}\n";
    }
    EXPECT_EQ(read_cdi(edits + devices).paths.size(), 3000U);
    std::string blocks = "kind: x\ndevices:\n";
    for (int i = 0; i < 10'000; ++i) {
        blocks += "- ";
    }
    EXPECT_EQ(read_cdi(blocks + "x\n").devices.size(), 1U);
    for (const char bracket : {'[', '{'}) {
        EXPECT_THROW(
            static_cast<void>(read_cdi("kind: x\ndevices: " + std::string(1'000'000, bracket))),
            std::runtime_error);
    }
}

TEST(GpuHealthCdi, MayBeLarge) {
    std::string text =
        "{\"kind\": \"nvidia.com/gpu\", \"devices\": [{\"name\": \"0\"}], "
        "\"containerEdits\": {\"mounts\": [";
    while (text.size() < 10'000'000) {
        text +=
            "{\"hostPath\": \"/" + std::string(1000, 'x') + std::to_string(text.size()) + "\"},";
    }
    const MachineTree tree;
    tree.write("root/etc/cdi/nvidia.json", text + "{}]}}");
    const Cdi cdi = tree.observed(Step::cdi).cdi;
    EXPECT_EQ(cdi.specs.at(0).error, "");
    EXPECT_EQ(cdi.specs.at(0).missing.size(), 100U);
    std::string large;
    large.resize(17'000'000, ' ');
    tree.write("root/etc/cdi/nvidia.json", large);
    EXPECT_EQ(tree.observed(Step::cdi).cdi.specs.at(0).error, "it is too large");
}

}  // namespace
}  // namespace edgegpu::gpu_health
