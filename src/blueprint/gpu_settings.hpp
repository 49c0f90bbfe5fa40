#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/source_location.hpp"
#include "support/text/enum_names.hpp"

/// How devices use their GPUs, and how they look after them.
namespace edgegpu {

/// What becomes of a boot with a fault of which nobody knows whether the image is to blame: `pass`:
/// an alarm; `fail`: the boot is red, and the machine goes back.
enum class FaultAnswer { pass, fail };

constexpr std::string_view enum_name(FaultAnswer answer) {
    return nth_name(answer, {"pass", "fail"});
}

/// `workload` of `[health.gpu]`: how vectorAdd is run. `direct`: on the host; `podman`, `crio`: in
/// a container that gets the GPU by CDI.
enum class GpuWorkload { direct, podman, crio };

constexpr std::string_view enum_name(GpuWorkload workload) {
    return nth_name(workload, {"direct", "podman", "crio"});
}

/// `[health.gpu.require]`: what each GPU must be, beyond working.
struct GpuRequirements {
    /// Bytes, at least; 0: any.
    std::uint64_t memory = 0;
    /// MIG mode, persistence mode; nothing: either.
    std::optional<bool> mig;
    std::optional<bool> persistence;
    /// Lanes of PCIe, at least; 0: any.
    unsigned link_width = 0;
    /// Generation of PCIe that the link can reach (4: 16 GT/s), at least; 0: any. The current speed
    /// says nothing: an idle GPU lowers it.
    unsigned link_generation = 0;
};

/// `[health.gpu]`: gpu-health runs at each boot and decides whether an upgrade stays.
struct GpuHealthRequest {
    /// How many GPUs must work.
    unsigned minimum = 1;
    /// PCI ids of cards that must be there, "10de:20b7"; one for each card.
    std::vector<std::string> devices;
    SourceLocation devices_location;
    /// The GPUs are for virtual machines: bound to vfio-pci is healthy, and no driver is looked
    /// for.
    bool passthrough = false;
    FaultAnswer on_missing_gpu = FaultAnswer::pass;
    FaultAnswer on_unclear = FaultAnswer::pass;
    GpuRequirements require;
    /// Each once.
    std::vector<GpuWorkload> workload;
    /// Of containers that run it: the complete name of an image on the device, by digest if it was
    /// given with one. Empty: the device's own /usr.
    std::string workload_image;
    SourceLocation workload_image_location;
    /// Step of gpu-health → seconds; others have its defaults.
    std::map<std::string, std::uint32_t> deadlines;
    /// Directory of node_exporter's textfile collector; empty: none is written.
    std::string textfile;
    SourceLocation location;
};

/// An entry of `[nvidia.mig]`.
struct MigLayout {
    /// PCI id, "10de:2335"; empty: every GPU that has no entry of its own ("all").
    std::string device;
    /// "1g.18gb", in the order in which instances are made.
    std::vector<std::string> profiles;
    SourceLocation location;
};

/// `[nvidia.sharing] mode`.
enum class SharingMode { time_slicing, mps };

constexpr std::string_view enum_name(SharingMode mode) {
    return nth_name(mode, {"time-slicing", "mps"});
}

/// `[nvidia.sharing]`: several pods on a GPU, by NVIDIA's device plugin.
struct SharingRequest {
    SharingMode mode = SharingMode::time_slicing;
    /// At least 2.
    unsigned replicas = 0;
    /// Resources of the plugin that are shared: "nvidia.com/gpu", "nvidia.com/mig-1g.10gb".
    std::vector<std::string> resources;
    SourceLocation location;
};

/// `[nvidia.vgpu]`: a guest with a virtual GPU, which gets its licence by nvidia-gridd. The keys
/// are those of its gridd.conf; what is not set is not written there.
struct VgpuRequest {
    /// Licence servers without tokens (NVIDIA's legacy ones); empty: none.
    std::string server_address;
    std::optional<unsigned> server_port;
    std::string backup_server_address;
    std::optional<unsigned> backup_server_port;
    /// 0: none, 1: vGPU, 2: RTX vWS, 4: compute.
    std::optional<unsigned> feature_type;
    std::optional<bool> enable_ui;
    /// Minutes.
    std::optional<unsigned> license_interval;
    std::optional<unsigned> linger_interval;
    /// Directory of the client's token; empty: NVIDIA's.
    std::string token_directory;
    SourceLocation location;

    /// Whether the licence needs a token, which is each machine's own.
    [[nodiscard]] bool needs_token() const {
        return server_address.empty() && feature_type.value_or(1) != 0;
    }
};

/// Where nvidia-gridd looks for tokens unless gridd.conf says otherwise.
inline constexpr const char* usual_token_directory = "/etc/nvidia/ClientConfigToken";

}  // namespace edgegpu
