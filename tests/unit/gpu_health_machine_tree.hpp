#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

#include "gpu_health/observe/observe.hpp"

namespace edgegpu::test {

/// A directory that stands in for a machine: root, sys, proc, dev and kmsg in it.
class MachineTree {
public:
    MachineTree() {
        std::string pattern = std::filesystem::temp_directory_path() / "gpu-health-XXXXXX";
        if (::mkdtemp(pattern.data()) == nullptr) {
            throw std::runtime_error("no temporary directory");
        }
        top_ = pattern;
        for (const char* name : {"root", "sys/bus/pci/devices", "proc", "dev"}) {
            std::filesystem::create_directories(top_ / name);
        }
    }
    ~MachineTree() {
        std::error_code ignored;
        std::filesystem::remove_all(top_, ignored);
    }
    MachineTree(const MachineTree&) = delete;
    MachineTree& operator=(const MachineTree&) = delete;

    /// A path in the tree: "root/etc/x", "sys/module/nvidia/version".
    [[nodiscard]] std::filesystem::path at(const std::string& name) const {
        std::filesystem::create_directories((top_ / name).parent_path());
        return top_ / name;
    }
    void write(const std::string& name, const std::string& content) const {
        std::ofstream(at(name), std::ios::binary) << content;
    }
    void directory(const std::string& name) const {
        std::filesystem::create_directories(top_ / name);
    }
    void link(const std::string& name, const std::string& target) const {
        std::filesystem::create_symlink(target, at(name));
    }
    [[nodiscard]] gpu_health::Places places() const {
        return {top_ / "root", top_ / "sys", top_ / "proc", top_ / "dev", top_ / "kmsg"};
    }
    /// The facts after this step.
    [[nodiscard]] gpu_health::Facts observed(gpu_health::Step step,
                                             gpu_health::Facts facts = {}) const {
        gpu_health::observe(step, places(), {}, facts);
        return facts;
    }

    /// A file of tests/data/gpu_health.
    [[nodiscard]] static std::string data(const std::string& name) {
        const std::filesystem::path path =
            std::filesystem::path(EDGEGPU_SOURCE_DIR) / "tests/data/gpu_health" / name;
        std::ifstream file(path, std::ios::binary);
        if (!file) {
            throw std::runtime_error("it is not there: " + path.native());
        }
        std::ostringstream content;
        content << file.rdbuf();
        return content.str();
    }

private:
    std::filesystem::path top_;
};

}  // namespace edgegpu::test
