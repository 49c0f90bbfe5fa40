#include "gpu_health/judge/examination.hpp"

#include <algorithm>

#include "support/ranges.hpp"
#include "support/text/text.hpp"

namespace edgegpu::gpu_health {

Found& report(Examination& examination, Step step, Verdict verdict, std::string fault,
              std::string device, std::string_view text, std::string action) {
    Finding finding{
        step, verdict, std::move(fault), std::move(device), one_line(text), std::move(action),
        false};
    return examination.found.emplace_back(Found{std::move(finding), false});
}

Found& report_note(Examination& examination, Step step, std::string fault, std::string device,
                   std::string_view text, std::string action) {
    Found& found = report(examination, step, Verdict::unclear, std::move(fault), std::move(device),
                          text, std::move(action));
    found.finding.note = true;
    return found;
}

std::optional<Verdict> verdict_of_word(std::string_view word) {
    for (const Verdict verdict :
         {Verdict::image, Verdict::hardware, Verdict::machine, Verdict::unclear}) {
        if (name_of(verdict) == word) {
            return verdict;
        }
    }
    return std::nullopt;
}

bool is_known(const Facts& facts, Step step) {
    const auto run = facts.runs.find(std::string(name_of(step)));
    return run != facts.runs.end() && run->second.error.empty() && !run->second.hung;
}

std::string normal_address(std::string_view address) {
    constexpr std::size_t domain_digits = 4;
    std::string text = lower_case(address);
    const std::size_t colon = text.find(':');
    if (colon != std::string::npos && colon > domain_digits) {
        text.erase(0, colon - domain_digits);
    }
    if (!text.empty() && text.find('.') == std::string::npos) {
        text += ".0";
    }
    return text;
}

bool is_excluded(const Facts& facts, std::string_view address) {
    return std::ranges::any_of(facts.proc_gpus, [&](const ProcGpu& gpu) {
        return gpu.excluded && normal_address(gpu.address) == normal_address(address);
    });
}

std::vector<const PciFunction*> gpus_of(const Facts& facts) {
    return pointers_to(facts.functions, [&](const PciFunction& function) {
        return !function.virtual_function && !is_excluded(facts, function.address);
    });
}

bool is_silent(const Facts& facts, const PciFunction& gpu) {
    return (gpu.silent || gpu.id == "ffff:ffff") && !answers_nvml(facts, gpu.address);
}

std::vector<const PciFunction*> live_gpus_of(const Facts& facts) {
    std::vector<const PciFunction*> gpus = gpus_of(facts);
    gpus.erase(std::remove_if(gpus.begin(), gpus.end(),
                              [&](const PciFunction* gpu) { return is_silent(facts, *gpu); }),
               gpus.end());
    return gpus;
}

bool answers_nvml(const Facts& facts, std::string_view address) {
    const Nvml& nvml = facts.nvml;
    return is_known(facts, Step::nvml) && nvml.end == ChildEnd::ended && nvml.code == 0 &&
           std::ranges::any_of(nvml.gpus, [&](const NvmlGpu& gpu) {
               return gpu.code == 0 && normal_address(gpu.address) == normal_address(address);
           });
}

bool all_answer_nvml(const Facts& facts) {
    const std::vector<const PciFunction*> gpus = gpus_of(facts);
    return !gpus.empty() && std::ranges::all_of(gpus, [&](const PciFunction* gpu) {
        return answers_nvml(facts, gpu->address);
    });
}

std::string wanted_version(const Facts& facts) {
    return facts.stack && !facts.stack->driver.empty() ? facts.stack->driver : facts.module.version;
}

std::string one_line(std::string_view text) {
    constexpr std::size_t longest = 200;
    std::string line;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        const bool is_blank = byte <= ' ' || byte == 0x7f;
        if (!is_blank) {
            line += c;
        } else if (!line.empty() && line.back() != ' ') {
            line += ' ';
        }
    }
    if (line.size() > longest) {
        line.resize(longest);
        // A character of several bytes is not cut in two.
        while (!line.empty() && (static_cast<unsigned char>(line.back()) & 0x80U) != 0) {
            line.pop_back();
        }
        return line + " …";
    }
    return std::string(trim_end(line, " ."));
}

std::string listed(const std::vector<std::string>& words) {
    constexpr std::size_t most = 4;
    std::string text;
    for (std::size_t i = 0; i < words.size() && i < most; ++i) {
        text += (i == 0 ? "" : ", ") + words[i];
    }
    if (words.size() > most) {
        text += " and " + std::to_string(words.size() - most) + " more";
    }
    return text;
}

}  // namespace edgegpu::gpu_health
