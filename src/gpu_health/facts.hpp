#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpu_health/stack.hpp"
#include "gpu_health/steps.hpp"

/// A machine as a value. `gpu-health --record` prints it, `--facts FILE` judges it elsewhere; the
/// JSON has the names of the members.
namespace edgegpu::gpu_health {

/// A PCI function of NVIDIA's (vendor 10de) of class 03xx, in sysfs.
struct PciFunction {
    /// "0000:65:00.0"
    std::string address;
    /// "10de:2335": what it was when the bus was searched; "ffff:ffff" if it was silent then.
    std::string id;
    /// "0x030200"
    std::string device_class;
    /// "nvidia", "nouveau", "vfio-pci"; empty: none.
    std::string driver;
    /// `driver_override` of sysfs; empty: none.
    std::string driver_override;
    /// Configuration space: the first bytes are all ones, or cannot be read: the GPU does not
    /// answer.
    bool silent = false;
    /// A virtual function (`physfn` is there).
    bool virtual_function = false;
    /// current_link_width, max_link_width; 0: unknown
    unsigned link_width = 0;
    unsigned max_link_width = 0;
    /// max_link_speed as generation: 2.5 GT/s is 1, 16 is 4; 0: unknown
    unsigned max_link_generation = 0;
    /// BARs with a size and no address: the firmware did not give them room.
    std::vector<int> unassigned_bars;
    bool operator==(const PciFunction&) const = default;
};

/// The module `nvidia` as a file, found as modprobe finds it (modules.dep).
struct ModuleFile {
    /// Path; empty: modules.dep of the running kernel has none.
    std::string path;
    bool exists = false;
    /// Why it cannot be read; empty: it can.
    std::string error;
    std::string vermagic;
    /// vermagic of another module of the running kernel, to compare with; empty: none found. The
    /// kernel does not compare the first word, its release, where both have "modversions"
    /// (same_magic in kernel/module): Red Hat's weak-updates are links to modules for an older
    /// kernel, and load.
    std::string kernel_vermagic;
    std::string version;
    /// "open" or "proprietary", by its licence
    std::string flavor;
    bool is_signed = false;
    std::string key_id;
    std::string signer;
    /// modprobe's configuration or the kernel's arguments keep udev from loading it: `blacklist
    /// nvidia`, `install nvidia /bin/false`, `alias pci:v000010DE* off`, `module_blacklist=nvidia`.
    bool blocked = false;
    /// What does: "/etc/modprobe.d/gpu.conf: blacklist nvidia", separated by "; ". `blacklist` and
    /// `alias` do not keep `modprobe nvidia` from it.
    std::string blocked_by;
    bool operator==(const ModuleFile&) const = default;
};

/// What this machine accepts as signatures of modules.
struct ModuleTrust {
    /// module.sig_enforce, or Secure Boot locks the kernel down ("integrity", "confidentiality").
    bool enforced = false;
    std::string lockdown;
    /// The firmware's Secure Boot; nothing: no UEFI, or not readable.
    std::optional<bool> secure_boot;
    /// /proc/keys could be read: without that, `keys` says nothing.
    bool keys_known = false;
    /// Subject key ids (upper-case hexadecimal) of the kernel's X.509 keys, which are those of
    /// .builtin_trusted_keys, .secondary_trusted_keys, .platform and .machine: /proc/keys shows
    /// all that root may see. Some have only the last 8 digits: compare the ends. The kernel does
    /// not tell serial numbers, by which most modules name their key: compare the signer's name
    /// with `names`, or the serial number with `enrolled`.
    std::vector<std::string> keys;
    /// Names of these keys' subjects as the kernel has them: the common name, or "ORGANISATION:
    /// COMMON NAME" (x509_fabricate_name).
    std::vector<std::string> names;
    /// Subject key ids and serial numbers of the certificates in shim's MokListRT, upper-case
    /// hexadecimal; empty where there is none.
    std::vector<std::string> enrolled;
    bool operator==(const ModuleTrust&) const = default;
};

/// What is loaded.
struct LoadedDriver {
    /// /sys/module/nvidia is there.
    bool loaded = false;
    /// /sys/module/nvidia/version
    std::string version;
    /// NVRM line of /proc/driver/nvidia/version
    std::string nvrm;
    /// Other drivers of GPUs that are loaded: "nouveau", "nova_core".
    std::vector<std::string> rivals;
    /// nvidia_uvm, nvidia_modeset, …
    std::vector<std::string> companions;
    bool operator==(const LoadedDriver&) const = default;
};

/// /proc/driver/nvidia/gpus/ADDRESS/information.
struct ProcGpu {
    std::string address;
    std::string model;
    /// minor number of /dev/nvidiaN; -1: unknown
    int minor = -1;
    /// "580.159.04", "N/A"
    std::string firmware;
    bool excluded = false;
    bool operator==(const ProcGpu&) const = default;
};

struct FirmwareFile {
    std::string path;
    bool exists = false;
    std::uint64_t size = 0;
    bool operator==(const FirmwareFile&) const = default;
};

struct DeviceNode {
    /// "/dev/nvidia0"
    std::string path;
    bool exists = false;
    bool is_character_device = false;
    unsigned major = 0;
    unsigned minor = 0;
    /// What the driver has: /proc/devices, and the minor numbers that it gives; -1: unknown.
    int expected_major = -1;
    int expected_minor = -1;
    /// permission bits
    unsigned mode = 0;
    unsigned uid = 0;
    unsigned gid = 0;
    /// SELinux context; empty: none
    std::string label;
    /// errno's text of an open for reading and writing; empty: it can be opened, "-": not tried, as
    /// its major number is no driver's of NVIDIA (opening it could load a module).
    std::string open_error = "-";
    bool operator==(const DeviceNode&) const = default;
};

/// A line of this boot's kernel log that speaks of GPUs or modules.
struct KernelMessage {
    std::uint64_t microseconds = 0;
    std::string text;
    bool operator==(const KernelMessage&) const = default;
};

struct Library {
    /// "libnvidia-ml.so.1"
    std::string name;
    /// what the link leads to; empty: not found
    std::string path;
    /// of its file name: "580.159.04"
    std::string version;
    bool operator==(const Library&) const = default;
};

/// A GPU as NVML sees it; what NVML did not say is nothing.
struct NvmlGpu {
    std::string address;
    std::string name;
    std::string uuid;
    std::optional<std::uint64_t> memory;
    std::optional<bool> persistence;
    std::optional<bool> mig;
    std::vector<std::string> mig_devices;
    /// 0 none, 1 GPU reset, 2 node reboot, 3 drain, 4 drain and reset (field 230)
    std::optional<int> recovery_action;
    std::optional<std::uint64_t> uncorrected_volatile;
    std::optional<std::uint64_t> uncorrected_aggregate;
    std::optional<std::uint64_t> remapped_uncorrectable;
    std::optional<bool> remap_pending;
    std::optional<bool> remap_failed;
    std::optional<unsigned> temperature;
    /// licence of a vGPU: "Licensed", "Unlicensed", …; empty: no vGPU
    std::string licence;
    /// code of NVML that ended the look at this GPU; 0: none
    int code = 0;
    bool operator==(const NvmlGpu&) const = default;
};

/// How a child of gpu-health ended.
enum class ChildEnd { not_run, ended, crashed, hung, missing };

/// What the child that calls NVML said.
struct Nvml {
    ChildEnd end = ChildEnd::not_run;
    /// why it was not run, or what it said before it ended
    std::string text;
    /// of nvmlInit and the calls for the whole: 0 success
    int code = 0;
    /// the function that returned it
    std::string function;
    std::string driver_version;
    std::string library_version;
    std::vector<NvmlGpu> gpus;
    bool operator==(const Nvml&) const = default;
};

/// A CDI specification of the device.
struct CdiSpec {
    std::string path;
    /// Why it cannot be read or is none; empty: it can.
    std::string error;
    std::string kind;
    std::vector<std::string> devices;
    /// host paths and device nodes in it that are not there
    std::vector<std::string> missing;
    /// driver versions in names of its files ("580.159.04")
    std::vector<std::string> versions;
    bool operator==(const CdiSpec&) const = default;
};

struct Cdi {
    /// A container toolkit is in the image (nvidia-ctk or nvidia-cdi-hook).
    bool toolkit = false;
    std::vector<CdiSpec> specs;
    /// OCI hooks of old toolkits
    std::vector<std::string> hooks;
    bool operator==(const Cdi&) const = default;
};

/// A run of vectorAdd.
struct Workload {
    /// "direct", "podman", "crio"
    std::string how;
    ChildEnd end = ChildEnd::not_run;
    int status = 0;
    /// "Test PASSED on 1 GPU", or what went wrong
    std::string text;
    /// function and code of the CUDA driver API that failed
    std::string function;
    int code = 0;
    /// GPUs on which it passed
    unsigned passed = 0;
    bool operator==(const Workload&) const = default;
};

/// How a step went, apart from what it found.
struct StepRun {
    double milliseconds = 0;
    /// The child did not end in time, and was left behind.
    bool hung = false;
    /// Why nothing is known; empty: it is.
    std::string error;
    bool operator==(const StepRun&) const = default;
};

struct Facts {
    /// Of this format.
    int format = 1;
    /// Checksum of the booted deployment; empty: no ostree.
    std::string commit;
    std::string boot_id;
    std::string kernel;
    bool virtual_machine = false;
    /// Nothing: the image has no gpu-stack.json, or `stack_error` says why it cannot be read.
    std::optional<Stack> stack;
    std::string stack_error;
    std::vector<PciFunction> functions;
    ModuleFile module;
    ModuleTrust trust;
    LoadedDriver driver;
    std::vector<ProcGpu> proc_gpus;
    std::vector<FirmwareFile> firmware;
    std::vector<KernelMessage> kernel_log;
    /// The beginning of this boot is no longer in the kernel's log.
    bool kernel_log_cut = false;
    std::vector<DeviceNode> nodes;
    /// SELinux is there (labels count).
    bool selinux = false;
    std::vector<Library> libraries;
    Nvml nvml;
    Cdi cdi;
    std::vector<Workload> workloads;
    /// step name → how it went; a step that is not there did not run
    std::map<std::string, StepRun> runs;
    bool operator==(const Facts&) const = default;
};

/// JSON text with a newline at the end; members that have their default value are left out.
[[nodiscard]] std::string facts_json(const Facts& facts);

/// Reads such a text. Throws std::runtime_error for what is none: `it is not what gpu-health
/// --record gives: …`.
[[nodiscard]] Facts read_facts(std::string_view json);

}  // namespace edgegpu::gpu_health
