#include "driver_package/driver_manifest.hpp"

#include <string>

#include <gtest/gtest.h>

#include "support/error.hpp"

namespace edgegpu {

namespace {

const std::string header =
    "NVIDIA Accelerated Graphics Driver for Linux-x86_64\n570.211.01\n \n"
    "nvidia nvidia-uvm  nvidia-modeset nvidia-drm nvidia-peermem\n \n \n \n \n";

DriverManifest parse(const std::string& lines) {
    return parse_driver_manifest(header + lines, ".manifest");
}

/// The message of the Error, or empty.
std::string refusal(const std::string& text) {
    try {
        (void)parse_driver_manifest(text, ".manifest");
    } catch (const Error& wrong) {
        EXPECT_EQ(wrong.kind(), ErrorKind::usage);
        return wrong.message();
    }
    return {};
}

}  // namespace

TEST(DriverManifest, ReadsTheHeader) {
    const DriverManifest manifest = parse("LICENSE 0444 DOCUMENTATION / MODULE:x\n");
    EXPECT_EQ(manifest.version, "570.211.01");
    EXPECT_EQ(manifest.architecture, "x86_64");
    EXPECT_EQ(manifest.modules, (std::vector<std::string>{"nvidia", "nvidia-uvm", "nvidia-modeset",
                                                          "nvidia-drm", "nvidia-peermem"}));
    std::string arm = header;
    arm.replace(arm.find("x86_64"), 6, "aarch64");
    EXPECT_EQ(
        parse_driver_manifest(arm + "LICENSE 0444 DOCUMENTATION / MODULE:x\n", "m").architecture,
        "aarch64");
}

TEST(DriverManifest, ReadsTheWordsThatATypeHas) {
    // Lines of 570.211.01.
    const DriverManifest manifest = parse(
        "libcuda.so.570.211.01 0755 CUDA_LIB NATIVE / MODULE:gpgpu\n"
        "libcuda.so.1 0000 CUDA_SYMLINK NATIVE / libcuda.so.570.211.01 MODULE:gpgpu\n"
        "libvdpau_nvidia.so 0000 VDPAU_SYMLINK NATIVE / vdpau/libvdpau_nvidia.so.570.211.01 "
        "MODULE:vdpau\n"
        "libnvidia-gpucomp.so.570.211.01 0755 UTILITY_LIB NATIVE / MODULE:nvgpucomp\n"
        "./32/libcuda.so.570.211.01 0755 CUDA_LIB COMPAT32 / MODULE:gpgpu\n"
        "kernel/common/inc/nv.h 0644 KERNEL_MODULE_SRC INHERIT_PATH_DEPTH:1 MODULE:resman\n"
        "firmware/gsp_tu10x.bin 0444 FIRMWARE INHERIT_PATH_DEPTH:1 MODULE:gsp\n"
        "nvidia-modprobe 04755 NVIDIA_MODPROBE /usr/bin/ MODULE:installer\n"
        "nvidia-suspend.service 0000 SYSTEMD_UNIT_SYMLINK systemd-suspend.service.wants "
        "MODULE:installer\n"
        "nvidia-smi.1.gz 0444 MANPAGE man1/ MODULE:nvml\n");
    ASSERT_EQ(manifest.entries.size(), 10U);
    const auto& entries = manifest.entries;
    EXPECT_EQ(entries[0].path, "");
    EXPECT_EQ(entries[0].mode, 0755U);
    EXPECT_EQ(entries[0].module, "gpgpu");
    EXPECT_EQ(entries[1].target, "libcuda.so.570.211.01");
    EXPECT_EQ(entries[2].path, "");
    EXPECT_EQ(entries[2].target, "vdpau/libvdpau_nvidia.so.570.211.01");
    EXPECT_EQ(entries[3].path, "");
    EXPECT_TRUE(entries[4].compat32);
    EXPECT_EQ(entries[4].name(), "libcuda.so.570.211.01");
    EXPECT_EQ(entries[5].path, "common/inc");
    EXPECT_EQ(entries[6].path, "");
    EXPECT_EQ(entries[7].path, "usr/bin");
    EXPECT_EQ(entries[7].mode, 04755U);
    EXPECT_FALSE(entries[8].type->left_out.empty());
    EXPECT_EQ(entries[9].path, "man1");
    EXPECT_TRUE(manifest.unknown.empty());
}

TEST(DriverManifest, KeepsLinesThatItDoesNotKnow) {
    const DriverManifest manifest =
        parse("odd.bin 0644 QUANTUM_LIB NATIVE / MODULE:x\n\nignored\n");
    EXPECT_TRUE(manifest.entries.empty());
    EXPECT_EQ(manifest.unknown,
              std::vector<std::string>{"odd.bin 0644 QUANTUM_LIB NATIVE / MODULE:x"});
}

TEST(DriverManifest, RefusesWhatIsNone) {
    EXPECT_NE(refusal(""), "");
    EXPECT_NE(refusal("a\nb\n"), "");
    EXPECT_NE(refusal(std::string(header).replace(header.find("570"), 3, "x70") + "x\n"), "");
    EXPECT_EQ(refusal(header + "a 0644\n"), ".manifest:9: words are missing");
    EXPECT_EQ(
        refusal(header + "LICENSE 0444 DOCUMENTATION / MODULE:x\na/../b 0644 CUDA_ICD MODULE:x\n"),
        ".manifest:10: 'a/../b' is not a path that a driver has");
    EXPECT_EQ(refusal(header + "a 0644 EXPLICIT_PATH /usr/%{x} MODULE:x\n"),
              ".manifest:9: '/usr/%{x}' is not a path that a driver has");
    EXPECT_NE(refusal(header + "a 0644 CUDA_ICD MODULE:x"), "");  // cut
    EXPECT_EQ(
        refusal(header + "a 0000 UTILITY_BIN_SYMLINK b\na 0000 CUDA_SYMLINK NATIVE / /etc/x M\n"),
        ".manifest:10: '/etc/x' is no target of a link that a driver has");
    EXPECT_EQ(refusal(header + "a 8888 CUDA_ICD MODULE:x\n"), ".manifest:9: '8888' is not a mode");
    EXPECT_EQ(refusal(header + "a 0644 FIRMWARE DEPTH:1 MODULE:x\n"),
              ".manifest:9: 'DEPTH:1' is not the depth of a path");
}

}  // namespace edgegpu
