#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "gpu_health/ask/containers.hpp"
#include "gpu_health/ask/probe_output.hpp"
#include "gpu_health/children/child.hpp"

namespace edgegpu::gpu_health {

namespace {

namespace fs = std::filesystem;

/// One at a time, so that one that a power cut left behind is replaced.
constexpr const char* podman_name = "edgegpu-gpu-health";

/// A root directory with nothing but where the device's own /usr is to be.
fs::path make_root(const fs::path& work) {
    fs::path top = work / "root";
    for (const char* const name : {"usr", "etc", "proc", "sys", "dev", "tmp", "run", "var"}) {
        fs::create_directories(top / name);
    }
    for (const char* const name : {"bin", "sbin", "lib", "lib32", "lib64"}) {
        std::error_code failed;
        const fs::path target = fs::read_symlink(fs::path("/") / name, failed);
        if (!failed && !fs::is_symlink(fs::symlink_status(top / name))) {
            fs::create_symlink(target, top / name);
        }
    }
    return top;
}

std::vector<std::string> run_command(const fs::path& copy, const fs::path& work,
                                     const std::string& image, std::chrono::milliseconds time) {
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(time).count();
    std::vector<std::string> command{
        "podman", "run", "--rm", "--replace", std::string("--name=") + podman_name,
        // podman's own limit, should this process be gone by then.
        "--timeout=" + std::to_string(seconds), "--pull=never", "--network=none",
        "--log-driver=none", "--cap-drop=all", "--security-opt=no-new-privileges",
        "--device=nvidia.com/gpu=all"};
    if (image.empty()) {
        // Files of /usr have labels that containers may not read. CDI's hooks write into /usr and
        // /etc, thus overlays, which end with the container.
        command.insert(command.end(), {"--security-opt=label=disable", "--volume=/usr:/usr:O",
                                       "--volume=" + copy.string() + ":/gpu-probe:ro", "--rootfs",
                                       make_root(work).string() + ":O", "/gpu-probe", "workload"});
    } else {
        command.insert(command.end(), {"--volume=" + copy.string() + ":/gpu-probe:ro,z",
                                       "--entrypoint=/gpu-probe", image, "workload"});
    }
    return command;
}

}  // namespace

std::chrono::milliseconds left_until(Deadline deadline) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    return std::max(left, std::chrono::milliseconds(0));
}

std::chrono::milliseconds kept_for_removal(Deadline deadline) {
    constexpr std::chrono::milliseconds most{10000};
    return std::min(left_until(deadline) / 4, most);
}

fs::path copy_probe(const Probe& probe) {
    fs::create_directories(probe.work);
    fs::path copy = probe.work / "gpu-probe";
    fs::copy_file(probe.path, copy, fs::copy_options::overwrite_existing);
    fs::permissions(copy, fs::perms(0755));
    return copy;
}

Workload run_in_podman(const Probe& probe, const Settings& settings, Deadline deadline) {
    const std::string& image = settings.workload_image;
    if (!image.empty() && image.front() == '-') {
        throw std::runtime_error("workload_image is no name of an image");
    }
    const std::chrono::milliseconds time = left_until(deadline) - kept_for_removal(deadline);
    const ChildResult child =
        run_program(run_command(copy_probe(probe), probe.work, image, time), time);
    Workload workload = read_workload(child, "podman");
    if (child.end == ChildEnd::hung || child.end == ChildEnd::crashed) {
        const ChildResult removed = run_program(
            {"podman", "rm", "--force", "--ignore", "--time=0", podman_name}, left_until(deadline));
        if (removed.end != ChildEnd::ended || removed.status != 0) {
            workload.text += "; its container could not be removed";
        }
    }
    return workload;
}

}  // namespace edgegpu::gpu_health
