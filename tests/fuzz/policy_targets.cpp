#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "blueprint/sources/cil_check.hpp"
#include "blueprint/sources/policy_source.hpp"
#include "fuzz/targets.hpp"
#include "selinux/labels/file_contexts.hpp"
#include "selinux/policy/cil.hpp"
#include "selinux/policy/policy_data.hpp"
#include "selinux/policy/policydb.hpp"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EDGEGPU_ADDRESS_SANITIZER
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define EDGEGPU_ADDRESS_SANITIZER
#endif

#ifdef EDGEGPU_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>

/// A limit of memory is no finding: allocations fail, as they do without the sanitizer.
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming): the sanitizer's name
extern "C" const char* __asan_default_options() {
    return "allocator_may_return_null=1";
}
#endif

namespace edgegpu::fuzz {

namespace {

/// In a child process with limits: the sanitizer needs memory itself, and where there is none left
/// it ends the process without having found anything. That is an exhausted limit like others.
void expect_limits() {
#ifdef EDGEGPU_ADDRESS_SANITIZER
    __sanitizer_set_death_callback([] {
        if (__asan_report_present() == 0) {
            ::signal(SIGXCPU, SIG_DFL);
            ::raise(SIGXCPU);
        }
    });
#endif
}

void set_limit(decltype(RLIMIT_AS) resource, rlim_t most) {
    const rlimit limit{most, most};
    ::setrlimit(resource, &limit);
}

/// Address space of this process, in bytes.
rlim_t address_space() {
    rlim_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    return pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
}

/// Whether a child process, a copy of this one, reads it with the limits that edgegpu's has, but
/// within 2 seconds. A crash is a finding.
bool reads_within_limits(std::string_view data) {
    constexpr int refused = 40;
    const pid_t child = ::fork();
    if (child == 0) {
        expect_limits();
        set_limit(RLIMIT_CPU, 2);
        set_limit(RLIMIT_AS, address_space() + selinux::policy_limits(data.size()).memory);
        try {
            static_cast<void>(selinux::parse_policy(std::string(data), "policy.33"));
            ::_exit(0);
        } catch (...) {
            ::_exit(refused);
        }
    }
    int status = 0;
    while (child < 0 || (::waitpid(child, &status, 0) < 0 && errno == EINTR)) {
        if (child < 0) {
            std::abort();
        }
    }
    const bool limited = WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU;
    const bool ended =
        WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == refused);
    if (!limited && !ended) {
        std::abort();
    }
    return ended && WEXITSTATUS(status) == 0;
}

}  // namespace

void read_binary_policy(std::string_view data) {
    if (!reads_within_limits(data)) {
        return;
    }
    // Here, where the fuzzer sees what is reached; and all that is asked of a policy.
    const selinux::PolicyDb policy(selinux::parse_policy(std::string(data), "policy.33"));
    static_cast<void>(policy.rule_lines());
    static_cast<void>(policy.grants("container_t", "xserver_misc_device_t", "chr_file", "read"));
}

void read_cil_text(std::string_view data) {
    read_or_refuse([&] { check_cil(data, "x.cil"); });
    read_or_refuse([&] {
        selinux::read_cil(data, "x.cil",
                          [](const selinux::CilNode& statement,
                             const std::vector<selinux::CilCondition>& conditions) {
                              static_cast<void>(selinux::conditions_text(conditions));
                              for (const selinux::CilCondition& condition : conditions) {
                                  static_cast<void>(selinux::evaluate(condition.expression, {"a"}));
                              }
                              for (const selinux::CilNode& item : statement.items) {
                                  static_cast<void>(selinux::contains_any(item, {"read"}));
                              }
                          });
    });
}

void read_file_contexts_text(std::string_view data) {
    read_or_refuse([&] {
        for (const auto& line : read_file_contexts(data, "x.fc")) {
            static_cast<void>(line.text(true));
        }
    });
    static_cast<void>(find_policy_macro(data));
    static_cast<void>(find_context_macro(data));
    const auto path = scratch_file("file_contexts", data);
    read_or_refuse([&] {
        const selinux::FileContexts contexts(path);
        for (const char* file : {"/", "/usr/bin/bash", "/dev/nvidia0", "/etc/a b\n"}) {
            read_or_refuse([&] { static_cast<void>(contexts.look_up(file, EntryType::file)); });
        }
    });
}

}  // namespace edgegpu::fuzz
