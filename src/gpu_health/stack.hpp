#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace edgegpu::gpu_health {

/// A kernel module of the driver, as the image has it.
struct StackModule {
    /// "nvidia", "nvidia_uvm"
    std::string name;
    /// "/usr/lib/modules/6.1.0/extra/nvidia.ko.xz"
    std::string path;
    std::string version;
    /// Upper-case hexadecimal key id or serial number of the signer's certificate; empty: unsigned.
    std::string key_id;
    std::string signer;
    bool operator==(const StackModule&) const = default;
};

/// The GPU software of an image: /usr/lib/edgegpu/gpu-stack.json, and the commit's metadata.
struct Stack {
    /// "580.159.04"; empty: the image has no driver.
    std::string driver;
    /// "open", "proprietary" or empty
    std::string flavor;
    /// uname -r of the image's kernel
    std::string kernel;
    std::vector<StackModule> modules;
    /// Absolute paths: "/usr/lib/firmware/nvidia/580.159.04/gsp_ga10x.bin".
    std::vector<std::string> firmware;
    /// "libnvidia-ml.so.580.159.04" → its absolute path is in the image: paths of libnvidia-ml and
    /// libcuda as files, not links.
    std::vector<std::string> libraries;
    /// NEVRAs of the packages of the driver and the container toolkit, sorted.
    std::vector<std::string> packages;
    bool operator==(const Stack&) const = default;
};

/// The JSON text, with a newline at the end, the same for the same value.
[[nodiscard]] std::string stack_json(const Stack& stack);

/// Reads such a text. Throws std::runtime_error if it is none.
[[nodiscard]] Stack read_stack(std::string_view json);

}  // namespace edgegpu::gpu_health
