#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "blueprint/tables/tables.hpp"
#include "blueprint/toml/validate.hpp"
#include "gpu_health/steps.hpp"
#include "oci/reference.hpp"
#include "support/source_location.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

/// For as long a boot may have no verdict: `edgegpu test` waits as long for greenboot, which has no
/// limit of its own.
constexpr std::uint32_t longest_check = 1200;
constexpr std::int64_t most_gpus = 64;

void read_require(const TableReader& table, GpuRequirements& require) {
    require.memory = read_size(table, "memory");
    for (const auto& [key, value] :
         {std::pair<const char*, std::optional<bool>&>{"mig", require.mig},
          {"persistence", require.persistence}}) {
        if (table.has(key)) {
            value = table.boolean(key, false);
        }
    }
    if (const auto width = table.integer("link_width", 1, 32)) {
        require.link_width = static_cast<unsigned>(*width);
        if ((require.link_width & (require.link_width - 1)) != 0) {
            table.note(error_at(table, "link_width", "no link has {} lanes", require.link_width)
                           .hinted("1, 2, 4, 8, 16 or 32"));
        }
    }
    if (const auto generation = table.integer("link_generation", 1, 7)) {
        require.link_generation = static_cast<unsigned>(*generation);
    }
    table.finish();
}

std::vector<GpuWorkload> read_workload(const TableReader& table) {
    std::vector<GpuWorkload> all;
    for (const LocatedString& name : table.string_or_strings("workload")) {
        const std::optional<GpuWorkload> workload = value_named<GpuWorkload>(name.value);
        if (!workload) {
            table.note(error_at(name.location, "there is no workload \"{}\"", name.value)
                           .hinted("one of " + expected_names<GpuWorkload>()));
        } else if (std::ranges::find(all, *workload) == all.end()) {
            all.push_back(*workload);
        }
    }
    return all;
}

std::map<std::string, std::uint32_t> read_deadlines(const TableReader& table) {
    std::vector<std::string> names;
    names.reserve(gpu_health::all_steps.size());
    for (const gpu_health::Step step : gpu_health::all_steps) {
        names.emplace_back(name_of(step));
    }
    std::map<std::string, std::uint32_t> deadlines;
    for (const std::string& key : table.keys()) {
        if (std::ranges::find(names, key) == names.end()) {
            const std::string near = near_names_hint(key, names);
            table.note(error_at(table, key, "gpu-health has no step \"{}\"", key)
                           .hinted(near.empty() ? fmt::format("one of {}", fmt::join(names, ", "))
                                                : near));
            static_cast<void>(table.has(key));  // One mistake is enough.
        } else if (const auto seconds = table.integer(key, 1, 600)) {
            deadlines[key] = static_cast<std::uint32_t>(*seconds);
        }
    }
    table.finish();
    return deadlines;
}

/// Seconds that gpu-health takes at most.
std::uint32_t time_of(const GpuHealthRequest& health) {
    std::uint32_t sum = 0;
    for (const gpu_health::Step step : gpu_health::all_steps) {
        const auto set = health.deadlines.find(std::string(name_of(step)));
        const std::uint32_t seconds =
            set == health.deadlines.end() ? default_deadline(step) : set->second;
        sum += step == gpu_health::Step::workload
                   ? seconds * static_cast<std::uint32_t>(health.workload.size())
                   : seconds;
    }
    return sum;
}

void check_time(const TableReader& table, const GpuHealthRequest& health) {
    const std::uint32_t sum = time_of(health);
    if (sum > longest_check) {
        table.note(
            error_at(table, "deadlines",
                     "the steps of gpu-health may take {} s in all, more than {} s", sum,
                     longest_check)
                .hinted("a boot has no verdict for that long; that of \"workload\" counts for each "
                        "way in which it is run"));
    }
}

void check_workload(const TableReader& table, const GpuHealthRequest& health) {
    const auto runs = [&](GpuWorkload workload) {
        return std::ranges::find(health.workload, workload) != health.workload.end();
    };
    if (runs(GpuWorkload::crio) && health.workload_image.empty()) {
        table.note(error_at(table, "workload",
                            "workload \"crio\" needs \"{}\": CRI-O runs images alone",
                            table.full_name("workload_image"))
                       .hinted("the name of an image that the device has, as of [[containers]]; "
                               "the program is mounted into it"));
    }
    if (!health.workload_image.empty() && !runs(GpuWorkload::crio) && !runs(GpuWorkload::podman)) {
        table.note(error_at(table, "workload_image", "\"{}\" without a workload in a container",
                            table.full_name("workload_image"))
                       .hinted("add \"podman\" or \"crio\" to workload"));
    }
    const GpuRequirements& require = health.require;
    const bool asks_driver = require.memory != 0 || require.mig || require.persistence;
    if (health.passthrough && (!health.workload.empty() || asks_driver)) {
        table.note(error_at(table.location(health.workload.empty() ? "require" : "workload"),
                            "GPUs that are passed to virtual machines have no driver here")
                       .hinted("with passthrough, leave out workload, and memory, mig and "
                               "persistence of require"));
    }
}

void check_gpus(const TableReader& table, const GpuHealthRequest& health,
                const std::optional<NvidiaRequest>& nvidia) {
    if (!nvidia) {
        if (!health.passthrough) {
            table.note(error_at(table.location(),
                                "[health.gpu] without [nvidia]: the image has no "
                                "driver that could work")
                           .hinted("add [nvidia], or passthrough = true for GPUs of virtual "
                                   "machines"));
        }
        return;
    }
    if (nvidia->gpus && health.minimum > *nvidia->gpus) {
        table.note(error_at(table, "minimum",
                            "{} GPUs must work, and [nvidia] says that devices have at most {}",
                            health.minimum, *nvidia->gpus));
    }
    for (const std::string& device : health.devices) {
        if (!nvidia->devices.empty() &&
            std::ranges::find(nvidia->devices, device) == nvidia->devices.end()) {
            table.note(
                error_at(health.devices_location, "{} is not among devices of [nvidia]", device)
                    .hinted("add it there, so that the driver is checked for it"));
        }
    }
}

std::string read_textfile(const TableReader& table) {
    std::string path = table.string("textfile");
    if (!path.empty()) {
        table.attempt([&] {
            require_absolute_path(table.location("textfile"), table.full_name("textfile"), path);
            if (!is_below(path, "/var") || path == "/var") {
                throw error_at(table, "textfile", "\"{}\" must be a directory below /var",
                               table.full_name("textfile"))
                    .hinted("as in \"/var/lib/node_exporter/textfile_collector\"");
            }
        });
    }
    return path;
}

/// Engines complete short names by rules of the device; what is complete, each of them finds.
std::string read_workload_image(const TableReader& table) {
    const std::string text = table.string("workload_image");
    std::optional<std::string> name = text.empty() ? "" : complete_image_name(text, true);
    if (!name) {
        table.note(
            error_at(table, "workload_image", "\"{}\" is not the name of a container image", text)
                .hinted("as in \"quay.io/organization/image:tag\", in lower case"));
    }
    return name.value_or(text);
}

}  // namespace

GpuHealthRequest read_gpu_health(const TableReader& table,
                                 const std::optional<NvidiaRequest>& nvidia) {
    GpuHealthRequest health;
    health.location = table.location();
    health.devices_location = table.location("devices");
    for (const LocatedString& device : table.strings("devices")) {
        table.attempt([&] { health.devices.push_back(read_nvidia_device(device)); });
    }
    const auto minimum = table.integer("minimum", 0, most_gpus);
    health.minimum = minimum ? static_cast<unsigned>(*minimum)
                             : std::max(1U, static_cast<unsigned>(health.devices.size()));
    health.passthrough = table.boolean("passthrough", false);
    health.on_missing_gpu = table.choice("on_missing_gpu", health.on_missing_gpu);
    health.on_unclear = table.choice("on_unclear", health.on_unclear);
    table.with_table("require", read_require, health.require);
    health.workload = read_workload(table);
    health.workload_image = read_workload_image(table);
    health.workload_image_location = table.location("workload_image");
    if (const auto deadlines = table.table("deadlines")) {
        health.deadlines = read_deadlines(*deadlines);
    }
    health.textfile = read_textfile(table);
    check_time(table, health);
    check_workload(table, health);
    check_gpus(table, health, nvidia);
    table.finish();
    return health;
}

}  // namespace edgegpu
