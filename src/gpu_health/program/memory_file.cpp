#include "gpu_health/program/memory_file.hpp"

#include <exception>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "gpu_health/program/files.hpp"

namespace edgegpu::gpu_health {

namespace fs = std::filesystem;

namespace {

using Json = nlohmann::json;

constexpr std::string_view memory_format = "edgegpu-gpu-health-memory/1";
constexpr std::uint64_t largest_serial = std::uint64_t{1} << 53U;
constexpr std::size_t memory_limit = std::size_t{1} << 20U;

fs::path memory_path(const fs::path& directory) {
    return directory / "commits.json";
}

}  // namespace

std::string memory_json(const Memory& memory) {
    Json commits = Json::object();
    for (const auto& [commit, record] : memory.commits) {
        commits[commit] = {{"healthy", record.healthy},
                           {"fault", record.fault},
                           {"serial", record.serial},
                           {"red", record.red}};
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
            // The one after the largest number would be the oldest.
            if (value.at("serial").get<std::uint64_t>() > largest_serial) {
                throw std::runtime_error("a serial is larger than any number of boots");
            }
            memory.commits[commit] = {
                value.at("healthy").get<bool>(), value.at("fault").get<std::string>(),
                value.at("serial").get<std::uint64_t>(), value.value("red", false)};
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
