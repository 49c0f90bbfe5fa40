#include "gpu_health/ask/probe_output.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "support/text/number.hpp"
#include "support/text/text.hpp"

namespace edgegpu::gpu_health {

namespace {

constexpr std::size_t most_gpus = 256;
constexpr std::size_t most_mig_devices = 64;

/// `failed=FUNCTION CODE TEXT`
struct Failure {
    std::string function;
    int code = 0;
    std::string text;
};

bool is_function(std::string_view name) {
    constexpr std::size_t longest = 80;
    return !name.empty() && name.size() <= longest && std::ranges::all_of(name, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '(' || c == ')';
    });
}

std::optional<Failure> read_failure(std::string_view value) {
    const std::size_t space = value.find(' ');
    if (space == std::string_view::npos || !is_function(value.substr(0, space))) {
        return std::nullopt;
    }
    Failure failure{std::string(value.substr(0, space)), 0, {}};
    value.remove_prefix(space + 1);
    const std::optional<int> code = take_number<int>(value);
    if (!code || *code == 0 || (!value.empty() && value.front() != ' ')) {
        return std::nullopt;
    }
    failure.code = *code;
    failure.text = short_text(value);
    return failure;
}

/// What both commands say; `Gpu` has the address.
template <typename Gpu>
struct Said {
    /// The first line was gpu-probe's: it ran.
    bool began = false;
    /// the function called last
    std::string call;
    std::vector<Gpu> gpus;
    std::optional<int> end;
};

/// Reads lines until one is not as it should be. `take(KEY, VALUE, SAID)` is for those that only
/// one of the commands has: whether it is as it should be.
template <typename Gpu, typename Take>
Said<Gpu> read_lines(std::string_view text, const Take& take) {
    Said<Gpu> said;
    while (!text.empty() && !said.end) {
        // A line without its newline was cut.
        if (text.find('\n') == std::string_view::npos) {
            break;
        }
        const std::string_view line = take_line(text);
        const std::size_t equals = line.find('=');
        if (equals == std::string_view::npos) {
            break;
        }
        const std::string_view key = line.substr(0, equals);
        const std::string_view value = line.substr(equals + 1);
        bool proper = said.began;
        if (!said.began) {
            proper = said.began = key == "gpu-probe" && value == "1";
        } else if (key == "call") {
            proper = is_function(value);
            said.call = value;
        } else if (key == "gpu") {
            proper = said.gpus.size() < most_gpus &&
                     whole_number<std::size_t>(value) == said.gpus.size();
            said.gpus.emplace_back();
        } else if (key == "gpus") {
            proper = whole_number<unsigned>(value).has_value() && said.gpus.empty();
        } else if (key == "end") {
            said.end = whole_number<int>(value);
            proper = said.end.has_value();
        } else {
            proper = take(key, value, said);
        }
        if (!proper) {
            break;
        }
    }
    return said;
}

/// Puts a number into a member; whether it is one.
template <typename Member>
bool set_number(std::optional<Member>& member, std::string_view value) {
    if constexpr (std::is_same_v<Member, bool>) {
        const auto number = whole_number<unsigned>(value);
        if (number) {
            member = *number != 0;
        }
        return number && *number <= 1;
    } else {
        member = whole_number<Member>(value);
        return member.has_value();
    }
}

bool take_nvml_number(std::string_view key, std::string_view value, NvmlGpu& gpu) {
    return key == "memory"                   ? set_number(gpu.memory, value)
           : key == "persistence"            ? set_number(gpu.persistence, value)
           : key == "mig"                    ? set_number(gpu.mig, value)
           : key == "recovery-action"        ? set_number(gpu.recovery_action, value)
           : key == "uncorrected-volatile"   ? set_number(gpu.uncorrected_volatile, value)
           : key == "uncorrected-aggregate"  ? set_number(gpu.uncorrected_aggregate, value)
           : key == "remapped-uncorrectable" ? set_number(gpu.remapped_uncorrectable, value)
           : key == "remap-pending"          ? set_number(gpu.remap_pending, value)
           : key == "remap-failed"           ? set_number(gpu.remap_failed, value)
           : key == "temperature"            ? set_number(gpu.temperature, value)
                                             : false;
}

bool take_nvml_text(std::string_view key, std::string_view value, NvmlGpu& gpu) {
    if (key == "mig-device") {
        gpu.mig_devices.push_back(short_text(value));
        return gpu.mig_devices.size() <= most_mig_devices;
    }
    std::string* const member = key == "address"   ? &gpu.address
                                : key == "name"    ? &gpu.name
                                : key == "uuid"    ? &gpu.uuid
                                : key == "licence" ? &gpu.licence
                                                   : nullptr;
    if (member != nullptr) {
        *member = short_text(value);
    }
    return member != nullptr;
}

/// Whether a GPU does not work because of a code. Without a handle nothing works; other functions
/// may be missing or not permitted, but not fail in these ways: no power (8), no interrupts (11), a
/// damaged infoROM (14), fallen off the bus (15), in need of a reset (16).
bool ends_gpu(const Failure& failure) {
    constexpr std::array broken{8, 11, 14, 15, 16};
    return failure.function == "nvmlDeviceGetHandleByIndex_v2" ||
           std::ranges::find(broken, failure.code) != broken.end();
}

/// Whether NVML as a whole does not work.
bool ends_nvml(const Failure& failure) {
    return failure.function == "dlopen" || failure.function == "nvmlInit_v2" ||
           failure.function == "nvmlDeviceGetCount_v2";
}

void take_nvml_failure(Failure failure, Nvml& nvml, std::vector<NvmlGpu>& gpus) {
    if (!gpus.empty()) {
        if (gpus.back().code == 0 && ends_gpu(failure)) {
            gpus.back().code = failure.code;
        }
    } else if (nvml.code == 0 && ends_nvml(failure)) {
        nvml.code = failure.code;
        nvml.function = std::move(failure.function);
        nvml.text = std::move(failure.text);
    }
}

/// The last line with something in it that a program wrote for people.
std::string last_words(const ChildResult& child) {
    const std::vector<std::string> lines = last_lines(child.errors, 1);
    return lines.empty() ? std::string() : short_text(lines.front());
}

/// How a child that has not said its end came to it: "nvmlInit_v2 did not return in 45.0 s".
std::string sudden_end(const ChildResult& child, std::string_view where) {
    if (child.end == ChildEnd::hung) {
        return fmt::format("{} did not return in {:.1f} s", where, child.milliseconds / 1000);
    }
    if (child.end == ChildEnd::crashed) {
        return fmt::format("signal {} ended {}", child.status, where);
    }
    const std::string words = last_words(child);
    return fmt::format("{} ended with status {} before it had finished{}{}", where, child.status,
                       words.empty() ? "" : ": ", words);
}

/// Whether it was run and has said everything, with the status that it ended with.
template <typename Gpu>
bool is_whole(const ChildResult& child, const Said<Gpu>& said) {
    return child.end == ChildEnd::ended && said.end == child.status;
}

struct WorkloadGpu {
    std::string address;
    bool passed = false;
};

/// The CUDA function that failed, on which GPU.
std::string describe(const Workload& workload, const std::string& text, std::string_view address) {
    return fmt::format("{}{}{} failed with {}{}{}", address,
                       address.empty() ? std::string_view() : std::string_view(": "),
                       workload.function, workload.code, text.empty() ? "" : ": ", text);
}

bool take_workload(std::string_view key, std::string_view value, Said<WorkloadGpu>& said,
                   Workload& workload) {
    const std::string address = said.gpus.empty() ? std::string() : said.gpus.back().address;
    if (key == "failed") {
        std::optional<Failure> failure = read_failure(value);
        // The first is the cause of others; a wrong result is said before them.
        if (failure && workload.text.empty()) {
            workload.function = std::move(failure->function);
            workload.code = failure->code;
            workload.text = workload.function == "dlopen"
                                ? failure->text
                                : describe(workload, failure->text, address);
        }
        return failure.has_value();
    }
    if (said.gpus.empty()) {
        return false;
    }
    if (key == "passed") {
        said.gpus.back().passed = true;
    } else if (key == "wrong") {
        workload.text = short_text(fmt::format("{}: wrong result: {}", address, value));
        workload.function.clear();
        workload.code = 0;
    } else if (key == "address") {
        said.gpus.back().address = lower_case(short_text(value));
    } else {
        return key == "name";
    }
    return true;
}

}  // namespace

std::string short_text(std::string_view text) {
    constexpr std::size_t longest = 300;
    std::string line(trim(text).substr(0, longest));
    std::ranges::replace_if(
        line, [](char c) { return c < ' ' || c > '~'; }, '?');
    return line;
}

Nvml read_nvml(const ChildResult& child) {
    Nvml nvml;
    nvml.end = child.end;
    if (child.end == ChildEnd::missing || child.end == ChildEnd::not_run) {
        nvml.text = short_text(child.errors);
        return nvml;
    }
    Said<NvmlGpu> said = read_lines<NvmlGpu>(
        child.output, [&nvml](std::string_view key, std::string_view value, Said<NvmlGpu>& so_far) {
            if (key == "failed") {
                std::optional<Failure> failure = read_failure(value);
                if (failure) {
                    take_nvml_failure(std::move(*failure), nvml, so_far.gpus);
                }
                return failure.has_value();
            }
            if (key == "driver-version" || key == "nvml-version") {
                (key[0] == 'd' ? nvml.driver_version : nvml.library_version) = short_text(value);
                return so_far.gpus.empty();
            }
            return !so_far.gpus.empty() && (take_nvml_text(key, value, so_far.gpus.back()) ||
                                            take_nvml_number(key, value, so_far.gpus.back()));
        });
    nvml.gpus = std::move(said.gpus);
    if (!is_whole(child, said)) {
        nvml.end = child.end == ChildEnd::ended ? ChildEnd::crashed : child.end;
        nvml.text = sudden_end(child, said.call.empty() ? "gpu-probe" : said.call);
        // A code that it gave before it ended says more.
        nvml.function = nvml.code == 0 ? said.call : nvml.function;
    }
    return nvml;
}

Workload read_workload(const ChildResult& given, std::string_view how) {
    ChildResult child = given;
    constexpr int signals = 128;
    if (how != "direct" && child.end == ChildEnd::ended && child.status > signals) {
        // As container engines, like shells, give the signal that ended a program.
        child.end = ChildEnd::crashed;
        child.status -= signals;
    }
    Workload workload;
    workload.how = how;
    workload.end = child.end;
    workload.status = child.status;
    if (child.end == ChildEnd::missing || child.end == ChildEnd::not_run) {
        workload.text = short_text(child.errors);
        return workload;
    }
    const Said<WorkloadGpu> said = read_lines<WorkloadGpu>(
        child.output,
        [&workload](std::string_view key, std::string_view value, Said<WorkloadGpu>& so_far) {
            return take_workload(key, value, so_far, workload);
        });
    workload.passed = static_cast<unsigned>(
        std::ranges::count_if(said.gpus, [](const WorkloadGpu& gpu) { return gpu.passed; }));
    const std::string program(how == "direct" ? "gpu-probe" : how == "crio" ? "crictl" : how);
    if (!said.began && how != "direct" && child.end == ChildEnd::ended) {
        // Whoever should have run it did not.
        const std::string words = last_words(child);
        workload.function = program;
        workload.text =
            words.empty() ? fmt::format("{} ended with status {}", program, child.status) : words;
    } else if (!is_whole(child, said)) {
        workload.end = child.end == ChildEnd::ended ? ChildEnd::crashed : child.end;
        const std::string where = said.call.empty() ? program : said.call;
        if (workload.text.empty()) {
            workload.function = where;
            workload.text = sudden_end(child, where);
        } else {
            workload.text += "; then " + sudden_end(child, where);
        }
    } else if (workload.text.empty()) {
        workload.text = child.status == 0 && workload.passed > 0
                            ? fmt::format("Test PASSED on {} GPU{}", workload.passed,
                                          workload.passed == 1 ? "" : "s")
                            : "CUDA sees no GPU";
    }
    return workload;
}

}  // namespace edgegpu::gpu_health
