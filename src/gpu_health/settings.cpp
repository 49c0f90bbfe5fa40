#include "gpu_health/settings.hpp"

#include <algorithm>

#include "gpu_health/json_fields.hpp"

namespace edgegpu::gpu_health {

template <>
struct FieldsOf<WantedMig> {
    using T = WantedMig;
    static constexpr auto list = fields<&T::device, &T::profiles>;
};

template <>
struct FieldsOf<Settings> {
    using T = Settings;
    static constexpr auto list =
        fields<&T::minimum, &T::devices, &T::passthrough, &T::fail_on_missing_gpu,
               &T::fail_on_unclear, &T::memory, &T::mig, &T::persistence, &T::link_width,
               &T::link_generation, &T::mig_layouts, &T::workload, &T::workload_image,
               &T::deadlines, &T::textfile>;
};

namespace {

constexpr unsigned longest_deadline = 600;

void check_settings(const Settings& settings) {
    for (const auto& deadline : settings.deadlines) {
        const std::string& step = deadline.first;
        const unsigned seconds = deadline.second;
        const auto is_step = [&](Step one) { return name_of(one) == step; };
        if (std::ranges::none_of(all_steps, is_step)) {
            refuse("deadlines." + step, "there is no such step");
        }
        if (seconds < 1 || seconds > longest_deadline) {
            refuse("deadlines." + step, "it must be from 1 to 600 seconds");
        }
    }
    for (const std::string& how : settings.workload) {
        if (how != "direct" && how != "podman" && how != "crio") {
            refuse("workload", "it has \"" + how + "\", which is none of direct, podman, crio");
        }
    }
    if (!settings.textfile.empty() && !settings.textfile.starts_with('/')) {
        refuse("textfile", "it is no absolute path");
    }
}

}  // namespace

std::string settings_json(const Settings& settings) {
    return json_text(settings);
}

Settings read_settings(Settings base, std::string_view json) {
    read_json_text(json, base);
    check_settings(base);
    return base;
}

}  // namespace edgegpu::gpu_health
