#include "gpu_health/settings.hpp"

#include <algorithm>

#include "gpu_health/json_fields.hpp"

namespace edgegpu::gpu_health {

template <>
struct FieldsOf<WantedMig> {
    static constexpr auto list =
        std::tuple{Field{"device", &WantedMig::device}, Field{"profiles", &WantedMig::profiles}};
};

template <>
struct FieldsOf<Settings> {
    static constexpr auto list =
        std::tuple{Field{"minimum", &Settings::minimum},
                   Field{"devices", &Settings::devices},
                   Field{"passthrough", &Settings::passthrough},
                   Field{"fail_on_missing_gpu", &Settings::fail_on_missing_gpu},
                   Field{"fail_on_unclear", &Settings::fail_on_unclear},
                   Field{"memory", &Settings::memory},
                   Field{"mig", &Settings::mig},
                   Field{"persistence", &Settings::persistence},
                   Field{"link_width", &Settings::link_width},
                   Field{"link_generation", &Settings::link_generation},
                   Field{"mig_layouts", &Settings::mig_layouts},
                   Field{"workload", &Settings::workload},
                   Field{"workload_image", &Settings::workload_image},
                   Field{"deadlines", &Settings::deadlines},
                   Field{"textfile", &Settings::textfile}};
};

namespace {

constexpr unsigned longest_deadline = 600;

void check_settings(const Settings& settings) {
    for (const auto& deadline : settings.deadlines) {
        const std::string& step = deadline.first;
        const unsigned seconds = deadline.second;
        const auto is_step = [&](Step one) { return name_of(one) == step; };
        if (std::none_of(all_steps.begin(), all_steps.end(), is_step)) {
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
