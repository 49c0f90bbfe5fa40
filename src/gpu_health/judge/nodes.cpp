#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "gpu_health/judge/examination.hpp"
#include "support/text/text.hpp"

namespace edgegpu::gpu_health {

namespace {

constexpr unsigned owner_read_write = 0600;

/// The type of an SELinux context: "system_u:object_r:xserver_misc_device_t:s0".
std::string_view type_of(std::string_view label) {
    const std::vector<std::string_view> parts = split(label, ':');
    return parts.size() > 2 ? parts[2] : std::string_view{};
}

/// Types of nodes that nobody labelled: no domain of a container may use them.
bool is_unlabelled(std::string_view type) {
    constexpr std::array types{"device_t", "unlabeled_t", "default_t", "file_t", "tmpfs_t"};
    return std::ranges::find(types, type) != types.end();
}

void judge_access(Examination& examination, const DeviceNode& node) {
    constexpr std::string_view rules =
        "Look at the image's udev rules, tmpfiles and modprobe options";
    if ((node.mode & owner_read_write) != owner_read_write) {
        report(examination, Step::nodes, Verdict::image, "node-mode", {},
               fmt::format("{} has the mode {:04o}", node.path, node.mode), std::string(rules));
    } else if (node.open_error == "Permission denied" ||
               node.open_error == "Operation not permitted") {
        report(examination, Step::nodes, Verdict::image, "node-permission", {},
               node.path + " cannot be opened: " + node.open_error,
               "Look at its mode, its SELinux label and the device cgroup");
    } else if (!node.open_error.empty() && node.open_error != "-") {
        Found& found = report(examination, Step::nodes, Verdict::unclear, "node-open", {},
                              node.path + " cannot be opened: " + node.open_error,
                              "Look at what the kernel says");
        found.consequence = true;
    }
    if (examination.facts.selinux && is_unlabelled(type_of(node.label))) {
        report(examination, Step::nodes, Verdict::image, "node-label", {},
               node.path + " has the SELinux label " + node.label,
               "Label it at boot (restorecon): the policy has xserver_misc_device_t for it");
    }
}

/// Whether a node that is not there is missed. NVML and CUDA have nvidia-modprobe make their nodes
/// when they begin, so that only what did not work tells; NVML does not need those of nvidia-uvm.
bool is_missed(const Facts& facts, const DeviceNode& node) {
    if (!node.path.ends_with("/nvidia-uvm") && !node.path.ends_with("/nvidia-uvm-tools")) {
        return !all_answer_nvml(facts);
    }
    return std::ranges::any_of(facts.workloads, [](const Workload& run) {
        return run.end == ChildEnd::ended && run.passed == 0;
    });
}

/// NVML came further than it does without the nodes, which it had made: it hung in the driver, or
/// the driver told of a fault of a card.
bool had_nodes_made(const Examination& examination) {
    const Nvml& nvml = examination.facts.nvml;
    const auto is_of_card = [&](int code) {
        const auto row = examination.tables.nvml.find(code);
        return row != examination.tables.nvml.end() && row->second.verdict == "hardware";
    };
    return nvml.end == ChildEnd::hung ||
           (nvml.end == ChildEnd::ended &&
            (is_of_card(nvml.code) || std::ranges::any_of(nvml.gpus, [&](const NvmlGpu& gpu) {
                 return is_of_card(gpu.code);
             })));
}

/// Whether NVML was asked: what gpu-health cannot do says nothing of nodes that NVML makes.
bool has_answer(const Nvml& nvml) {
    return nvml.end == ChildEnd::ended || nvml.end == ChildEnd::hung;
}

void judge_node(Examination& examination, const DeviceNode& node) {
    if (!node.exists) {
        if (is_missed(examination.facts, node)) {
            Found& found = report(examination, Step::nodes, Verdict::image, "node-missing", {},
                                  node.path + " is not there",
                                  "Put nvidia-modprobe and its udev rules into the image");
            found.consequence = !examination.facts.driver.loaded || had_nodes_made(examination);
            if (examination.facts.driver.loaded && !has_answer(examination.facts.nvml)) {
                found.consequence = true;
                found.finding.verdict = Verdict::unclear;
            }
        }
        return;
    }
    const auto is_wrong = [](int expected, unsigned has) {
        return expected >= 0 && static_cast<unsigned>(expected) != has;
    };
    if (!node.is_character_device || is_wrong(node.expected_major, node.major) ||
        is_wrong(node.expected_minor, node.minor)) {
        report(examination, Step::nodes, Verdict::image, "node-number", {},
               node.is_character_device
                   ? fmt::format("{} has the number {}:{}, the driver's is {}:{}", node.path,
                                 node.major, node.minor, node.expected_major, node.expected_minor)
                   : node.path + " is no character device",
               "Do not keep nodes in the image: nvidia-modprobe makes them at boot");
        return;
    }
    judge_access(examination, node);
}

/// Whether the image is to have a library: what gpu-stack.json names, or else what is asked for.
bool is_wanted(const Facts& facts, const Settings& settings, std::string_view name) {
    const bool is_cuda = name.starts_with("libcuda");
    if (!facts.stack || facts.stack->libraries.empty()) {
        return !is_cuda || !settings.workload.empty();
    }
    const std::string base = std::string(name.substr(0, name.find(".so"))) + ".so";
    return std::ranges::any_of(facts.stack->libraries, [&](const std::string& path) {
        return path.substr(path.rfind('/') + 1).starts_with(base);
    });
}

}  // namespace

void judge_nodes(Examination& examination) {
    if (!is_known(examination.facts, Step::nodes)) {
        return;
    }
    for (const DeviceNode& node : examination.facts.nodes) {
        judge_node(examination, node);
    }
}

void judge_library(Examination& examination) {
    const Facts& facts = examination.facts;
    if (!is_known(facts, Step::library)) {
        return;
    }
    const std::string version =
        facts.driver.version.empty() ? wanted_version(facts) : facts.driver.version;
    for (const Library& library : facts.libraries) {
        if (library.path.empty()) {
            if (is_wanted(facts, examination.settings, library.name)) {
                report(examination, Step::library, Verdict::image, "library-missing", {},
                       library.name + " is not there", "Put the driver's libraries into the image");
            }
        } else if (!version.empty() && !library.version.empty() && library.version != version) {
            report(
                examination, Step::library, Verdict::image, "library-version", {},
                library.path + " is of version " + library.version + ", the driver is " + version,
                "Build the image with one version of modules and libraries");
        }
    }
}

}  // namespace edgegpu::gpu_health
