#include "gpu_health/probe/lines.hpp"

#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstring>

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

// glibc 2.34 moved these from libdl to libc, under a new version.
#if defined(__x86_64__) && defined(__GLIBC__)
__asm__(".symver dlopen,dlopen@GLIBC_2.2.5");
__asm__(".symver dlsym,dlsym@GLIBC_2.2.5");
__asm__(".symver dlerror,dlerror@GLIBC_2.2.5");
#endif

namespace edgegpu::gpu_probe {

namespace {

int output = STDOUT_FILENO;

}  // namespace

void keep_output() {
    const int kept = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (kept >= 0 && ::dup2(STDERR_FILENO, STDOUT_FILENO) >= 0) {
        output = kept;
    }
}

void say(const char* key, const char* format, ...) {
    constexpr std::size_t longest = 500;
    char line[longest + 100];
    const auto begin = static_cast<std::size_t>(std::snprintf(line, 64, "%s=", key));
    std::va_list values;
    va_start(values, format);
    std::vsnprintf(line + begin, longest, format, values);
    va_end(values);
    std::size_t length = std::strlen(line);
    for (std::size_t at = begin; at < length; ++at) {
        if (static_cast<unsigned char>(line[at]) < ' ' || line[at] == 0x7f) {
            line[at] = '?';
        }
    }
    line[length++] = '\n';
    for (std::size_t at = 0; at < length;) {
        const ssize_t put = ::write(output, line + at, length - at);
        if (put > 0) {
            at += static_cast<std::size_t>(put);
        } else if (errno != EINTR) {
            return;
        }
    }
}

void* load(const char* name, int code) {
    say("call", "dlopen");
    void* const library = ::dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    if (library == nullptr) {
        const char* const why = ::dlerror();
        say("failed", "dlopen %d %s", code, why == nullptr ? name : why);
    }
    return library;
}

void* find(void* library, const char* name) {
    return ::dlsym(library, name);
}

}  // namespace edgegpu::gpu_probe
