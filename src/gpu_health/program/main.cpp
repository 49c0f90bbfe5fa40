#include "gpu_health/program/check.hpp"

int main(int argc, char** argv) {
    return edgegpu::gpu_health::run_gpu_health(
        argc > 0 ? std::vector<std::string>(argv + 1, argv + argc) : std::vector<std::string>());
}
