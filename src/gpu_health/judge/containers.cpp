#include <algorithm>
#include <array>

#include "gpu_health/judge/examination.hpp"
#include "support/text/number.hpp"

namespace edgegpu::gpu_health {

namespace {

/// What a code of the CUDA driver API (CUresult) says about the machine; others are unclear.
struct CudaCode {
    int code;
    Verdict verdict;
    std::string_view meaning;
    std::string_view action;
};

/// Exit status of gpu-probe: the GPU calculated, and wrongly.
constexpr int wrong_sums = 3;

constexpr std::string_view one_driver = "Build the image with one version of modules and libraries";
constexpr std::array cuda_codes{
    CudaCode{34, Verdict::image, "libcuda is a stub", "Put the driver's libcuda into the image"},
    CudaCode{35, Verdict::image, "the driver is too old", one_driver},
    CudaCode{46, Verdict::unclear, "the GPU is busy or in exclusive mode",
             "Look at the compute mode and at other processes"},
    CudaCode{100, Verdict::unclear, "no GPU was found", "Look at the steps before"},
    CudaCode{214, Verdict::hardware, "an uncorrected memory error", "Reset the GPU"},
    CudaCode{220, Verdict::hardware, "an uncorrected NVLink error", "Reset the GPU"},
    CudaCode{221, Verdict::image, "the library that compiles PTX is missing", one_driver},
    CudaCode{302, Verdict::image, "a library is missing", one_driver},
    CudaCode{303, Verdict::image, "a library could not be initialised", one_driver},
    CudaCode{802, Verdict::unclear, "the system is not ready",
             "Look at nvidia-fabricmanager: it has to run, with the driver's version"},
    CudaCode{803, Verdict::image, "module and libcuda do not fit", one_driver},
    CudaCode{804, Verdict::image, "this libcuda does not support the GPU", one_driver},
    CudaCode{999, Verdict::unclear, "an unknown error",
             "Look at nvidia-uvm: loaded, and /dev/nvidia-uvm there"}};

bool is_nvidia(const CdiSpec& spec) {
    return spec.kind.starts_with("nvidia.com/") ||
           spec.kind.starts_with("management.nvidia.com/") ||
           (spec.kind.empty() && spec.path.find("nvidia") != std::string::npos);
}

/// Nodes of GPUs: a specification that names one of a dead card follows from the card.
bool are_gpu_nodes(const std::vector<std::string>& paths) {
    return std::ranges::all_of(paths, [](const std::string& path) {
        return path.starts_with("/dev/nvidia") || path.starts_with("/dev/dri/");
    });
}

/// The same, and one is of a card that the driver does not have: it was there when the
/// specification was made.
bool are_nodes_of_others(const Facts& facts, const std::vector<std::string>& paths) {
    const auto is_of_other = [&](std::string_view path) {
        constexpr std::string_view begin = "/dev/nvidia";
        const auto minor =
            path.starts_with(begin) ? whole_number<int>(path.substr(begin.size())) : std::nullopt;
        return minor && std::ranges::none_of(facts.proc_gpus, [&](const ProcGpu& gpu) {
                   return gpu.minor == *minor;
               });
    };
    return !facts.proc_gpus.empty() && std::ranges::any_of(paths, is_of_other) &&
           std::ranges::all_of(paths, [&](const std::string& path) {
               return is_of_other(path) || path.starts_with("/dev/dri/");
           });
}

bool has_hardware_finding(const Examination& examination) {
    return std::ranges::any_of(examination.found, [](const Found& found) {
        return !found.finding.note && found.finding.verdict == Verdict::hardware;
    });
}

void judge_spec(Examination& examination, const CdiSpec& spec) {
    const std::string again = "Generate it at boot: nvidia-ctk cdi generate, to /run/cdi";
    if (!spec.error.empty()) {
        report(examination, Step::cdi, Verdict::image, "cdi-unreadable", {},
               spec.path + " is no CDI specification: " + spec.error, again);
        return;
    }
    if (!spec.missing.empty()) {
        const bool consequence = are_gpu_nodes(spec.missing) && has_hardware_finding(examination);
        Found& found = report(examination, Step::cdi, Verdict::image, "cdi-path-missing", {},
                              spec.path + " names " + listed(spec.missing) + ", not there", again);
        found.consequence = consequence;
        if (are_nodes_of_others(examination.facts, spec.missing)) {
            found.finding.verdict = Verdict::machine;
            found.finding.text += ": of a GPU that this machine does not have";
        }
    }
    const std::string& driver = examination.facts.driver.version;
    const bool is_other = !driver.empty() && !spec.versions.empty() &&
                          std::ranges::find(spec.versions, driver) == spec.versions.end();
    if (is_other) {
        report(examination, Step::cdi, Verdict::image, "cdi-version", {},
               spec.path + " is for driver " + listed(spec.versions) + ", " + driver + " runs",
               again);
    }
    if (spec.devices.empty()) {
        Found& found = report(examination, Step::cdi, Verdict::image, "cdi-no-devices", {},
                              spec.path + " has no devices", again);
        found.consequence = true;
    }
}

/// Words of container engines for a specification that does not fit.
bool blames_cdi(std::string_view text) {
    constexpr std::array pieces{"unresolvable CDI devices", "CDI device injection failed",
                                "failed to inject devices", "failed to stat CDI host device"};
    return std::ranges::any_of(
        pieces, [&](std::string_view piece) { return text.find(piece) != std::string_view::npos; });
}

/// Words for an image that is not there: that says nothing about the GPU.
bool lacks_container_image(std::string_view text) {
    constexpr std::array pieces{"manifest unknown",    "image not known", "no such image",
                                "initializing source", "pulling image",   "ImagePullBackOff",
                                "short-name"};
    return std::ranges::any_of(
        pieces, [&](std::string_view piece) { return text.find(piece) != std::string_view::npos; });
}

void judge_failed_run(Examination& examination, const Workload& workload) {
    const std::string name = "vectorAdd (" + workload.how + ")";
    if (workload.code != 0) {
        const auto known = std::ranges::find_if(
            cuda_codes, [&](const CudaCode& one) { return one.code == workload.code; });
        const bool is_known_code = known != cuda_codes.end();
        report(examination, Step::workload, is_known_code ? known->verdict : Verdict::unclear,
               "cuda-" + std::to_string(workload.code), {},
               name + ": " + workload.function + " gives " + std::to_string(workload.code) +
                   (is_known_code ? ": " + std::string(known->meaning) : ""),
               is_known_code ? std::string(known->action) : "Compare with the commit before");
    } else if (workload.status == wrong_sums) {
        report(examination, Step::workload, Verdict::hardware, "wrong-sums", {},
               name + ": " + workload.text,
               "Take the GPU out of use and test it: its results cannot be trusted");
    } else if (blames_cdi(workload.text)) {
        report(examination, Step::workload, Verdict::image, "cdi-unresolvable", {},
               name + ": " + workload.text, "Generate the CDI specification at boot");
    } else if (lacks_container_image(workload.text)) {
        report_note(examination, Step::workload, "workload-image-missing", {},
                    name + " could not start: " + workload.text,
                    "Embed the container image, or leave this way of the workload out");
    } else {
        report(
            examination, Step::workload, Verdict::unclear, "workload-" + workload.how, {},
            name + " failed with status " + std::to_string(workload.status) + ": " + workload.text,
            "Compare with the commit before");
    }
}

void judge_run(Examination& examination, const Workload& workload) {
    const std::string name = "vectorAdd (" + workload.how + ")";
    switch (workload.end) {
        case ChildEnd::not_run:
            break;
        case ChildEnd::hung:
            report(examination, Step::workload, Verdict::unclear, "workload-hung", {},
                   name + " did not end within " +
                       std::to_string(examination.settings.deadline(Step::workload)) + " seconds",
                   "Compare with the commit before");
            break;
        case ChildEnd::crashed:
            report(examination, Step::workload, Verdict::unclear, "workload-crashed", {},
                   name + " crashed: " + workload.text, "Compare with the commit before");
            break;
        case ChildEnd::missing:
            report_note(examination, Step::workload, "workload-missing", {},
                        name + " cannot be run: " + workload.text, "Build the image anew");
            break;
        case ChildEnd::ended:
            if (workload.status != 0 || workload.code != 0) {
                judge_failed_run(examination, workload);
            }
            break;
    }
}

}  // namespace

void judge_cdi(Examination& examination) {
    const Facts& facts = examination.facts;
    if (!is_known(facts, Step::cdi)) {
        return;
    }
    bool has_spec = false;
    for (const CdiSpec& spec : facts.cdi.specs) {
        if (is_nvidia(spec)) {
            has_spec = true;
            judge_spec(examination, spec);
        }
    }
    if (facts.cdi.toolkit && !has_spec && facts.cdi.hooks.empty()) {
        const std::vector<std::string>& ways = examination.settings.workload;
        const bool needed =
            std::ranges::any_of(ways, [](const std::string& how) { return how != "direct"; });
        Found& found = report(examination, Step::cdi, Verdict::image, "cdi-missing", {},
                              "there is no CDI specification for the GPUs",
                              "Enable nvidia-cdi-refresh in the image");
        // The runtime of older toolkits needs none.
        found.finding.note = !needed;
    }
}

void judge_workload(Examination& examination) {
    const Facts& facts = examination.facts;
    const auto run = facts.runs.find(std::string(name_of(Step::workload)));
    if (run == facts.runs.end() || !run->second.error.empty()) {
        return;
    }
    for (const Workload& workload : facts.workloads) {
        judge_run(examination, workload);
    }
}

}  // namespace edgegpu::gpu_health
