/// NVML's functions and structures as NVIDIA's nvml.h (13.0) declares them.

#include <cstring>

#include "gpu_health/probe/lines.hpp"

namespace edgegpu::gpu_probe {

namespace {

constexpr int library_not_found = 12;
constexpr int function_not_found = 13;

using Device = struct DeviceOfNvml*;

/// nvmlPciInfo_t
struct PciInfo {
    char bus_id_legacy[16];
    unsigned domain;
    unsigned bus;
    unsigned device;
    unsigned pci_device_id;
    unsigned pci_subsystem_id;
    char bus_id[32];
};
static_assert(sizeof(PciInfo) == 68);

/// nvmlMemory_t
struct Memory {
    unsigned long long total;
    unsigned long long free;
    unsigned long long used;
};

/// nvmlFieldValue_t
struct FieldValue {
    unsigned field;
    unsigned scope;
    long long timestamp;
    long long latency;
    int type;
    int code;
    union {
        double as_double;
        int as_int;
        unsigned as_unsigned;
        unsigned long long as_long;
        unsigned short as_short;
    } value;
};
static_assert(sizeof(FieldValue) == 40);
constexpr unsigned field_recovery_action = 230;

/// nvmlDeviceAttributes_t
struct Attributes {
    unsigned multiprocessors;
    unsigned copy_engines;
    unsigned decoders;
    unsigned encoders;
    unsigned jpeg;
    unsigned ofa;
    unsigned gpu_slices;
    unsigned compute_slices;
    unsigned long long memory_mib;
};
static_assert(sizeof(Attributes) == 40);

/// nvmlGridLicensableFeatures_t
struct LicensableFeatures {
    int supported;
    unsigned count;
    struct Feature {
        int code;
        unsigned licensed;
        char info[128];
        char product[128];
        unsigned enabled;
        struct {
            unsigned year;
            unsigned short month;
            unsigned short day;
            unsigned short hour;
            unsigned short minute;
            unsigned short second;
            unsigned char status;
        } expiry;
    } features[3];
};
static_assert(sizeof(LicensableFeatures) == 860);

template <typename... Parameters>
bool works(void* library, const char* name, Parameters... parameters) {
    return call(library, function_not_found, name, parameters...) == 0;
}

/// "00000000:65:00.0" as the kernel writes it: "0000:65:00.0".
void say_address(const PciInfo& info) {
    const char* const dot = static_cast<const char*>(std::memchr(info.bus_id, '.', 30));
    const unsigned function = dot == nullptr ? 0 : static_cast<unsigned>(dot[1] - '0');
    say("address", "%04x:%02x:%02x.%x", info.domain, info.bus, info.device, function & 7U);
}

/// The profile of a MIG device: the end of its name, "NVIDIA H200 MIG 1g.18gb", or what its
/// attributes make.
void say_profile(void* library, Device device) {
    char name[96] = "";
    if (works(library, "nvmlDeviceGetName", device, name, unsigned{sizeof name})) {
        name[sizeof name - 1] = '\0';
        if (const char* const mig = std::strstr(name, " MIG ")) {
            say("mig-device", "%s", mig + 5);
            return;
        }
    }
    Attributes of{};
    if (!works(library, "nvmlDeviceGetAttributes_v2", device, &of)) {
        say("mig-device", "unknown");
        return;
    }
    const unsigned long long gib = (of.memory_mib + 1023) / 1024;
    if (of.compute_slices < of.gpu_slices) {
        say("mig-device", "%uc.%ug.%llugb", of.compute_slices, of.gpu_slices, gib);
    } else {
        say("mig-device", "%ug.%llugb", of.gpu_slices, gib);
    }
}

void say_mig(void* library, Device device) {
    unsigned current = 0;
    unsigned pending = 0;
    if (!works(library, "nvmlDeviceGetMigMode", device, &current, &pending)) {
        return;
    }
    say("mig", "%u", current);
    unsigned most = 0;
    if (current == 0 || !works(library, "nvmlDeviceGetMaxMigDeviceCount", device, &most)) {
        return;
    }
    for (unsigned index = 0; index < most && index < 64; ++index) {
        Device instance = nullptr;
        if (works(library, "nvmlDeviceGetMigDeviceHandleByIndex", device, index, &instance)) {
            say_profile(library, instance);
        }
    }
}

/// NVIDIA's own verdict; drivers that do not have the field say so in its code.
void say_recovery_action(void* library, Device device) {
    FieldValue field{};
    field.field = field_recovery_action;
    if (!works(library, "nvmlDeviceGetFieldValues", device, 1, &field)) {
        return;
    }
    if (field.code != 0) {
        say("failed", "nvmlDeviceGetFieldValues(230) %d", field.code);
        return;
    }
    enum : int { is_double, is_unsigned, is_ulong, is_ulonglong, is_longlong, is_int, is_ushort };
    switch (field.type) {
        case is_double:
            say("recovery-action", "%d", static_cast<int>(field.value.as_double));
            break;
        case is_unsigned:
        case is_int:
            say("recovery-action", "%d", field.value.as_int);
            break;
        case is_ushort:
            say("recovery-action", "%d", static_cast<int>(field.value.as_short));
            break;
        default:
            say("recovery-action", "%d", static_cast<int>(field.value.as_long));
            break;
    }
}

void say_memory_errors(void* library, Device device) {
    constexpr int uncorrected = 1;
    constexpr int since_load = 0;
    constexpr int ever = 1;
    unsigned long long count = 0;
    if (works(library, "nvmlDeviceGetTotalEccErrors", device, uncorrected, since_load, &count)) {
        say("uncorrected-volatile", "%llu", count);
        if (works(library, "nvmlDeviceGetTotalEccErrors", device, uncorrected, ever, &count)) {
            say("uncorrected-aggregate", "%llu", count);
        }
    }
    unsigned corrected_rows = 0;
    unsigned uncorrected_rows = 0;
    unsigned pending = 0;
    unsigned failure = 0;
    if (works(library, "nvmlDeviceGetRemappedRows", device, &corrected_rows, &uncorrected_rows,
              &pending, &failure)) {
        say("remapped-uncorrectable", "%u", uncorrected_rows);
        say("remap-pending", "%d", pending != 0 ? 1 : 0);
        say("remap-failed", "%d", failure != 0 ? 1 : 0);
    }
}

/// Guests with a virtual GPU need a licence; others have none.
void say_licence(void* library, Device device) {
    constexpr int guest = 2;
    int mode = 0;
    if (!works(library, "nvmlDeviceGetVirtualizationMode", device, &mode) || mode != guest) {
        return;
    }
    LicensableFeatures features{};
    if (!works(library, "nvmlDeviceGetGridLicensableFeatures_v4", device, &features) ||
        features.supported == 0) {
        return;
    }
    bool licensed = false;
    for (unsigned index = 0; index < features.count && index < 3; ++index) {
        licensed = licensed || features.features[index].licensed != 0;
    }
    say("licence", "%s", licensed ? "Licensed" : "Unlicensed");
}

void say_gpu(void* library, unsigned index) {
    say("gpu", "%u", index);
    Device device = nullptr;
    if (!works(library, "nvmlDeviceGetHandleByIndex_v2", index, &device)) {
        return;
    }
    PciInfo info{};
    if (works(library, "nvmlDeviceGetPciInfo_v3", device, &info)) {
        say_address(info);
    }
    char text[96] = "";
    if (works(library, "nvmlDeviceGetName", device, text, unsigned{sizeof text})) {
        say("name", "%.95s", text);
    }
    if (works(library, "nvmlDeviceGetUUID", device, text, unsigned{sizeof text})) {
        say("uuid", "%.95s", text);
    }
    say_recovery_action(library, device);
    Memory memory{};
    if (works(library, "nvmlDeviceGetMemoryInfo", device, &memory)) {
        say("memory", "%llu", memory.total);
    }
    int persistence = 0;
    if (works(library, "nvmlDeviceGetPersistenceMode", device, &persistence)) {
        say("persistence", "%d", persistence != 0 ? 1 : 0);
    }
    say_memory_errors(library, device);
    constexpr int gpu_sensor = 0;
    unsigned degrees = 0;
    if (works(library, "nvmlDeviceGetTemperature", device, gpu_sensor, &degrees)) {
        say("temperature", "%u", degrees);
    }
    say_mig(library, device);
    say_licence(library, device);
}

}  // namespace

Status nvml() {
    void* const library = load("libnvidia-ml.so.1", library_not_found);
    if (library == nullptr) {
        return no_library;
    }
    char version[80] = "";
    // It needs no initialisation, which a driver of another version refuses.
    if (works(library, "nvmlSystemGetNVMLVersion", version, unsigned{sizeof version})) {
        say("nvml-version", "%.79s", version);
    }
    if (!works(library, "nvmlInit_v2")) {
        return failed;
    }
    if (works(library, "nvmlSystemGetDriverVersion", version, unsigned{sizeof version})) {
        say("driver-version", "%.79s", version);
    }
    unsigned count = 0;
    if (!works(library, "nvmlDeviceGetCount_v2", &count)) {
        return failed;
    }
    say("gpus", "%u", count);
    constexpr unsigned most = 256;
    for (unsigned index = 0; index < count && index < most; ++index) {
        say_gpu(library, index);
    }
    return done;
}

}  // namespace edgegpu::gpu_probe
