#include "report/diff_stack.hpp"

#include <array>
#include <map>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "resolve/gpu/devices.hpp"

namespace edgegpu {

namespace {

constexpr std::array part_names{"driver", "flavor",   "kernel",  "module",
                                "signer", "firmware", "library", "toolkit"};
enum class StackPart : std::size_t {
    driver,
    flavor,
    kernel,
    module,
    signer,
    firmware,
    library,
    toolkit
};

/// Part and name → version.
using StackParts = std::map<std::pair<StackPart, std::string>, std::string>;

/// The parts before and behind the last `separator`; without one all is before it.
std::pair<std::string_view, std::string_view> split_last(std::string_view text, char separator) {
    const std::size_t at = text.rfind(separator);
    return at == std::string_view::npos ? std::pair(text, std::string_view())
                                        : std::pair(text.substr(0, at), text.substr(at + 1));
}

bool is_toolkit_package(std::string_view nevra) {
    return nevra.starts_with("nvidia-container-") || nevra.starts_with("libnvidia-container");
}

std::string signer_text(const gpu_health::StackModule& module) {
    return module.signer.empty() || module.key_id.empty()
               ? module.signer + module.key_id
               : fmt::format("{} (key {})", module.signer, module.key_id);
}

StackParts parts_of(const gpu_health::Stack& stack) {
    StackParts parts;
    const auto add = [&](StackPart part, std::string_view name, std::string_view version) {
        if (!version.empty()) {
            std::string& all = parts[{part, std::string(name)}];
            all += fmt::format("{}{}", all.empty() ? "" : ", ", version);
        }
    };
    add(StackPart::driver, "", stack.driver);
    add(StackPart::flavor, "", stack.flavor);
    add(StackPart::kernel, "", stack.kernel);
    for (const gpu_health::StackModule& module : stack.modules) {
        add(StackPart::module, module.name, module.version.empty() ? "no version" : module.version);
        add(StackPart::signer, module.name, signer_text(module));
    }
    for (const std::string& path : stack.firmware) {
        // /usr/lib/firmware/nvidia/VERSION/NAME
        const auto [directory, name] = split_last(path, '/');
        add(StackPart::firmware, name, split_last(directory, '/').second);
    }
    for (const std::string& path : stack.libraries) {
        // /usr/lib64/libcuda.so.VERSION
        const std::string_view file = split_last(path, '/').second;
        const std::size_t end = file.find(".so.");
        if (end != std::string_view::npos) {
            constexpr std::size_t suffix = 3;  // ".so"
            add(StackPart::library, file.substr(0, end + suffix), file.substr(end + suffix + 1));
        }
    }
    for (const std::string& nevra : stack.packages) {
        if (is_toolkit_package(nevra)) {
            // NAME-[EPOCH:]VERSION-RELEASE.ARCH
            const auto [package, architecture] = split_last(nevra, '.');
            const auto [front, release] = split_last(package, '-');
            const auto [name, version] = split_last(front, '-');
            add(StackPart::toolkit, fmt::format("{}.{}", name, architecture),
                fmt::format("{}-{}", version, release));
        }
    }
    return parts;
}

/// The stack of a commit, empty if it has no GPU software; else nothing, and `why` it is not known.
std::optional<gpu_health::Stack> stack_of(const CommitInfo& commit, std::string& why) {
    if (commit.gpu_stack.empty()) {
        if (commit.driver.empty() && !commit.inputs_digest.empty()) {
            return gpu_health::Stack();
        }
        why = fmt::format("commit {} has no edgegpu.gpu-stack in its metadata{}", commit.checksum,
                          commit.inputs_digest.empty() ? "" : ": an earlier edgegpu built it");
        return std::nullopt;
    }
    try {
        return gpu_health::read_stack(commit.gpu_stack);
    } catch (const std::runtime_error& failure) {
        why = fmt::format("edgegpu.gpu-stack in the metadata of commit {} cannot be read: {}",
                          commit.checksum, failure.what());
        return std::nullopt;
    }
}

}  // namespace

std::vector<StackChange> compare_stacks(const gpu_health::Stack& before,
                                        const gpu_health::Stack& after) {
    std::map<StackParts::key_type, std::pair<std::string, std::string>> all;
    for (auto& [part, version] : parts_of(before)) {
        all[part].first = version;
    }
    for (auto& [part, version] : parts_of(after)) {
        all[part].second = version;
    }
    std::vector<StackChange> changes;
    for (const auto& [part, versions] : all) {
        if (versions.first != versions.second) {
            changes.push_back({part_names.at(static_cast<std::size_t>(part.first)), part.second,
                               versions.first, versions.second});
        }
    }
    return changes;
}

std::vector<StackChange> compare_gpu_stacks(const CommitInfo& before, const CommitInfo& after,
                                            std::vector<Unknown>& unknown) {
    const auto has_gpu = [](const CommitInfo& commit) {
        return !commit.gpu_stack.empty() || !commit.driver.empty();
    };
    if (!has_gpu(before) && !has_gpu(after)) {
        return {};
    }
    std::array<std::string, 2> why;
    const std::optional<gpu_health::Stack> old_stack = stack_of(before, why[0]);
    const std::optional<gpu_health::Stack> new_stack = stack_of(after, why[1]);
    if (old_stack && new_stack) {
        return compare_stacks(*old_stack, *new_stack);
    }
    unknown.push_back(
        {"GPU stack", fmt::format("{}{}{}", why[0], !old_stack && !new_stack ? "; " : "", why[1])});
    return {};
}

std::string driver_branches(const CommitInfo& before, const CommitInfo& after) {
    const unsigned old_branch = branch_of(before.driver);
    const unsigned new_branch = branch_of(after.driver);
    return old_branch == 0 || new_branch == 0 || old_branch == new_branch
               ? std::string()
               : fmt::format("{} -> {}", old_branch, new_branch);
}

}  // namespace edgegpu
