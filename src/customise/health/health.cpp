#include "customise/health/health.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "customise/health/check_scripts.hpp"
#include "customise/health/greenboot.hpp"
#include "customise/health/programs.hpp"
#include "embedded_health.hpp"
#include "gpu_health/settings.hpp"
#include "support/error.hpp"
#include "support/tmpfiles_line.hpp"

namespace edgegpu {

namespace {

constexpr const char* unit_directory = "/usr/lib/systemd/system";
constexpr const char* check_name = "40_edgegpu_gpu_health.sh";

gpu_health::Settings settings_of(const GpuHealthRequest& health,
                                 const std::vector<MigLayout>& mig) {
    gpu_health::Settings settings;
    settings.minimum = health.minimum;
    settings.devices = health.devices;
    settings.passthrough = health.passthrough;
    settings.fail_on_missing_gpu = health.on_missing_gpu == FaultAnswer::fail;
    settings.fail_on_unclear = health.on_unclear == FaultAnswer::fail;
    settings.memory = health.require.memory;
    settings.mig = health.require.mig;
    settings.persistence = health.require.persistence;
    settings.link_width = health.require.link_width;
    settings.link_generation = health.require.link_generation;
    for (const MigLayout& layout : mig) {
        settings.mig_layouts.push_back({layout.device, layout.profiles});
    }
    for (const GpuWorkload workload : health.workload) {
        settings.workload.emplace_back(enum_name(workload));
    }
    settings.workload_image = health.workload_image;
    settings.deadlines = {health.deadlines.begin(), health.deadlines.end()};
    settings.textfile = health.textfile;
    return settings;
}

std::string tmpfiles_of(const GpuHealthRequest& health) {
    std::string text =
        "# gpu-health: what happened on this machine before, and where its results are.\n"
        "d /var/lib/edgegpu 0755 root root -\n"
        "d /var/lib/edgegpu/gpu-health 0755 root root -\n"
        "d /run/edgegpu 0755 root root -\n"
        "d /run/motd.d 0755 root root -\n";
    if (!health.textfile.empty()) {
        text += fmt::format("d {} 0755 root root -\n", tmpfiles_path(health.textfile));
    }
    return text;
}

bool is_in_image(const Tree& tree, std::string_view path) {
    return find_entry(tree, path) != nullptr;
}

/// Programs that the ways of running the workload need.
void require_workload(const GpuHealthRequest& health, const Tree& tree) {
    for (const GpuWorkload workload : health.workload) {
        const std::string_view program = workload == GpuWorkload::podman ? "podman"
                                         : workload == GpuWorkload::crio ? "crictl"
                                                                         : "";
        if (!program.empty() && !is_in_image(tree, fmt::format("/usr/bin/{}", program))) {
            throw error_at(health.location,
                           "workload \"{}\" needs the program {}, which the image "
                           "does not have",
                           enum_name(workload), program)
                .hinted("add the package that contains it");
        }
    }
}

/// The programs are those of the machine that built edgegpu.
void require_architecture(const Blueprint& blueprint, const GpuHealthRequest& health) {
    constexpr std::size_t machine_at = 18;  // e_machine of an ELF header
    constexpr char aarch64 = '\xb7';
    const std::string_view program = gpu_health_program();
    const bool for_arm = program.size() > machine_at && program[machine_at] == aarch64;
    if (for_arm != (blueprint.architecture == "aarch64")) {
        throw error_at(health.location, "this edgegpu has no gpu-health for {}",
                       blueprint.architecture)
            .hinted("build the image with an edgegpu that was built for this architecture");
    }
}

/// Throws if nothing could take a bad upgrade back; warns of known faults.
void check_rollback(const Context& ctx, const GpuHealthRequest& health, const Greenboot& greenboot,
                    const Tree& tree) {
    if (!is_in_image(tree, "/usr/bin/grub2-editenv") &&
        !is_in_image(tree, "/usr/sbin/grub2-editenv")) {
        throw error_at(health.location,
                       "the image has no grub2-editenv, with which a good boot is told to GRUB: "
                       "no bad upgrade would be taken back")
            .hinted("add the package grub2-tools-minimal");
    }
    for (const GreenbootFault& fault : faults_of_greenboot(greenboot, tree)) {
        if (fault.fatal) {
            throw error_at(health.location, "{}", fault.text).hinted(fault.hint);
        }
        ctx.console->warn(
            fmt::format("{}: {}: {}", health.location.text(), fault.text, fault.hint));
    }
    if (std::ranges::find(tree.packages, "flightctl-agent", &Nevra::name) != tree.packages.end()) {
        ctx.console->warn(fmt::format(
            "{}: Flight Control judges upgrades as well (flightctl-agent): at each boot it "
            "switches "
            "greenboot's other checks off, and takes back images of bootc only. Let one of the two "
            "decide",
            health.location.text()));
    }
    constexpr const char* configuration = "/etc/greenboot/greenboot.conf";
    if (greenboot.kind != GreenbootKind::none && is_in_image(tree, configuration) &&
        read_entry(tree, configuration).find(check_name) != std::string::npos) {
        ctx.console->warn(fmt::format("{}: {} names {}: is it disabled there?",
                                      health.location.text(), configuration, check_name));
    }
}

/// Scripts of the user; those of packages are not theirs to change.
void check_own_scripts(const Context& ctx, const PlacedPaths& placed, GreenbootKind kind,
                       const Tree& tree) {
    for (const auto& [path, source] : placed) {
        const Entry* const entry = is_health_check(path) ? find_entry(tree, path) : nullptr;
        if (entry == nullptr || entry->type != EntryType::file) {
            continue;
        }
        for (const ScriptDoubt& doubt : doubts_of_check(read_entry(tree, path), kind)) {
            ctx.console->warn(fmt::format("{}:{}: {}", source.is_file ? source.place : path,
                                          doubt.line, doubt.text));
        }
    }
}

/// Puts a unit into the image, and links with which `wanting` ("x.target.wants") start it.
void put_unit(const Context& ctx, Tree& tree, const std::string& name, std::string_view text,
              std::initializer_list<const char*> wanting) {
    put_entry(tree, fmt::format("{}/{}", unit_directory, name), make_file_entry(ctx, text, 0644));
    for (const char* const directory : wanting) {
        put_entry(tree, fmt::format("{}/{}/{}", unit_directory, directory, name),
                  link_to("../" + name));
    }
}

/// The units that make the device nodes and CDI specification, as far as the image has them.
std::string preparing_units(const Tree& tree) {
    std::string units;
    for (const char* const name :
         {"edgegpu-gpu-devices.service", "nvidia-cdi-refresh.service", "edgegpu-cdi.service"}) {
        for (const char* const directory : {unit_directory, "/etc/systemd/system"}) {
            if (is_in_image(tree, fmt::format("{}/{}", directory, name))) {
                units += fmt::format("{}{}", units.empty() ? "" : " ", name);
                break;
            }
        }
    }
    return units;
}

void add_own_units(const Context& ctx, Tree& tree) {
    put_entry(tree, "/usr/libexec/edgegpu/boot-counting",
              make_file_entry(ctx, embedded::boot_counting, 0755));
    put_unit(ctx, tree, "edgegpu-boot-counter.service", embedded::edgegpu_boot_counter_service,
             {"ostree-finalize-staged.service.requires"});
    put_unit(ctx, tree, "edgegpu-boot-fallback.service", embedded::edgegpu_boot_fallback_service,
             {"multi-user.target.wants"});
    put_unit(ctx, tree, "edgegpu-gpu-health.service", embedded::edgegpu_gpu_health_service,
             {"boot-complete.target.requires", "multi-user.target.wants"});
    put_unit(ctx, tree, "edgegpu-boot-success.service", embedded::edgegpu_boot_success_service,
             {"multi-user.target.wants"});
    put_unit(ctx, tree, "edgegpu-boot-red.service", embedded::edgegpu_boot_red_service, {});
}

void add_check(const Context& ctx, const GpuHealthRequest& health, GreenbootKind kind, Tree& tree) {
    const bool greenboot = kind != GreenbootKind::none;
    if (greenboot) {
        put_entry(tree, fmt::format("/usr/lib/greenboot/check/required.d/{}", check_name),
                  make_file_entry(ctx, embedded::greenboot_check_sh, 0755));
    } else {
        add_own_units(ctx, tree);
    }
    std::string ready(embedded::edgegpu_gpu_ready_service);
    const std::string units = health.passthrough ? "" : preparing_units(tree);
    if (!units.empty()) {
        ready += fmt::format("ExecStart=-/usr/bin/systemctl start {}\n", units);
    }
    put_unit(
        ctx, tree, "edgegpu-gpu-ready.service", ready,
        {greenboot ? "greenboot-healthcheck.service.wants" : "edgegpu-gpu-health.service.wants"});
}

}  // namespace

void add_gpu_health(const Context& ctx, const Blueprint& blueprint, const PlacedPaths& placed,
                    Tree& tree) {
    if (!blueprint.gpu_health) {
        return;
    }
    const GpuHealthRequest& health = *blueprint.gpu_health;
    const Greenboot greenboot = greenboot_of(tree);
    require_architecture(blueprint, health);
    require_workload(health, tree);
    check_rollback(ctx, health, greenboot, tree);
    check_own_scripts(ctx, placed, greenboot.kind, tree);
    const auto put = [&](const char* path, std::string_view content, unsigned mode) {
        put_entry(tree, path, make_file_entry(ctx, content, mode));
    };
    put("/usr/libexec/edgegpu/gpu-health", gpu_health_program(), 0755);
    put("/usr/libexec/edgegpu/gpu-probe", gpu_probe_program(), 0755);
    put("/usr/lib/edgegpu/gpu-health.json",
        settings_json(settings_of(
            health, blueprint.nvidia ? blueprint.nvidia->mig : std::vector<MigLayout>())),
        0644);
    put("/usr/lib/tmpfiles.d/edgegpu-gpu-health.conf", tmpfiles_of(health), 0644);
    add_check(ctx, health, greenboot.kind, tree);
}

}  // namespace edgegpu
