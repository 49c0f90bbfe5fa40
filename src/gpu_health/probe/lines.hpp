#pragma once

/// gpu-probe: a program of its own, because NVIDIA's libraries need the device's C library and may
/// hang or crash. It uses no C++ library, so that it runs on every device (glibc 2.17 or newer).
///
/// It prints lines KEY=VALUE, each as soon as it is known, so that what was said before a call hung
/// is not lost. `call=FUNCTION` comes before each call, `failed=FUNCTION CODE TEXT` after one that
/// failed. What follows `gpu=INDEX` is about that GPU; `end=STATUS` is the last line.
/// gpu_health/ask/probe_output.hpp reads them.
namespace edgegpu::gpu_probe {

/// Exit statuses.
enum Status : int {
    done = 0,
    /// a function failed
    failed = 1,
    usage = 2,
    /// the GPU computed something wrong
    wrong_result = 3,
    /// the library cannot be loaded
    no_library = 4
};

/// Keeps standard output for say(): what NVIDIA's libraries print goes to standard error.
void keep_output();

/// Writes one line. Control characters of the value become '?'; it ends after 500 bytes.
[[gnu::format(printf, 2, 3)]] void say(const char* key, const char* format, ...);

/// Loads a library; says why and returns a null pointer if it cannot be. `code` goes into that
/// line.
void* load(const char* name, int code);

/// The function of that name, or a null pointer.
void* find(void* library, const char* name);

/// Calls a function that returns 0 for success; `missing` is the result if the library has none.
template <typename... Parameters>
int call(void* library, int missing, const char* name, Parameters... parameters) {
    say("call", "%s", name);
    const auto function = reinterpret_cast<int (*)(Parameters...)>(find(library, name));
    const int code = function == nullptr ? missing : function(parameters...);
    if (code != 0) {
        say("failed", "%s %d", name, code);
    }
    return code;
}

/// `gpu-probe nvml`: what NVML says about each GPU.
Status nvml();

/// `gpu-probe workload`: vectorAdd on each GPU.
Status workload();

}  // namespace edgegpu::gpu_probe
