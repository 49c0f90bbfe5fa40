#include "driver_package/placement.hpp"

#include <algorithm>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "driver_package/driver_manifest.hpp"
#include "support/error.hpp"

namespace edgegpu {

namespace {

/// What every driver has.
const std::string least =
    "Driver for Linux-x86_64\n570.211.01\n \nnvidia\n \n \n \n \n"
    "kernel/dkms.conf 0644 DKMS_CONF INHERIT_PATH_DEPTH:1 MODULE:resman\n"
    "nvidia-smi 0755 UTILITY_BINARY MODULE:nvml\n"
    "nvidia-persistenced 0755 UTILITY_BINARY MODULE:nvpd\n"
    "nvidia-modprobe 0755 NVIDIA_MODPROBE /usr/bin/ MODULE:installer\n"
    "libcuda.so.1 0000 CUDA_SYMLINK NATIVE / libcuda.so.570.211.01 MODULE:gpgpu\n"
    "libnvidia-ml.so.1 0000 CUDA_SYMLINK NATIVE / libnvidia-ml.so.570.211.01 MODULE:nvml\n"
    "libnvidia-cfg.so.1 0000 UTILITY_LIB_SYMLINK NATIVE libnvidia-cfg.so.570.211.01 "
    "MODULE:xutils\n";

/// With all files of the manifest in the archive, and `more` files.
Placement place(const std::string& lines, std::set<std::string> more = {}) {
    const DriverManifest manifest = parse_driver_manifest(least + lines, "manifest");
    for (const ManifestEntry& entry : manifest.entries) {
        more.insert(entry.file);
    }
    return place_files(manifest, more, "x.run");
}

const DriverFile* find_file(const Placement& placement, const std::string& path) {
    const auto found = std::ranges::find(placement.files, path, &DriverFile::path);
    return found == placement.files.end() ? nullptr : &*found;
}

/// The only file that `line` adds.
DriverFile added(const std::string& line) {
    const std::size_t before = place("").files.size();
    const Placement placement = place(line + "\n");
    EXPECT_EQ(placement.files.size(), before + 1) << line;
    const std::string name = line.substr(0, line.find(' '));
    for (const DriverFile& file : placement.files) {
        if (file.source == name || file.path.ends_with("/" + name.substr(name.rfind('/') + 1))) {
            return file;
        }
    }
    ADD_FAILURE() << line;
    return {};
}

void expect_left_out(const std::string& line, const std::string& why) {
    const Placement placement = place(line + "\n");
    ASSERT_TRUE(placement.left_out.contains(why)) << line;
    EXPECT_EQ(placement.left_out.at(why).size(), 1U) << line;
}

}  // namespace

TEST(Placement, FollowsEl) {
    EXPECT_EQ(added("libnvidia-ml.so.570.211.01 0755 CUDA_LIB NATIVE / MODULE:nvml").path,
              "/usr/lib64/libnvidia-ml.so.570.211.01");
    const DriverFile vulkan = added("nvidia_icd.json 0644 VULKAN_ICD_JSON icd.d/ MODULE:opengl");
    EXPECT_EQ(vulkan.path, "/usr/share/vulkan/icd.d/nvidia_icd.json");
    EXPECT_EQ(vulkan.part, DriverPart::graphics_libs);
    const DriverFile gbm = added(
        "nvidia-drm_gbm.so 0000 GBM_BACKEND_LIB_SYMLINK NATIVE libnvidia-allocator.so.1 "
        "MODULE:nvalloc");
    EXPECT_EQ(gbm.path, "/usr/lib64/gbm/nvidia-drm_gbm.so");
    EXPECT_EQ(gbm.target, "../libnvidia-allocator.so.1");
    EXPECT_EQ(added("firmware/gsp_ga10x.bin 0444 FIRMWARE INHERIT_PATH_DEPTH:1 MODULE:gsp").path,
              "/usr/lib/firmware/nvidia/570.211.01/gsp_ga10x.bin");
    const DriverFile open = added(
        "kernel-open/common/inc/nv.h 0644 KERNEL_MODULE_SRC INHERIT_PATH_DEPTH:1 MODULE:resman");
    EXPECT_EQ(open.path, "/usr/src/nvidia-570.211.01/common/inc/nv.h");
    EXPECT_EQ(open.part, DriverPart::open_modules);
    EXPECT_EQ(added("libFlxCore64.so 0755 FLEXERA_LIB nvidia/gridd MODULE:grid").path,
              "/usr/lib64/nvidia/gridd/libFlxCore64.so");
    EXPECT_EQ(added("libnvidia-cfg.so.570.211.01 0755 UTILITY_LIB NATIVE MODULE:xutils").part,
              DriverPart::cuda_libs);
    EXPECT_EQ(added("libnvidia-fbc.so.1 0755 UTILITY_LIB NATIVE MODULE:nvfbc").part,
              DriverPart::graphics_libs);
    EXPECT_EQ(
        added("sandboxutils-filelist.json 0755 SANDBOXUTILS_FILELIST_JSON MODULE:installer").path,
        "/usr/share/nvidia/files.d/sandboxutils-filelist.json");
    EXPECT_EQ(added("nvidia-bug-report.sh 0755 UTILITY_BINARY MODULE:installer").path,
              "/usr/bin/nvidia-bug-report.sh");
}

TEST(Placement, SaysWhatItLeavesOut) {
    expect_left_out("./32/libx.so.1 0755 CUDA_LIB COMPAT32 / MODULE:x", "32-bit libraries");
    expect_left_out("libGL.so.1.7.0 0755 GLX_CLIENT_LIB NATIVE MODULE:opengl",
                    "the distribution has them (libglvnd, ocl-icd)");
    expect_left_out("nvidia-settings 0755 UTILITY_BINARY MODULE:xutils",
                    "for an X server or a desktop");
    expect_left_out(
        "dlsnetparams.csv 0444 EXPLICIT_PATH /usr/share/nvidia/nvidia-powerd MODULE:powerd",
        "for machines that sleep");
    expect_left_out("systemd/system/nvidia-suspend.service 0444 SYSTEMD_UNIT MODULE:installer",
                    "for machines that sleep");
    expect_left_out("init-scripts/post-install 0755 EXPLICIT_PATH /usr/lib/nvidia MODULE:grid",
                    "of NVIDIA's installer");
    expect_left_out("README.txt 0444 DOCUMENTATION NVIDIA_GLX-1.0/ MODULE:installer",
                    "documentation");
    expect_left_out("x.bin 0444 NEW_KIND MODULE:x", "of kinds that edgegpu does not know");
}

TEST(Placement, CompletesAGuest) {
    const std::string daemon = "nvidia-gridd 0755 UTILITY_BINARY MODULE:installer\n";
    const Placement placement =
        place(daemon, {"init-scripts/systemd/nvidia-gridd.service", "gridd.conf.template"});
    EXPECT_TRUE(placement.is_guest);
    const DriverFile* unit = find_file(placement, "/usr/lib/systemd/system/nvidia-gridd.service");
    ASSERT_NE(unit, nullptr);
    EXPECT_EQ(unit->source, "init-scripts/systemd/nvidia-gridd.service");
    EXPECT_NE(find_file(placement, "/etc/nvidia/gridd.conf.template"), nullptr);
    EXPECT_NE(find_file(placement, "/usr/share/dbus-1/system.d/nvidia-grid.conf"), nullptr);

    // A manifest that has the unit itself.
    const Placement listed =
        place(daemon + "systemd/system/nvidia-gridd.service 0444 SYSTEMD_UNIT MODULE:installer\n");
    EXPECT_EQ(find_file(listed, "/usr/lib/systemd/system/nvidia-gridd.service")->source,
              "systemd/system/nvidia-gridd.service");
    EXPECT_FALSE(place("").is_guest);
    EXPECT_THROW((void)place(daemon), Error);
}

TEST(Placement, RefusesHostsAndParts) {
    EXPECT_THROW((void)place("", {"is_vgpu_host_package.txt"}), Error);
    EXPECT_THROW((void)place("nvidia-vgpu-mgr 0755 UTILITY_BINARY MODULE:x\n"), Error);
    EXPECT_THROW((void)place("nvidia-smi 0755 UTILITY_BINARY MODULE:x\n"), Error);
    const DriverManifest manifest = parse_driver_manifest(least, "manifest");
    EXPECT_THROW((void)place_files(manifest, {"kernel/dkms.conf"}, "x.run"), Error);
}

TEST(Placement, HasWhatNvidiasPackagesHave) {
    const Placement placement = place("odd 06777 UTILITY_BINARY MODULE:x\n");
    for (const char* path :
         {"/usr/bin/nvidia-persistenced", "/usr/lib/systemd/system/nvidia-persistenced.service"}) {
        const DriverFile* file = find_file(placement, path);
        ASSERT_NE(file, nullptr) << path;
        EXPECT_EQ(file->part, DriverPart::nvidia_persistenced);
    }
    EXPECT_NE(find_file(placement, "/usr/lib/modprobe.d/nvidia.conf"), nullptr);
    EXPECT_NE(find_file(placement, "/usr/lib/dracut/dracut.conf.d/99-nvidia.conf"), nullptr);
    EXPECT_EQ(find_file(placement, "/usr/bin/nvidia-modprobe")->mode, 04755U);
    EXPECT_EQ(find_file(placement, "/usr/bin/odd")->mode, 0755U);
    const Placement graphics =
        place("libnvidia-ngx.so.570.211.01 0755 OPENGL_LIB NATIVE MODULE:ngx\n", {"extra.txt"});
    EXPECT_EQ(find_file(graphics, "/usr/lib64/libnvidia-ngx.so.1")->target,
              "libnvidia-ngx.so.570.211.01");
    EXPECT_EQ(graphics.left_out.at("not in its manifest"), std::vector<std::string>{"extra.txt"});
}

}  // namespace edgegpu
