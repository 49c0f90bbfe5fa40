#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace edgegpu {

/// The packages that are made of a run file, each named as in NVIDIA's repositories for RHEL.
enum class DriverPart {
    /// nvidia-driver-cuda: programs
    cuda,
    /// nvidia-driver-cuda-libs
    cuda_libs,
    /// nvidia-driver-libs: OpenGL, Vulkan, ray tracing
    graphics_libs,
    /// nvidia-kmod-common: firmware
    kmod_common,
    nvidia_modprobe,
    nvidia_persistenced,
    /// kmod-nvidia-latest-dkms: sources of the proprietary modules
    proprietary_modules,
    /// kmod-nvidia-open-dkms
    open_modules
};

/// Why images do not get files that a run file has.
inline constexpr std::string_view of_installer = "of NVIDIA's installer";
inline constexpr std::string_view for_display = "for an X server or a desktop";
inline constexpr std::string_view for_sleep = "for machines that sleep";

/// A kind of file in NVIDIA's `.manifest`: which words a line of it has, and where such files
/// belong in an image (nvidia-installer's manifest.c and files.c).
struct FileType {
    std::string_view name;
    bool has_architecture = false;
    bool has_path = false;
    bool is_link = false;
    /// Its path is that of the file in the archive, without INHERIT_PATH_DEPTH directories.
    bool inherits_path = false;
    /// Directory of an image, to which the path is added; "/": the path is the directory.
    std::string_view directory = {};
    DriverPart part = DriverPart::cuda;
    /// Not empty: images do not get such files, and why.
    std::string_view left_out = {};
};

/// A line of the manifest.
struct ManifestEntry {
    /// In the archive; of a link, its name.
    std::string file;
    /// Permission bits.
    unsigned mode = 0;
    const FileType* type = nullptr;
    bool compat32 = false;
    /// Relative, or of types whose directory is "/" absolute; without slashes at the end.
    std::string path;
    /// Of a link.
    std::string target;
    /// "gpgpu" of MODULE:gpgpu, or empty.
    std::string module;

    /// Without directories.
    [[nodiscard]] std::string name() const;
};

/// NVIDIA's `.manifest` of a driver.
struct DriverManifest {
    /// "570.211.01"
    std::string version;
    /// "x86_64" or "aarch64"
    std::string architecture;
    /// Kernel modules: "nvidia-uvm".
    std::vector<std::string> modules;
    std::vector<ManifestEntry> entries;
    /// Lines of types that are not known, as they are.
    std::vector<std::string> unknown;
};

/// Reads the manifest: eight lines of what is installed, then one per file. Throws Error naming
/// `origin` and line if it is none, or has a path that leaves its directory.
[[nodiscard]] DriverManifest parse_driver_manifest(std::string_view text,
                                                   const std::string& origin);

}  // namespace edgegpu
