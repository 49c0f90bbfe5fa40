#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands/commands.hpp"
#include "gpu/gpus.hpp"
#include "support/error.hpp"

namespace edgegpu {

namespace {

/// docs/schemas/gpus.json
std::string json_document(const GpuTable& table, const std::vector<Gpu>& gpus) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const Gpu& gpu : gpus) {
        nlohmann::ordered_json entry = {
            {"id", gpu.id()}, {"name", gpu.name}, {"modules", text_of(gpu.modules)}};
        entry["first_branch"] = gpu.first_branch == 0 ? nlohmann::ordered_json()
                                                      : nlohmann::ordered_json(gpu.first_branch);
        entry["last_branch"] = gpu.last_branch == 0 ? nlohmann::ordered_json()
                                                    : nlohmann::ordered_json(gpu.last_branch);
        list.push_back(std::move(entry));
    }
    const nlohmann::ordered_json document = {{"format", "edgegpu-gpus/1"},
                                             {"known_to_driver", table.driver},
                                             {"sources", table.sources},
                                             {"gpus", list}};
    return document.dump(2) + '\n';
}

std::string text_table(const std::vector<Gpu>& gpus) {
    constexpr const char* row = "{:<11}{:<15}{:<13}{}\n";
    std::string text = fmt::format(row, "PCI ID", "BRANCHES", "MODULES", "NAME");
    for (const Gpu& gpu : gpus) {
        text += fmt::format(row, gpu.id(), gpu.branches(), text_of(gpu.modules), gpu.name);
    }
    return text;
}

}  // namespace

int run_gpus(const GlobalOptions& global, const std::string& wanted) {
    const GpuTable table = shipped_gpus();
    const std::vector<Gpu> found = match_gpus(table, wanted);
    if (found.empty()) {
        throw error("{} does not have '{}'", table.called, wanted)
            .hinted(
                "a PCI id as lspci -d 10de: -n shows it (10de:20b7), or part of a name; GPUs of "
                "Jetson modules are not PCI devices, and have drivers of their own");
    }
    print_result(global.json ? json_document(table, found) : text_table(found));
    return 0;
}

}  // namespace edgegpu
