#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <unistd.h>
#include <nlohmann/json.hpp>

#include "gpu_health/ask/containers.hpp"
#include "gpu_health/ask/probe_output.hpp"
#include "gpu_health/children/child.hpp"
#include "support/text/text.hpp"

namespace edgegpu::gpu_health {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* crio_name = "edgegpu-gpu-health";
constexpr const char* crio_label = "edgegpu.io/gpu-health";

/// crictl did not do what it should: how it ended.
struct CrictlFailure {
    ChildResult child;
};

ChildResult crictl(std::vector<std::string> words, std::chrono::milliseconds time) {
    words.insert(words.begin(), {"crictl", "--runtime-endpoint=unix:///run/crio/crio.sock",
                                 "--image-endpoint=unix:///run/crio/crio.sock"});
    return run_program(words, time);
}

/// What it printed, without the newline. Throws CrictlFailure.
std::string crictl_output(std::vector<std::string> words, Deadline deadline) {
    ChildResult child = crictl(std::move(words), left_until(deadline));
    if (child.end != ChildEnd::ended || child.status != 0) {
        // It was crictl's, and says nothing of gpu-probe.
        child.output.clear();
        throw CrictlFailure{std::move(child)};
    }
    return std::string(trim(child.output));
}

/// Removes our pods, those that a power cut left behind, too; whether there are none now.
bool remove_pods(std::chrono::milliseconds time) {
    const Deadline deadline = std::chrono::steady_clock::now() + time;
    const ChildResult list =
        crictl({"pods", "--quiet", std::string("--label=") + crio_label + "=workload"}, time);
    if (list.end != ChildEnd::ended || list.status != 0) {
        return false;
    }
    std::vector<std::string> command{"rmp", "--force"};
    for (const std::string_view pod : words_of(list.output)) {
        command.emplace_back(pod);
    }
    if (command.size() == 2) {
        return true;
    }
    const ChildResult removed = crictl(std::move(command), left_until(deadline));
    return removed.end == ChildEnd::ended && removed.status == 0;
}

/// Namespaces as CRI numbers them: NODE.
Json node_network() {
    return {{"network", 2}};
}

std::string write_json(const fs::path& path, const Json& json) {
    std::ofstream out(path);
    out << json.dump(2) << '\n';
    if (!out.flush()) {
        throw std::runtime_error(path.string() + " cannot be written");
    }
    return path.string();
}

std::string write_pod(const fs::path& work) {
    return write_json(
        work / "pod.json",
        {{"metadata",
          {{"name", crio_name},
           {"namespace", "default"},
           {"attempt", 0},
           {"uid",
            std::to_string(::getpid()) + "-" +
                std::to_string(std::chrono::system_clock::now().time_since_epoch().count())}}},
         {"labels", {{crio_label, "workload"}}},
         {"log_directory", work.string()},
         {"linux", {{"security_context", {{"namespace_options", node_network()}}}}}});
}

std::string write_container(const fs::path& work, const fs::path& copy, const std::string& image) {
    return write_json(work / "container.json",
                      {{"metadata", {{"name", "workload"}, {"attempt", 0}}},
                       {"image", {{"image", image}}},
                       {"command", {"/gpu-probe", "workload"}},
                       {"annotations", {{"cdi.k8s.io/edgegpu", "nvidia.com/gpu=all"}}},
                       {"mounts",
                        {{{"host_path", copy.string()},
                          {"container_path", "/gpu-probe"},
                          {"readonly", true},
                          {"selinux_relabel", true}}}},
                       {"log_path", "workload.log"},
                       {"linux",
                        {{"security_context",
                          {{"namespace_options", node_network()},
                           {"no_new_privs", true},
                           {"capabilities", {{"drop_capabilities", {"ALL"}}}}}}}}});
}

/// Waits for a container to end; nothing: it has not by then. Throws CrictlFailure.
std::optional<int> exit_status(const std::string& container, Deadline deadline) {
    constexpr std::chrono::milliseconds pause{250};
    while (left_until(deadline).count() > 0) {
        const Json state =
            Json::parse(crictl_output({"inspect", "--output=json", container}, deadline))
                .at("status");
        if (state.at("state") == "CONTAINER_EXITED") {
            return state.value("exitCode", 0);
        }
        std::this_thread::sleep_for(std::min(pause, left_until(deadline)));
    }
    return std::nullopt;
}

/// Runs the container as if it were a program.
ChildResult run_container(const Probe& probe, const std::string& image, Deadline deadline) {
    const auto begin = std::chrono::steady_clock::now();
    const fs::path copy = copy_probe(probe);
    const std::string pod_file = write_pod(probe.work);
    const std::string container_file = write_container(probe.work, copy, image);
    const std::string pod = crictl_output({"runp", pod_file}, deadline);
    const std::string container =
        crictl_output({"create", pod, container_file, pod_file}, deadline);
    static_cast<void>(crictl_output({"start", container}, deadline));
    const std::optional<int> status = exit_status(container, deadline);
    // What a hung one said before is worth a second of the time for its removal.
    ChildResult child = crictl({"logs", container},
                               std::max(left_until(deadline), std::chrono::milliseconds(1000)));
    child.end = status ? ChildEnd::ended : ChildEnd::hung;
    child.status = status.value_or(0);
    child.milliseconds =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    return child;
}

}  // namespace

Workload run_in_crio(const Probe& probe, const Settings& settings, Deadline deadline) {
    if (settings.workload_image.empty()) {
        throw std::runtime_error("CRI-O needs an image: workload_image is not set");
    }
    static_cast<void>(remove_pods(left_until(deadline) / 4));
    ChildResult child;
    try {
        child =
            run_container(probe, settings.workload_image, deadline - kept_for_removal(deadline));
    } catch (CrictlFailure& failure) {
        child = std::move(failure.child);
    } catch (const Json::exception&) {
        child.end = ChildEnd::ended;
        child.status = 1;
        child.errors = "crictl inspect printed what is no status";
    }
    Workload workload = read_workload(child, "crio");
    if (child.end != ChildEnd::missing && !remove_pods(left_until(deadline))) {
        workload.text += "; its pod could not be removed";
    }
    return workload;
}

}  // namespace edgegpu::gpu_health
