/// vectorAdd by the CUDA driver API alone: the driver compiles the PTX below, so that neither
/// building nor running it needs a CUDA toolkit.

#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include "gpu_health/probe/lines.hpp"

namespace edgegpu::gpu_probe {

namespace {

/// CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND, also for a library that is not there.
constexpr int library_missing = 302;
constexpr int function_missing = 302;
constexpr unsigned elements = 50000;
constexpr unsigned block = 256;

using Pointer = unsigned long long;  // CUdeviceptr

/// The versions that it is tried with, until the driver takes one: the first is for drivers since
/// 384 and all GPUs since Kepler; the second, should a driver no longer take that.
struct Dialect {
    const char* version;
    const char* target;
};
constexpr Dialect dialects[] = {{"6.0", "sm_30"}, {"6.3", "sm_75"}, {"8.0", "sm_90"}};

constexpr const char* kernel = R"(
.address_size 64
.visible .entry vectorAdd(
    .param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)
{
    .reg .pred %p<2>;
    .reg .f32 %f<4>;
    .reg .b32 %r<6>;
    .reg .b64 %d<11>;
    ld.param.u64 %d1, [a];
    ld.param.u64 %d2, [b];
    ld.param.u64 %d3, [c];
    ld.param.u32 %r2, [n];
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %ctaid.x;
    mov.u32 %r5, %tid.x;
    mad.lo.s32 %r1, %r4, %r3, %r5;
    setp.ge.u32 %p1, %r1, %r2;
    @%p1 bra DONE;
    cvta.to.global.u64 %d4, %d1;
    mul.wide.u32 %d5, %r1, 4;
    add.s64 %d6, %d4, %d5;
    cvta.to.global.u64 %d7, %d2;
    add.s64 %d8, %d7, %d5;
    ld.global.f32 %f1, [%d8];
    ld.global.f32 %f2, [%d6];
    add.f32 %f3, %f2, %f1;
    cvta.to.global.u64 %d9, %d3;
    add.s64 %d10, %d9, %d5;
    st.global.f32 [%d10], %f3;
DONE:
    ret;
}
)";

float left[elements];
float right[elements];
float sums[elements];

template <typename... Parameters>
bool works(void* library, const char* name, Parameters... parameters) {
    say("call", "%s", name);
    const auto function = reinterpret_cast<int (*)(Parameters...)>(find(library, name));
    const int code = function == nullptr ? function_missing : function(parameters...);
    if (code == 0) {
        return true;
    }
    const char* text = nullptr;
    const auto describe =
        reinterpret_cast<int (*)(int, const char**)>(find(library, "cuGetErrorString"));
    if (function == nullptr) {
        text = "the library does not have it";
    } else if (describe == nullptr || describe(code, &text) != 0 || text == nullptr) {
        text = "unknown error";
    }
    say("failed", "%s %d %s", name, code, text);
    return false;
}

/// Small whole numbers, whose sums are exact.
void fill() {
    for (unsigned index = 0; index < elements; ++index) {
        left[index] = static_cast<float>(index % 8191);
        right[index] = static_cast<float>((index * 7U) % 4093);
        sums[index] = -1;
    }
}

/// The module in the first dialect that the driver takes.
bool load_module(void* library, void** module) {
    constexpr int invalid_ptx = 218;
    constexpr int unsupported_ptx = 222;
    constexpr int no_binary = 209;
    static char text[4096];
    const auto function =
        reinterpret_cast<int (*)(void**, const char*)>(find(library, "cuModuleLoadData"));
    for (const Dialect& dialect : dialects) {
        std::snprintf(text, sizeof text, ".version %s\n.target %s\n%s", dialect.version,
                      dialect.target, kernel);
        say("call", "cuModuleLoadData");
        const int code = function == nullptr ? function_missing : function(module, text);
        if (code == 0) {
            return true;
        }
        if (code != invalid_ptx && code != unsupported_ptx && code != no_binary) {
            break;
        }
    }
    // Once more, for the line that says why; the first dialect is the one that should work.
    std::snprintf(text, sizeof text, ".version %s\n.target %s\n%s", dialects[0].version,
                  dialects[0].target, kernel);
    return works(library, "cuModuleLoadData", module, static_cast<const char*>(text));
}

bool add(void* library, void* module) {
    constexpr std::size_t bytes = sizeof sums;
    void* function = nullptr;
    Pointer a = 0;
    Pointer b = 0;
    Pointer c = 0;
    if (!works(library, "cuModuleGetFunction", &function, module, "vectorAdd") ||
        !works(library, "cuMemAlloc_v2", &a, bytes) ||
        !works(library, "cuMemAlloc_v2", &b, bytes) ||
        !works(library, "cuMemAlloc_v2", &c, bytes) ||
        !works(library, "cuMemcpyHtoD_v2", a, static_cast<const void*>(left), bytes) ||
        !works(library, "cuMemcpyHtoD_v2", b, static_cast<const void*>(right), bytes)) {
        return false;
    }
    unsigned count = elements;
    void* parameters[] = {&a, &b, &c, &count};
    return works(library, "cuLaunchKernel", function, (elements + block - 1) / block, 1U, 1U, block,
                 1U, 1U, 0U, static_cast<void*>(nullptr), static_cast<void**>(parameters),
                 static_cast<void**>(nullptr)) &&
           works(library, "cuCtxSynchronize") &&
           works(library, "cuMemcpyDtoH_v2", static_cast<void*>(sums), c, bytes);
}

Status check() {
    for (unsigned index = 0; index < elements; ++index) {
        const float expected = left[index] + right[index];
        if (sums[index] != expected) {
            say("wrong", "element %u is %g instead of %g", index, static_cast<double>(sums[index]),
                static_cast<double>(expected));
            return wrong_result;
        }
    }
    say("passed", "%u", elements);
    return done;
}

/// vectorAdd on one GPU. Its context goes with the process, or with its release, whatever failed.
Status try_gpu(void* library, int index) {
    say("gpu", "%d", index);
    int device = 0;
    char text[96] = "";
    if (!works(library, "cuDeviceGet", &device, index)) {
        return failed;
    }
    if (works(library, "cuDeviceGetPCIBusId", static_cast<char*>(text), int{sizeof text}, device)) {
        say("address", "%.95s", text);
    }
    if (works(library, "cuDeviceGetName", static_cast<char*>(text), int{sizeof text}, device)) {
        say("name", "%.95s", text);
    }
    void* context = nullptr;
    if (!works(library, "cuDevicePrimaryCtxRetain", &context, device)) {
        return failed;
    }
    fill();
    void* module = nullptr;
    const bool added = works(library, "cuCtxSetCurrent", context) &&
                       load_module(library, &module) && add(library, module);
    const Status status = added ? check() : failed;
    static_cast<void>(works(library, "cuDevicePrimaryCtxRelease_v2", device));
    return status;
}

}  // namespace

Status workload() {
    // All GPUs, whoever runs this; and nothing is written into a home directory.
    ::unsetenv("CUDA_VISIBLE_DEVICES");
    ::setenv("CUDA_CACHE_DISABLE", "1", 1);
    void* const library = load("libcuda.so.1", library_missing);
    if (library == nullptr) {
        return no_library;
    }
    int count = 0;
    if (!works(library, "cuInit", 0U) || !works(library, "cuDeviceGetCount", &count)) {
        return failed;
    }
    say("gpus", "%d", count);
    Status worst = count > 0 ? done : failed;
    for (int index = 0; index < count && index < 256; ++index) {
        const Status status = try_gpu(library, index);
        if (worst == done || status == wrong_result) {
            worst = status == done ? worst : status;
        }
    }
    return worst;
}

}  // namespace edgegpu::gpu_probe
