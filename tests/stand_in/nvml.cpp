/// What stands in for NVIDIA's libnvidia-ml.so.1 on machines without a GPU: the functions that
/// gpu-probe calls, with the structures of nvml.h. It behaves as the words in STAND_IN_NVML or
/// /etc/stand-in-nvml say (behaviour.hpp); values: gpus, address (of the first), driver, memory,
/// mig-devices, recovery, volatile, aggregate, uncorrectable, pending, failure, persistence, mig,
/// mode, licensed.
/// FUNCTION:INDEX=HOW is about one GPU. With STAND_IN_OLD it is a library without what came after
/// driver 418.

#include <cstdint>

#include "stand_in/behaviour.hpp"

namespace {

constexpr int success = 0;
constexpr int not_supported = 3;
[[maybe_unused]] constexpr int not_found = 6;

stand_in::Words told("STAND_IN_NVML", "/etc/stand-in-nvml");

unsigned long long number(const char* name, unsigned long long otherwise) {
    return told.number(name, otherwise);
}

/// Devices are numbers; instances of MIG are their GPU's plus 1000 times their own.
unsigned gpu_of(void* device) {
    return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(device) % 1000) - 1;
}

int begin(const char* function) {
    return stand_in::begin(told, function);
}

int begin(const char* function, unsigned index) {
    return stand_in::begin(told, function, index);
}

int begin(const char* function, void* device) {
    return begin(function, gpu_of(device));
}

int copy(const char* text, char* to, unsigned length) {
    constexpr int insufficient_size = 7;
    const std::size_t size = std::strlen(text) + 1;
    if (size > length) {
        return insufficient_size;
    }
    std::memcpy(to, text, size);
    return success;
}

/// The driver's version, after a beginning.
int copy_version(const char* start, char* to, unsigned length) {
    char driver[60];
    char text[80];
    std::snprintf(text, sizeof text, "%s%s", start,
                  told.value("driver", "580.95.05", driver, sizeof driver));
    return copy(text, to, length);
}

}  // namespace

extern "C" {

struct nvmlPciInfo_t {
    char busIdLegacy[16];
    unsigned domain, bus, device, pciDeviceId, pciSubSystemId;
    char busId[32];
};
struct nvmlMemory_t {
    unsigned long long total, free, used;
};
struct nvmlFieldValue_t {
    unsigned fieldId, scopeId;
    long long timestamp, latencyUsec;
    int valueType, nvmlReturn;
    union {
        double dVal;
        unsigned uiVal;
        unsigned long long ullVal;
    } value;
};
struct nvmlDeviceAttributes_t {
    unsigned counts[8];
    unsigned long long memorySizeMB;
};
struct nvmlGridLicensableFeatures_t {
    int isGridLicenseSupported;
    unsigned licensableFeaturesCount;
    struct {
        int featureCode;
        unsigned featureState;
        char licenseInfo[128];
        char productName[128];
        unsigned featureEnabled;
        unsigned expiry[4];
    } gridLicensableFeatures[3];
};
static_assert(sizeof(nvmlPciInfo_t) == 68 && sizeof(nvmlFieldValue_t) == 40 &&
              sizeof(nvmlDeviceAttributes_t) == 40 && sizeof(nvmlGridLicensableFeatures_t) == 860);

int nvmlInit_v2() {
    return begin("nvmlInit_v2");
}

int nvmlSystemGetNVMLVersion(char* version, unsigned length) {
    const int code = begin("nvmlSystemGetNVMLVersion");
    return code != 0 ? code : copy_version("13.", version, length);
}

int nvmlSystemGetDriverVersion(char* version, unsigned length) {
    const int code = begin("nvmlSystemGetDriverVersion");
    return code != 0 ? code : copy_version("", version, length);
}

int nvmlDeviceGetCount_v2(unsigned* count) {
    *count = static_cast<unsigned>(number("gpus", 1));
    return begin("nvmlDeviceGetCount_v2");
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
    *device = stand_in::pointer<void*>(std::uintptr_t{index} + 1);
    return begin("nvmlDeviceGetHandleByIndex_v2", index);
}

int nvmlDeviceGetPciInfo_v3(void* device, nvmlPciInfo_t* info) {
    *info = {};
    info->bus = 0x65;
    unsigned function = 0;
    char address[40];
    std::sscanf(told.value("address", "0000:65:00.0", address, sizeof address), "%x:%x:%x.%x",
                &info->domain, &info->bus, &info->device, &function);
    info->bus += gpu_of(device);
    info->pciDeviceId = 0x233510de;
    std::snprintf(info->busId, sizeof info->busId, "%08X:%02X:%02X.%X", info->domain, info->bus,
                  info->device, function & 7U);
    return begin("nvmlDeviceGetPciInfo_v3", device);
}

int nvmlDeviceGetName(void* device, char* name, unsigned length) {
    const auto instance = reinterpret_cast<std::uintptr_t>(device) / 1000;
    const int code = begin("nvmlDeviceGetName", device);
    return code != 0 ? code
                     : copy(instance != 0 ? "NVIDIA Stand-in MIG 1g.18gb" : "NVIDIA Stand-in", name,
                            length);
}

int nvmlDeviceGetUUID(void* device, char* uuid, unsigned length) {
    const int code = begin("nvmlDeviceGetUUID", device);
    char text[60];
    std::snprintf(text, sizeof text, "GPU-00000000-0000-0000-0000-%012u", gpu_of(device));
    return code != 0 ? code : copy(text, uuid, length);
}

int nvmlDeviceGetMemoryInfo(void* device, nvmlMemory_t* memory) {
    *memory = {number("memory", 150754820096), 1, 1};
    return begin("nvmlDeviceGetMemoryInfo", device);
}

int nvmlDeviceGetPersistenceMode(void* device, int* mode) {
    *mode = static_cast<int>(number("persistence", 1));
    return begin("nvmlDeviceGetPersistenceMode", device);
}

int nvmlDeviceGetTotalEccErrors(void* device, int type, int counter, unsigned long long* count) {
    *count = type != 1 ? 7777 : number(counter == 0 ? "volatile" : "aggregate", 0);
    return begin("nvmlDeviceGetTotalEccErrors", device);
}

int nvmlDeviceGetTemperature(void* device, int sensor, unsigned* degrees) {
    *degrees = sensor == 0 ? 41 : 0;
    return begin("nvmlDeviceGetTemperature", device);
}

int nvmlDeviceGetFieldValues(void* device, int count, nvmlFieldValue_t* values) {
    for (int index = 0; index < count; ++index) {
        const bool known = values[index].fieldId == 230;
        values[index].nvmlReturn = known ? success : not_supported;
        values[index].valueType = 1;
        values[index].value.ullVal = 0x5a5a5a5a5a5a5a5a;
        values[index].value.uiVal = static_cast<unsigned>(number("recovery", 0));
    }
    return begin("nvmlDeviceGetFieldValues", device);
}

int nvmlDeviceGetVirtualizationMode(void* device, int* mode) {
    *mode = static_cast<int>(number("mode", 0));
    return begin("nvmlDeviceGetVirtualizationMode", device);
}

int nvmlDeviceGetGridLicensableFeatures_v4(void* device, nvmlGridLicensableFeatures_t* features) {
    *features = {};
    features->isGridLicenseSupported = 1;
    features->licensableFeaturesCount = 2;
    features->gridLicensableFeatures[1].featureState = static_cast<unsigned>(number("licensed", 0));
    return begin("nvmlDeviceGetGridLicensableFeatures_v4", device);
}

#ifndef STAND_IN_OLD
int nvmlDeviceGetRemappedRows(void* device, unsigned* corrected, unsigned* uncorrected,
                              unsigned* pending, unsigned* failure) {
    *corrected = 99;
    *uncorrected = static_cast<unsigned>(number("uncorrectable", 0));
    *pending = static_cast<unsigned>(number("pending", 0));
    *failure = static_cast<unsigned>(number("failure", 0));
    return begin("nvmlDeviceGetRemappedRows", device);
}

int nvmlDeviceGetMigMode(void* device, unsigned* current, unsigned* pending) {
    *current = *pending = static_cast<unsigned>(number("mig", 0));
    return begin("nvmlDeviceGetMigMode", device);
}

int nvmlDeviceGetMaxMigDeviceCount(void* device, unsigned* count) {
    *count = 7;
    return begin("nvmlDeviceGetMaxMigDeviceCount", device);
}

int nvmlDeviceGetMigDeviceHandleByIndex(void* device, unsigned index, void** instance) {
    *instance = static_cast<char*>(device) + std::size_t{1000} * (index + 1);
    const int code = begin("nvmlDeviceGetMigDeviceHandleByIndex", device);
    // Indices are not contiguous.
    return code != 0                                                ? code
           : index % 2 == 0 && index / 2 < number("mig-devices", 0) ? 0
                                                                    : not_found;
}

int nvmlDeviceGetAttributes_v2(void* device, nvmlDeviceAttributes_t* attributes) {
    *attributes = {{16, 0, 0, 0, 0, 0, 2, 1}, 18000};
    return begin("nvmlDeviceGetAttributes_v2", device);
}
#endif

}  // extern "C"
