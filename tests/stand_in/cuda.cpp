/// What stands in for NVIDIA's libcuda.so.1 on machines without a GPU: the functions of the driver
/// API that gpu-probe calls, on the processor's memory. It behaves as the words in STAND_IN_CUDA or
/// /etc/stand-in-cuda say (behaviour.hpp); values: gpus; wrong=N: element N of a sum is wrong;
/// ptx=VERSION: it takes PTX of that version alone.

#include <cstddef>
#include <cstdint>

#include "stand_in/behaviour.hpp"

namespace {

stand_in::Words told("STAND_IN_CUDA", "/etc/stand-in-cuda");

int begin(const char* function) {
    return stand_in::begin(told, function);
}

int current = 0;

}  // namespace

extern "C" {

int cuInit(unsigned) {
    return begin("cuInit");
}

int cuDeviceGetCount(int* count) {
    *count = static_cast<int>(told.number("gpus", 1));
    return begin("cuDeviceGetCount");
}

int cuDeviceGet(int* device, int index) {
    *device = index;
    return begin("cuDeviceGet");
}

int cuDeviceGetName(char* name, int length, int) {
    std::snprintf(name, static_cast<std::size_t>(length), "NVIDIA Stand-in");
    return begin("cuDeviceGetName");
}

int cuDeviceGetPCIBusId(char* address, int length, int device) {
    std::snprintf(address, static_cast<std::size_t>(length), "0000:%02X:00.0", 0x65 + device);
    return begin("cuDeviceGetPCIBusId");
}

int cuGetErrorString(int code, const char** text) {
    *text = code == 100   ? "no CUDA-capable device is detected"
            : code == 719 ? "unspecified launch failure"
            : code == 218 ? "a PTX JIT compilation failed"
                          : nullptr;
    return *text == nullptr ? 1 : 0;
}

int cuDevicePrimaryCtxRetain(void** context, int device) {
    *context = &current;
    current = device;
    return stand_in::begin(told, "cuDevicePrimaryCtxRetain", static_cast<unsigned>(device));
}

int cuDevicePrimaryCtxRelease_v2(int) {
    return begin("cuDevicePrimaryCtxRelease_v2");
}

int cuCtxSetCurrent(void*) {
    return begin("cuCtxSetCurrent");
}

int cuCtxSynchronize() {
    return begin("cuCtxSynchronize");
}

int cuModuleLoadData(void** module, const void* image) {
    constexpr int invalid_ptx = 218;
    const char* const text = static_cast<const char*>(image);
    char version[20];
    char start[60];
    std::snprintf(start, sizeof start, ".version %s\n.target sm_",
                  told.value("ptx", "6.0", version, sizeof version));
    *module = &current;
    if (std::strstr(text, start) == nullptr ||
        std::strstr(text, ".visible .entry vectorAdd(") == nullptr) {
        return invalid_ptx;
    }
    return begin("cuModuleLoadData");
}

int cuModuleGetFunction(void** function, void* module, const char* name) {
    constexpr int not_found = 500;
    *function = module;
    const int code = begin("cuModuleGetFunction");
    return code != 0 ? code : std::strcmp(name, "vectorAdd") == 0 ? 0 : not_found;
}

int cuMemAlloc_v2(unsigned long long* pointer, std::size_t bytes) {
    *pointer = reinterpret_cast<std::uintptr_t>(std::malloc(bytes));
    return begin("cuMemAlloc_v2");
}

int cuMemcpyHtoD_v2(unsigned long long to, const void* from, std::size_t bytes) {
    std::memcpy(stand_in::pointer<void*>(to), from, bytes);
    return begin("cuMemcpyHtoD_v2");
}

int cuMemcpyDtoH_v2(void* to, unsigned long long from, std::size_t bytes) {
    std::memcpy(to, stand_in::pointer<const void*>(from), bytes);
    return begin("cuMemcpyDtoH_v2");
}

int cuLaunchKernel(void*, unsigned grid, unsigned, unsigned, unsigned block, unsigned, unsigned,
                   unsigned, void*, void** parameters, void**) {
    const auto array = [parameters](int index) {
        return stand_in::pointer<float*>(*static_cast<std::uintptr_t*>(parameters[index]));
    };
    const unsigned count = *static_cast<unsigned*>(parameters[3]);
    const unsigned long long wrong = told.number("wrong", ~0ULL);
    for (unsigned index = 0; index < count && index < grid * block; ++index) {
        array(2)[index] = array(0)[index] + array(1)[index] + (index == wrong ? 1.0F : 0.0F);
    }
    return begin("cuLaunchKernel");
}

}  // extern "C"
