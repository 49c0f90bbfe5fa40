#include "execution/processors.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include <sched.h>

#include "support/text/number.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

namespace fs = std::filesystem;

unsigned schedulable() {
    // As the kernel refuses a set that is too small, one for machines of any size.
    std::array<cpu_set_t, 16> set{};
    if (::sched_getaffinity(0, sizeof set, set.data()) != 0) {
        return std::thread::hardware_concurrency();
    }
    return static_cast<unsigned>(CPU_COUNT_S(sizeof set, set.data()));
}

/// The first line of a file of the kernel; empty if it cannot be read.
std::string first_line(const fs::path& file) {
    std::ifstream stream(file);
    std::string line;
    std::getline(stream, line);
    return line;
}

/// The smallest quota of this process's control group (version 2) and those that contain it.
std::optional<unsigned> smallest_quota() {
    constexpr std::string_view unified = "0::/";
    const fs::path top = "/sys/fs/cgroup";
    const std::string group = first_line("/proc/self/cgroup");
    if (!group.starts_with(unified)) {
        return std::nullopt;
    }
    std::optional<unsigned> smallest;
    fs::path inner = fs::path(group.substr(unified.size())).lexically_normal();
    for (;;) {
        const std::optional<unsigned> quota =
            processors_of_quota(first_line(top / inner / "cpu.max"));
        if (quota && (!smallest || *quota < *smallest)) {
            smallest = quota;
        }
        if (!inner.has_relative_path()) {
            return smallest;
        }
        inner = inner.parent_path();
    }
}

}  // namespace

unsigned available_processors() {
    const unsigned scheduled = std::max(1U, schedulable());
    return std::min(scheduled, smallest_quota().value_or(scheduled));
}

std::optional<unsigned> processors_of_quota(std::string_view cpu_max) {
    const std::string_view line = trim(cpu_max);
    const std::size_t space = std::min(line.find(' '), line.size() - 1);
    const auto time = whole_number<std::uint64_t>(line.substr(0, space));
    const auto period = whole_number<std::uint64_t>(line.substr(space + 1));
    if (!time || period.value_or(0) == 0) {
        return std::nullopt;
    }
    const std::uint64_t whole = *time / *period + (*time % *period == 0 ? 0 : 1);
    return static_cast<unsigned>(std::clamp<std::uint64_t>(whole, 1, 1U << 16U));
}

}  // namespace edgegpu
