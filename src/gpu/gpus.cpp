#include "gpu/gpus.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/error.hpp"
#include "support/text/enum_names.hpp"
#include "support/text/number.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

struct TableRow {
    std::uint16_t device;
    std::uint16_t first_branch;
    std::uint16_t last_branch;
    GpuModules modules;
    const char* name;
};

#include "gpu/gpu_table.inc"

/// The last branch with kernel modules for GPUs that the open ones do not support.
constexpr unsigned last_proprietary_branch = 580;

std::optional<std::uint16_t> device_number(std::string_view text, std::string_view prefix) {
    if (!text.starts_with(prefix) || text.size() != prefix.size() + 4) {
        return std::nullopt;
    }
    return whole_number<std::uint16_t>(text.substr(prefix.size()), 16);
}

/// Reads an element of `chips`; throws nlohmann's exceptions for a wrong structure.
Gpu read_row(const nlohmann::json& chip) {
    Gpu gpu;
    const std::string device = lower_case(chip.at("devid").get<std::string>());
    const std::optional<std::uint16_t> number = device_number(device, "0x");
    if (!number) {
        throw error(ErrorKind::fetch, "'{}' is not a device id", device);
    }
    gpu.device = *number;
    gpu.name = chip.at("name").get<std::string>();
    const auto features = chip.at("features").get<std::set<std::string>>();
    if (const auto legacy = chip.find("legacybranch"); legacy != chip.end()) {
        const auto branch = legacy->get<std::string>();
        gpu.last_branch = leading_number<unsigned>(branch);
        gpu.first_branch = gpu.last_branch;
        gpu.modules = GpuModules::proprietary;
    } else if (!features.contains("kernelopen")) {
        gpu.last_branch = last_proprietary_branch;
        gpu.modules = GpuModules::proprietary;
    } else if (!features.contains("gsp_proprietary_supported")) {
        gpu.modules = GpuModules::open;
    }
    return gpu;
}

void merge(Gpu& known, const Gpu& row) {
    if (known.modules != row.modules || known.last_branch != row.last_branch) {
        known.modules = GpuModules::unclear;
        known.first_branch = 0;
        known.last_branch = 0;
    }
    if ((" / " + known.name + " / ").find(" / " + row.name + " / ") == std::string::npos) {
        known.name += " / " + row.name;
    }
}

}  // namespace

std::string Gpu::id() const {
    return fmt::format("10de:{:04x}", device);
}

std::string Gpu::text() const {
    return fmt::format("{} ({})", name, id());
}

std::string Gpu::branches() const {
    if (last_branch == 0) {
        return first_branch == 0 ? "any" : fmt::format("{} and later", first_branch);
    }
    if (first_branch == last_branch) {
        return fmt::format("{} only", last_branch);
    }
    return first_branch == 0 ? fmt::format("up to {}", last_branch)
                             : fmt::format("{} to {}", first_branch, last_branch);
}

const Gpu* GpuTable::find(const std::string& pci_id) const {
    const std::optional<std::uint16_t> device = device_number(lower_case(pci_id), "10de:");
    const auto found = std::ranges::lower_bound(gpus, device.value_or(0), {}, &Gpu::device);
    return device && found != gpus.end() && found->device == *device ? &*found : nullptr;
}

GpuTable shipped_gpus() {
    GpuTable table;
    table.called = fmt::format("edgegpu's GPU table (of drivers up to {})", table_driver);
    table.driver = table_driver;
    table.sources.assign(table_sources.begin(), table_sources.end());
    table.gpus.reserve(table_rows.size());
    for (const TableRow& row : table_rows) {
        table.gpus.push_back({row.device, row.first_branch, row.last_branch, row.modules, row.name,
                              std::ranges::binary_search(left_out, row.device)});
    }
    return table;
}

GpuTable read_supported_gpus(const std::string& json, const std::string& driver,
                             const std::string& origin) {
    std::map<std::uint16_t, Gpu> devices;
    try {
        const nlohmann::json document = nlohmann::json::parse(json);
        for (const nlohmann::json& chip : document.at("chips")) {
            const Gpu row = read_row(chip);
            const auto [known, is_new] = devices.emplace(row.device, row);
            if (!is_new) {
                merge(known->second, row);
            }
        }
    } catch (const nlohmann::json::exception& problem) {
        throw error(ErrorKind::fetch, "{}: not a list of supported GPUs: {}", origin,
                    problem.what());
    } catch (const Error& problem) {
        throw error(ErrorKind::fetch, "{}: not a list of supported GPUs: {}", origin,
                    problem.message());
    }
    GpuTable table;
    table.called = origin;
    table.driver = driver;
    for (auto& entry : devices) {
        table.gpus.push_back(std::move(entry.second));
    }
    return table;
}

std::vector<Gpu> match_gpus(const GpuTable& table, const std::string& wanted) {
    const std::string text = lower_case(wanted);
    for (const std::string& id : {text, "10de:" + text}) {
        if (const Gpu* gpu = table.find(id); gpu != nullptr) {
            return {*gpu};
        }
    }
    std::vector<Gpu> found;
    std::ranges::copy_if(table.gpus, std::back_inserter(found), [&](const Gpu& gpu) {
        return lower_case(gpu.name).find(text) != std::string::npos;
    });
    return found;
}

std::string text_of(GpuModules modules) {
    return std::string(nth_name(modules, {"either", "open", "proprietary", "unclear"}));
}

}  // namespace edgegpu
