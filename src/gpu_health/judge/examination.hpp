#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpu_health/judge/verdict.hpp"

/// What the steps of judge() share; nothing else includes it.
namespace edgegpu::gpu_health {

/// A finding before it is known which one decides.
struct Found {
    Finding finding;
    /// It follows from something else that is wrong, whatever that is ("the driver is not loaded"):
    /// it decides only where nothing else was found.
    bool consequence = false;
};

/// A machine while it is judged.
struct Examination {
    const Facts& facts;
    const Settings& settings;
    const Tables& tables;
    /// in the order of the steps
    std::vector<Found> found;
};

/// Adds a finding; the reference is good until the next one.
Found& report(Examination& examination, Step step, Verdict verdict, std::string fault,
              std::string device, std::string_view text, std::string action = {});

/// The same as a note: reported, and no reason for a verdict.
Found& report_note(Examination& examination, Step step, std::string fault, std::string device,
                   std::string_view text, std::string action = {});

/// The verdict of a table's word; nothing: "note" and "application".
[[nodiscard]] std::optional<Verdict> verdict_of_word(std::string_view word);

/// The step ran to its end: what the facts do not have is not there.
[[nodiscard]] bool is_known(const Facts& facts, Step step);

/// "0000:65:00.0" of what NVML ("00000000:65:00.0") and the kernel ("0000:65:00") write, in lower
/// case.
[[nodiscard]] std::string normal_address(std::string_view address);

/// Excluded from the driver on purpose (/proc/driver/nvidia/gpus/…/information).
[[nodiscard]] bool is_excluded(const Facts& facts, std::string_view address);

/// The GPUs of the machine that a driver is to have: neither virtual functions nor excluded ones.
[[nodiscard]] std::vector<const PciFunction*> gpus_of(const Facts& facts);

/// It does not answer: neither its configuration space, nor NVML (a GPU may sleep for a moment).
[[nodiscard]] bool is_silent(const Facts& facts, const PciFunction& gpu);

/// The GPUs that answer.
[[nodiscard]] std::vector<const PciFunction*> live_gpus_of(const Facts& facts);

/// NVML told of the GPU without an error: whatever was said of it before was overcome.
[[nodiscard]] bool answers_nvml(const Facts& facts, std::string_view address);

/// All GPUs that should be NVIDIA's driver's answer NVML.
[[nodiscard]] bool all_answer_nvml(const Facts& facts);

/// The version of the driver that should run: that of the image, or else that of the module.
[[nodiscard]] std::string wanted_version(const Facts& facts);

/// `text` in one line, without control characters and a full stop, cut after 200 characters.
[[nodiscard]] std::string one_line(std::string_view text);

/// "a, b, c"; after the fourth "and N more".
[[nodiscard]] std::string listed(const std::vector<std::string>& words);

/// The steps; each one looks only at what is known, and adds what it finds.
void judge_presence(Examination& examination);
void judge_binding(Examination& examination);
void judge_module(Examination& examination);
void judge_version(Examination& examination);
void judge_firmware(Examination& examination);
void judge_kernel_log(Examination& examination);
void judge_nodes(Examination& examination);
void judge_library(Examination& examination);
void judge_nvml(Examination& examination);
void judge_condition(Examination& examination);
void judge_cdi(Examination& examination);
void judge_workload(Examination& examination);

/// The module's signer is known to this machine; nothing: its keys could not be read.
[[nodiscard]] std::optional<bool> signer_is_trusted(const ModuleFile& module,
                                                    const ModuleTrust& trust);

/// The kernel said in this boot that it refused a module for its signature.
[[nodiscard]] bool signature_was_refused(const Facts& facts);

/// One line for the journal, of a step that ran; `found` are its findings.
[[nodiscard]] std::string line_of(Step step, const Facts& facts, const Settings& settings,
                                  const std::vector<Finding>& found);

}  // namespace edgegpu::gpu_health
