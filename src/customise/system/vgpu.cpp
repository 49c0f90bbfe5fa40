#include "customise/system/vgpu.hpp"

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "customise/units/vendor_unit.hpp"
#include "embedded_vgpu.hpp"
#include "support/assignments.hpp"
#include "support/source_location.hpp"
#include "support/text/terminal_text.hpp"

namespace edgegpu {

namespace {

constexpr const char* gridd_conf = "/etc/nvidia/gridd.conf";
constexpr const char* gridd_service = "nvidia-gridd.service";
constexpr const char* token_script = "/usr/libexec/edgegpu/vgpu-token";
constexpr const char* token_service = "edgegpu-vgpu-token.service";
constexpr const char* units_directory = "/usr/lib/systemd/system/";

/// /var/lib/nvidia/GridLicensing has what the licence server knows the machine by: with it, an
/// upgraded machine is no other client.
constexpr const char* state_directory =
    R"(# State of nvidia-gridd, by which the licence server knows this machine.
d /var/lib/nvidia 0755 root root -
d /var/lib/nvidia/GridLicensing 0755 root root -
)";

/// Programs and units of the driver of a host that offers virtual GPUs (NVIDIA-…-vgpu-kvm).
constexpr std::array host_files{
    "/usr/bin/nvidia-vgpud",
    "/usr/bin/nvidia-vgpu-mgr",
    "/usr/lib/systemd/system/nvidia-vgpud.service",
    "/usr/lib/systemd/system/nvidia-vgpu-mgr.service",
};

std::string token_drop_in(const std::string& directory) {
    return fmt::format(
        "# Without a token the service would fail: it is skipped, and {} starts it\n"
        "# when there is one.\n"
        "[Unit]\n"
        "ConditionPathExistsGlob={}/*.tok\n",
        token_service, directory);
}

std::string token_unit(const std::string& directory) {
    return fmt::format(R"([Unit]
Description=Token for the licence of the virtual GPU
After={} edgegpu-vgpu-token.path
# Copying many files is no fault.
StartLimitIntervalSec=0

[Service]
Type=oneshot
TimeoutStartSec=2min
ExecStart={} {}
)",
                       gridd_service, token_script, directory);
}

std::string token_path_unit(const std::string& directory) {
    return fmt::format(R"([Unit]
Description=Tokens for the licence of the virtual GPU

[Path]
PathChanged={}
Unit={}
)",
                       directory, token_service);
}

void add_line(std::string& text, std::string_view key, const std::string& value) {
    if (!value.empty()) {
        text += fmt::format("{}={}\n", key, value);
    }
}

void add_line(std::string& text, std::string_view key, const std::optional<unsigned>& value) {
    if (value) {
        text += fmt::format("{}={}\n", key, *value);
    }
}

void require_guest(const VgpuRequest& vgpu, const Tree& tree) {
    for (const char* path : host_files) {
        if (find_entry(tree, path) != nullptr) {
            throw error_at(vgpu.location,
                           "{} belongs to the driver of a host (vgpu-kvm), and [nvidia.vgpu] is "
                           "for a guest",
                           path)
                .hinted(
                    "take the guest's driver: edgegpu package-driver makes packages of "
                    "NVIDIA-Linux-x86_64-VERSION-grid.run");
        }
    }
    if (find_entry(tree, std::string(units_directory) + gridd_service) == nullptr) {
        throw error_at(vgpu.location,
                       "devices get their licence by {}, and the image does not have it",
                       gridd_service)
            .hinted(
                "edgegpu package-driver makes packages of the guest's driver, "
                "NVIDIA-Linux-x86_64-VERSION-grid.run");
    }
}

/// Two of the user's choices for one file.
void require_no_own_file(const VgpuRequest& vgpu, const PlacedPaths& placed) {
    if (const auto found = placed.find(gridd_conf); found != placed.end()) {
        throw error_at(vgpu.location, "[nvidia.vgpu] is written to {}, which {} brings as well",
                       gridd_conf, found->second.place)
            .hinted("give its keys in [nvidia.vgpu], and leave the file out; or the other way");
    }
}

/// Packages of the guest's driver may bring the file, as the vendor's example or with the settings
/// of whoever packed them. nvidia-gridd reads no other one and no drop-ins: [nvidia.vgpu] replaces
/// it, as an administrator would, and what it set is not lost in silence.
void note_packaged_file(const Context& ctx, const VgpuRequest& vgpu, const Tree& tree) {
    const Entry* packaged = find_entry(tree, gridd_conf);
    if (packaged == nullptr) {
        return;
    }
    std::vector<std::string> lost;
    if (packaged->type == EntryType::file) {
        const std::string own = gridd_conf_text(vgpu);
        for (const auto& [key, value] : read_assignments(read_entry(tree, gridd_conf))) {
            if (!value.empty() && own.find(fmt::format("\n{}=", key)) == std::string::npos) {
                lost.push_back(fmt::format("{}={}", key, value));
            }
        }
    }
    const std::string what =
        fmt::format("[nvidia.vgpu] replaces {}, which a package brings", gridd_conf);
    if (lost.empty()) {
        ctx.console->note(what);
    } else {
        ctx.console->warn(fmt::format(
            "{}: {}: it set {}, which is not in [nvidia.vgpu]: nvidia-gridd's default applies",
            vgpu.location.text(), what, printable_line(fmt::format("{}", fmt::join(lost, ", ")))));
    }
}

void add_token_units(const Context& ctx, const std::string& directory, Tree& tree) {
    Entry made;
    made.type = EntryType::directory;
    made.mode = 0755;
    if (directory.starts_with("/etc/") && find_entry(tree, directory) == nullptr) {
        put_entry(tree, directory, made);
    }
    put_entry(tree, fmt::format("{}{}.d/10-edgegpu.conf", units_directory, gridd_service),
              make_file_entry(ctx, token_drop_in(directory), 0644));
    put_entry(tree, token_script, make_file_entry(ctx, embedded::vgpu_token, 0755));
    add_vendor_unit(ctx, tree, token_service, "multi-user.target", token_unit(directory));
    add_vendor_unit(ctx, tree, "edgegpu-vgpu-token.path", "multi-user.target",
                    token_path_unit(directory));
}

}  // namespace

std::string gridd_conf_text(const VgpuRequest& vgpu) {
    std::string text = "# [nvidia.vgpu] of the blueprint.\n";
    add_line(text, "ServerAddress", vgpu.server_address);
    add_line(text, "ServerPort", vgpu.server_port);
    add_line(text, "BackupServerAddress", vgpu.backup_server_address);
    add_line(text, "BackupServerPort", vgpu.backup_server_port);
    add_line(text, "FeatureType", vgpu.feature_type);
    if (vgpu.enable_ui) {
        text += fmt::format("EnableUI={}\n", *vgpu.enable_ui ? "TRUE" : "FALSE");
    }
    add_line(text, "LicenseInterval", vgpu.license_interval);
    add_line(text, "LingerInterval", vgpu.linger_interval);
    add_line(text, "ClientConfigTokenPath", vgpu.token_directory);
    return text;
}

void add_vgpu_licence(const Context& ctx, const std::optional<NvidiaRequest>& nvidia,
                      const PlacedPaths& placed, Tree& tree) {
    if (!nvidia || !nvidia->vgpu) {
        return;
    }
    const VgpuRequest& vgpu = *nvidia->vgpu;
    require_guest(vgpu, tree);
    require_no_own_file(vgpu, placed);
    note_packaged_file(ctx, vgpu, tree);
    put_entry(tree, gridd_conf, make_file_entry(ctx, gridd_conf_text(vgpu), 0644));
    std::string lines = state_directory;
    const std::string directory =
        vgpu.token_directory.empty() ? usual_token_directory : vgpu.token_directory;
    if (vgpu.needs_token()) {
        add_token_units(ctx, directory, tree);
        // Also on a device whose /etc lost it: the path unit watches the directory.
        lines += fmt::format("d {} 0755 root root -\n", directory);
    }
    put_entry(tree, "/usr/lib/tmpfiles.d/edgegpu-vgpu.conf", make_file_entry(ctx, lines, 0644));
    put_entry(tree, fmt::format("{}multi-user.target.wants/{}", units_directory, gridd_service),
              link_to(fmt::format("../{}", gridd_service)));
}

}  // namespace edgegpu
