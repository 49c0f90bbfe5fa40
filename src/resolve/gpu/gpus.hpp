#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace edgegpu {

/// Which kernel modules drive a GPU.
enum class GpuModules : std::uint8_t {
    either,       ///< open or proprietary
    open,         ///< the open ones only (Grace Hopper, Blackwell, …)
    proprietary,  ///< the proprietary ones only (before Turing)
    unclear       ///< its boards contradict one another
};

/// What is known of one kind of GPU.
struct Gpu {
    /// PCI device id; the vendor is 10de
    std::uint16_t device = 0;
    /// the first branch that drives it; 0: one older than those in use
    unsigned first_branch = 0;
    /// the last branch that drives it; 0: none is known to drop it
    unsigned last_branch = 0;
    GpuModules modules = GpuModules::either;
    /// product names of its boards, joined by " / "
    std::string name;

    /// "10de:20b7"
    [[nodiscard]] std::string id() const;
    /// "NVIDIA A30 (10de:20b7)"
    [[nodiscard]] std::string text() const;
    /// "470 only", "up to 580", "570 and later" or "any"
    [[nodiscard]] std::string branches() const;
};

/// What one driver's supported-gpus.json says.
struct GpuTable {
    /// version of that driver
    std::string driver;
    /// sorted by device id, each once
    std::vector<Gpu> gpus;

    /// nullptr if the table does not have the PCI id "10de:20b7".
    [[nodiscard]] const Gpu* find(const std::string& pci_id) const;
};

/// The table that edgegpu was built with; scripts/make-gpu-table makes it.
[[nodiscard]] GpuTable shipped_gpus();

/// Reads a driver's supported-gpus.json: `legacybranch` means that branch only; without
/// `kernelopen` proprietary modules only, up to branch 580; with `kernelopen` alone open modules
/// only; with `gsp_proprietary_supported` too, either. Rows of one device that contradict one
/// another make it `unclear`. Throws ErrorKind::fetch naming `origin` if it is not such a file.
[[nodiscard]] GpuTable read_supported_gpus(const std::string& json, const std::string& driver,
                                           const std::string& origin);

/// GPUs whose PCI id ("10de:20b7" or "20b7") is `wanted`, or whose name contains it in any case;
/// all for "".
[[nodiscard]] std::vector<Gpu> match_gpus(const GpuTable& table, const std::string& wanted);

/// "either", "open", "proprietary" or "unclear".
[[nodiscard]] std::string text_of(GpuModules modules);

}  // namespace edgegpu
