/// Runs vectorAdd as gpu-health does, for integration/gpu_probe_test:
///
///     gpu_workload HOW GPU-PROBE DIRECTORY SECONDS [IMAGE]
///
/// prints lines NAME=VALUE: end, status, function, code, passed, text, seconds.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <iostream>
#include <string_view>

#include "gpu_health/ask/ask.hpp"

int main(int argc, char** argv) {
    using namespace edgegpu::gpu_health;
    if (argc != 5 && argc != 6) {
        std::cerr << "usage: gpu_workload HOW GPU-PROBE DIRECTORY SECONDS [IMAGE]\n";
        return 2;
    }
    Settings settings;
    settings.deadlines["workload"] = static_cast<unsigned>(std::atoi(argv[4]));
    settings.workload_image = argc == 6 ? argv[5] : "";
    const auto begin = std::chrono::steady_clock::now();
    const Workload workload = run_workload(argv[1], {argv[2], argv[3]}, settings, {});
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    constexpr std::array<std::string_view, 5> ends{"not-run", "ended", "crashed", "hung",
                                                   "missing"};
    std::cout << "end=" << ends.at(static_cast<std::size_t>(workload.end))
              << "\nstatus=" << workload.status << "\nfunction=" << workload.function
              << "\ncode=" << workload.code << "\npassed=" << workload.passed
              << "\ntext=" << workload.text << "\nseconds=" << time.count() << '\n';
}
