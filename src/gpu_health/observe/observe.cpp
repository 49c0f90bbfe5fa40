#include "gpu_health/observe/observe.hpp"

#include <cerrno>
#include <stdexcept>

#include "gpu_health/observe/steps.hpp"
#include "gpu_health/observe/tree.hpp"
#include "support/text/text.hpp"

namespace edgegpu::gpu_health {

namespace {

constexpr std::size_t largest_stack = std::size_t{16} << 20U;

/// The booted deployment's checksum: the kernel's argument ostree=/ostree/boot.1/debian/SUM/0 is a
/// link to ../../../deploy/debian/deploy/COMMIT.0 (ostree-prepare-root(1)). Empty: no ostree, as in
/// a container on such a system, which sees the argument alone.
std::string booted_commit(const Places& places) {
    constexpr std::string_view argument = "ostree=";
    const std::string line = read_line(places.proc, "cmdline");
    for (const std::string_view word : words_of(line)) {
        if (!word.starts_with(argument)) {
            continue;
        }
        const std::string link(word.substr(argument.size()));
        // /ostree is a link to sysroot/ostree, which an image may lack.
        for (const std::string_view top : {"", "/sysroot"}) {
            const std::string name = link_name(places.root, std::string(top) + link);
            std::string commit = name.substr(0, name.find('.'));
            if (is_sha256(commit)) {
                return commit;
            }
        }
    }
    return {};
}

/// A virtual machine of x86: the hypervisor says so in the processor's flags.
bool is_virtual_machine(const Places& places) {
    const Reading reading = read_start(places.proc, "cpuinfo", small_file);
    for (const std::string_view line : lines_of(reading.content)) {
        if (line.starts_with("flags")) {
            return (std::string(line) + ' ').find(" hypervisor ") != std::string::npos;
        }
    }
    return false;
}

}  // namespace

void observe_machine(const Places& places, Facts& facts) {
    facts.commit = booted_commit(places);
    facts.boot_id = read_line(places.proc, "sys/kernel/random/boot_id");
    facts.kernel = read_line(places.proc, "sys/kernel/osrelease");
    facts.virtual_machine = is_virtual_machine(places);
    const Reading stack = read_file(places.root, "usr/lib/edgegpu/gpu-stack.json", largest_stack);
    if (stack.error == ENOENT || stack.error == ENOTDIR) {
        return;
    }
    try {
        if (!stack.good()) {
            throw std::runtime_error(stack.why());
        }
        facts.stack = read_stack(stack.content);
    } catch (const std::runtime_error& error) {
        facts.stack_error = error.what();
    }
}

void observe(Step step, const Places& places, const Settings& /*settings*/, Facts& facts) {
    switch (step) {
        case Step::presence:
            return observe_presence(places, facts);
        case Step::binding:
            return observe_binding(places, facts);
        case Step::module:
            observe_module(places, facts);
            return observe_trust(places, facts);
        case Step::version:
            return observe_version(places, facts);
        case Step::firmware:
            return observe_firmware(places, facts);
        case Step::kernel_log:
            return observe_kernel_log(places, facts);
        case Step::nodes:
            return observe_nodes(places, facts);
        case Step::library:
            return observe_library(places, facts);
        case Step::cdi:
            return observe_cdi(places, facts);
        case Step::nvml:
        case Step::condition:
        case Step::workload:
            return;
    }
}

}  // namespace edgegpu::gpu_health
