#pragma once

#include <optional>
#include <string_view>

namespace edgegpu {

/// How many processors this process may use, at least 1: those that it may be scheduled on
/// (taskset, cpusets), and no more than its control group has time for (`--cpus` of container
/// engines). A build in a container with two of 64 processors would otherwise start 64 workers,
/// whose memory nobody has.
[[nodiscard]] unsigned available_processors();

/// Processors of a control group's cpu.max ("200000 100000": microseconds of each period), rounded
/// up; nothing for "max", and for what is not such a file.
[[nodiscard]] std::optional<unsigned> processors_of_quota(std::string_view cpu_max);

}  // namespace edgegpu
