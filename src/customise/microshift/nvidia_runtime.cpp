#include "customise/microshift/nvidia_runtime.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "customise/images/image_toml.hpp"
#include "support/error.hpp"
#include "support/text/terminal_text.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

constexpr const char* drop_in = "/etc/crio/crio.conf.d/99-nvidia.conf";
constexpr const char* toolkit_config = "/etc/nvidia-container-runtime/config.toml";

/// Containers that ask for no GPU are passed on to crun unchanged.
constexpr const char* drop_in_text =
    R"(# NVIDIA's runtime for all containers: those that ask for no GPU are passed on to crun unchanged.
[crio.runtime]
default_runtime = "nvidia"

[crio.runtime.runtimes.nvidia]
runtime_path = "/usr/bin/nvidia-container-runtime"
runtime_type = "oci"
)";

/// Whether a file that CRI-O reads has a table of the runtime `nvidia`.
bool defines_runtime(const Tree& tree) {
    const auto defines = [&](const std::string& path) {
        const toml::table document = parse_image_toml(read_entry(tree, path), printable_line(path));
        return document.at_path("crio.runtime.runtimes.nvidia").is_table();
    };
    const Entry* main_file = find_entry(tree, "/etc/crio/crio.conf");
    if (main_file != nullptr && main_file->type == EntryType::file &&
        defines("/etc/crio/crio.conf")) {
        return true;
    }
    const auto entries = entries_below(tree.entries, "/etc/crio/crio.conf.d/");
    return std::any_of(entries.begin(), entries.end(), [&](const auto& each) {
        return each.second.type == EntryType::file && defines(each.first);
    });
}

void add_drop_in(const Context& ctx, Tree& tree) {
    if (defines_runtime(tree)) {
        return;
    }
    if (find_entry(tree, drop_in) != nullptr) {
        throw error(ErrorKind::usage,
                    "{} of the image comes from elsewhere, and has no table "
                    "[crio.runtime.runtimes.nvidia]",
                    drop_in)
            .hinted(
                "NVIDIA's runtime is written to this file: give the other one another name, or "
                "add the table to it");
    }
    put_entry(tree, drop_in, make_file_entry(ctx, drop_in_text, 0644));
}

/// The names of `runtimes = ["runc", "crun"]`; nothing for another line.
std::optional<std::vector<std::string>> runtimes_of(std::string_view line) {
    constexpr std::string_view key = "runtimes";
    line = trim(line);
    if (!line.starts_with(key) || !trim(line.substr(key.size())).starts_with('=')) {
        return std::nullopt;
    }
    const std::size_t open = line.find('[');
    const std::size_t close = line.find(']');
    std::vector<std::string> names;
    if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
        return names;
    }
    for (const std::string_view item : split(line.substr(open + 1, close - open - 1), ',')) {
        const std::string_view name = trim(item);
        if (name.size() > 2) {
            names.emplace_back(name.substr(1, name.size() - 2));
        }
    }
    return names;
}

/// The configuration with crun first in `runtimes` of [nvidia-container-runtime]; nothing if it is
/// already, or if there is no such list on one line.
std::optional<std::string> with_crun_first(const std::string& config) {
    std::string result;
    bool in_section = false;
    bool changed = false;
    for (const std::string_view line : lines_of(config)) {
        if (trim(line).starts_with('[')) {
            in_section = trim(line).starts_with("[nvidia-container-runtime]");
        }
        std::optional<std::vector<std::string>> names =
            in_section ? runtimes_of(line) : std::nullopt;
        if (names && !names->empty() && names->front() != "crun") {
            names->erase(std::remove(names->begin(), names->end(), "crun"), names->end());
            names->insert(names->begin(), "crun");
            result += fmt::format("runtimes = [\"{}\"]\n", fmt::join(*names, "\", \""));
            changed = true;
        } else {
            result += fmt::format("{}\n", line);
        }
    }
    return changed ? std::optional(std::move(result)) : std::nullopt;
}

void put_crun_first(const Context& ctx, Tree& tree) {
    const Entry* before = find_entry(tree, toolkit_config);
    if (before == nullptr || before->type != EntryType::file ||
        find_entry(tree, "/usr/bin/crun") == nullptr) {
        return;
    }
    if (const auto text = with_crun_first(read_entry(tree, toolkit_config))) {
        Entry entry = make_file_entry(ctx, *text, before->mode);
        entry.uid = before->uid;
        entry.gid = before->gid;
        put_entry(tree, toolkit_config, entry);
    }
}

void check_cdi(const Context& ctx, const Tree& tree) {
    constexpr auto units =
        std::to_array<std::string_view>({"/usr/lib/systemd/system/nvidia-cdi-refresh.service",
                                         "/etc/systemd/system/nvidia-cdi-refresh.service",
                                         "/usr/lib/systemd/system/edgegpu-cdi.service"});
    if (std::none_of(units.begin(), units.end(),
                     [&](std::string_view unit) { return find_entry(tree, unit) != nullptr; })) {
        ctx.console->warn(
            "no unit of the image generates the CDI specification of the GPUs at boot: with "
            "[nvidia] in the blueprint, one does");
    }
    for (const auto& [path, entry] : entries_below(tree.entries, "/etc/cdi")) {
        if (entry.type == EntryType::file &&
            read_entry(tree, path).find("nvidia.com/gpu") != std::string::npos) {
            ctx.console->warn(fmt::format(
                "{}: a CDI specification belongs to the device on which it was generated: remove "
                "it from the image",
                path));
        }
    }
}

}  // namespace

void add_nvidia_runtime(const Context& ctx, Tree& tree) {
    if (find_entry(tree, "/usr/bin/crio") == nullptr ||
        find_entry(tree, "/usr/bin/nvidia-container-runtime") == nullptr) {
        return;
    }
    add_drop_in(ctx, tree);
    put_crun_first(ctx, tree);
    check_cdi(ctx, tree);
}

}  // namespace edgegpu
