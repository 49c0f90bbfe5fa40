#include "customise/updates/updates.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "customise/system/locale.hpp"
#include "customise/units/vendor_unit.hpp"
#include "embedded_updates.hpp"
#include "sandbox/image_program.hpp"
#include "support/error.hpp"

namespace edgegpu {

namespace {

/// A missing one would show on the device alone, as an update that never comes.
void require_programs(const UpdatesRequest& updates, const Tree& tree) {
    static constexpr std::array<std::string_view, 18> always{
        "ostree", "flock", "sed", "grep", "timeout", "sha256sum", "date", "df",  "sync",
        "head",   "tail",  "tr",  "cut",  "mkdir",   "rm",        "mv",   "cat", "sleep"};
    std::vector<std::string_view> missing;
    const auto require = [&](std::string_view program) {
        if (!has_program(tree, program)) {
            missing.push_back(program);
        }
    };
    std::ranges::for_each(always, require);
    if (updates.rollouts) {
        for (const char* const program : {"sort", "uniq", "join", "comm"}) {
            require(program);
        }
    }
    if (!(updates.lock.empty() && updates.report_to.empty()) && !has_program(tree, "curl")) {
        missing.emplace_back("curl");
    }
    if (!missing.empty()) {
        throw error(ErrorKind::usage, "{}: the image has no {}, which edgegpu-update needs",
                    updates.location.text(), fmt::join(missing, ", "))
            .hinted("add the package that contains it");
    }
}

std::string window_text(const UpdateWindow& window) {
    std::string days;
    for (const Weekday day : window.days) {
        days += fmt::format("{}{}", days.empty() ? "" : ",", enum_name(day));
    }
    return fmt::format("{} {} {}", days.empty() ? "*" : days, window.start, window.minutes);
}

/// The settings, as edgegpu-update reads them.
std::string settings(const Context& ctx, const UpdatesRequest& updates) {
    std::string text = "# For settings of one device: /etc/edgegpu/update.conf\n";
    const auto set = [&](std::string_view key, std::string_view value) {
        if (!value.empty()) {
            text += fmt::format("{}={}\n", key, value);
        }
    };
    set("policy", enum_name(updates.policy));
    set("check_every", std::to_string(updates.check_every));
    set("spread", std::to_string(updates.spread));
    set("rollouts", updates.rollouts ? "yes" : "");
    set("max_download", updates.max_download == 0 ? "" : std::to_string(updates.max_download));
    set("time_zone", updates.time_zone);
    for (const UpdateWindow& window : updates.windows) {
        set("window", window_text(window));
    }
    set("lock", updates.lock);
    set("lock_group", updates.lock_group);
    set("report_to", updates.report_to);
    set("proxy", updates.proxy);
    // No clock of a device is right that is behind it.
    set("built", std::to_string(ctx.source_date_epoch));
    return text;
}

}  // namespace

void add_updates(const Context& ctx, const std::optional<UpdatesRequest>& updates, Tree& tree) {
    if (!updates) {
        return;
    }
    require_programs(*updates, tree);
    if (!updates->time_zone.empty()) {
        check_timezone({updates->time_zone, {}, updates->time_zone_location}, tree);
    }
    const auto put = [&](const std::string& path, std::string_view text, std::uint32_t mode) {
        put_entry(tree, path, make_file_entry(ctx, std::string(text), mode));
    };
    put("/usr/lib/edgegpu/update.conf", settings(ctx, *updates), 0644);
    put("/usr/libexec/edgegpu/update/records", embedded::records, 0644);
    put("/usr/libexec/edgegpu/update/deployments", embedded::deployments, 0644);
    put("/usr/libexec/edgegpu/update/restraints", embedded::restraints, 0644);
    put("/usr/libexec/edgegpu/update/rollout", embedded::rollout, 0644);
    put("/usr/bin/edgegpu-update", embedded::edgegpu_update, 0755);
    put("/usr/lib/tmpfiles.d/edgegpu-update.conf", embedded::edgegpu_update_conf, 0644);
    put("/usr/lib/systemd/system/edgegpu-update.service", embedded::edgegpu_update_service, 0644);
    add_vendor_unit(ctx, tree, "edgegpu-update.timer", "timers.target",
                    std::string(embedded::edgegpu_update_timer));
}

void add_snapshot_update(const Context& ctx, Tree& tree) {
    if (find_entry(tree, "/usr/lib/systemd/system/sysinit.target") == nullptr) {
        return;  // no systemd
    }
    put_entry(tree, "/usr/libexec/edgegpu/snapshot-update",
              make_file_entry(ctx, embedded::snapshot_update, 0755));
    add_vendor_unit(ctx, tree, "edgegpu-snapshot-update.service", "sysinit.target",
                    std::string(embedded::edgegpu_snapshot_update_service));
}

}  // namespace edgegpu
