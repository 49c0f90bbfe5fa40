#include "gpu_health/program/memory_file.hpp"

#include <algorithm>
#include <exception>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

#include "gpu_health/program/files.hpp"

namespace edgegpu::gpu_health {

namespace fs = std::filesystem;

namespace {

using Json = nlohmann::json;

constexpr std::string_view memory_format = "edgegpu-gpu-health-memory/1";
constexpr std::size_t remembered_commits = 32;
constexpr std::size_t memory_limit = std::size_t{1} << 20U;

fs::path memory_path(const fs::path& directory) {
    return directory / "commits.json";
}

/// The smallest serial that is kept.
std::uint64_t oldest_kept(const Memory& memory) {
    std::vector<std::uint64_t> serials;
    for (const auto& [commit, record] : memory.commits) {
        serials.push_back(record.serial);
    }
    if (serials.size() <= remembered_commits) {
        return 0;
    }
    std::sort(serials.rbegin(), serials.rend());
    return serials[remembered_commits - 1];
}

}  // namespace

std::string memory_json(const Memory& memory) {
    const std::uint64_t oldest = oldest_kept(memory);
    Json commits = Json::object();
    for (const auto& [commit, record] : memory.commits) {
        if (record.serial >= oldest) {
            commits[commit] = {
                {"healthy", record.healthy}, {"fault", record.fault}, {"serial", record.serial}};
        }
    }
    const Json document{{"format", memory_format}, {"commits", std::move(commits)}};
    return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Memory read_memory(std::string_view json) {
    try {
        const Json document = Json::parse(json);
        if (document.at("format").get<std::string>() != memory_format) {
            throw std::runtime_error("its format is another one");
        }
        Memory memory;
        for (const auto& [commit, value] : document.at("commits").items()) {
            // get<uint64_t> would take -1 as the largest number.
            if (!value.at("serial").is_number_unsigned()) {
                throw std::runtime_error("a serial is no number");
            }
            memory.commits[commit] = {value.at("healthy").get<bool>(),
                                      value.at("fault").get<std::string>(),
                                      value.at("serial").get<std::uint64_t>()};
        }
        return memory;
    } catch (const Json::exception& problem) {
        throw std::runtime_error(problem.what());
    }
}

Memory load_memory(const fs::path& directory, Notes& notes) {
    try {
        const auto text = read_whole(memory_path(directory), memory_limit);
        return text ? read_memory(*text) : Memory();
    } catch (const std::exception& problem) {
        notes.push_back(
            memory_path(directory).string() +
            " is damaged, what happened with earlier commits is forgotten: " + problem.what());
        return {};
    }
}

bool store_memory(const fs::path& directory, const Memory& memory, Notes& notes) {
    try {
        write_whole(memory_path(directory), memory_json(memory));
        return true;
    } catch (const std::exception& problem) {
        notes.push_back(memory_path(directory).string() +
                        " cannot be written, this boot is not remembered: " + problem.what());
        return false;
    }
}

}  // namespace edgegpu::gpu_health
