/// gpu-probe nvml | workload: see gpu_health/probe/lines.hpp.

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "gpu_health/probe/lines.hpp"

#if defined(__x86_64__) && defined(__GLIBC__)
// The start files of glibc 2.34 and newer need that version on the device, too. There are no
// constructors or destructors, which older versions would have to be given here.
__asm__(
    ".symver __libc_start_main,__libc_start_main@GLIBC_2.2.5\n"
    ".text\n"
    ".globl _start\n"
    ".type _start, @function\n"
    "_start:\n"
    "    xor %ebp, %ebp\n"
    "    mov %rdx, %r9\n"   // rtld_fini
    "    pop %rsi\n"        // argc
    "    mov %rsp, %rdx\n"  // argv
    "    and $-16, %rsp\n"
    "    push %rax\n"
    "    push %rsp\n"       // stack_end
    "    xor %r8d, %r8d\n"  // fini
    "    xor %ecx, %ecx\n"  // init
    "    lea main(%rip), %rdi\n"
    "    call *__libc_start_main@GOTPCREL(%rip)\n"
    "    hlt\n");
#endif

int main(int argc, char** argv) {
    using namespace edgegpu::gpu_probe;
    const char* const command = argc == 2 ? argv[1] : "";
    const bool nvml_asked = std::strcmp(command, "nvml") == 0;
    if (!nvml_asked && std::strcmp(command, "workload") != 0) {
        std::fputs("usage: gpu-probe nvml | workload\n", stderr);
        return usage;
    }
    keep_output();
    say("gpu-probe", "1");
    const Status status = nvml_asked ? nvml() : workload();
    say("end", "%d", static_cast<int>(status));
    // Destructors of NVIDIA's libraries wait for threads of theirs, and everything has been said.
    std::_Exit(status);
}
