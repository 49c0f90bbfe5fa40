#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "blueprint/tables/tables.hpp"
#include "blueprint/toml/validate.hpp"
#include "support/source_location.hpp"
#include "support/text/quantity.hpp"

namespace edgegpu {

namespace {

using std::chrono::seconds;

constexpr seconds day{24 * 60 * 60};
/// That edgegpu-update reads: eleven digits.
constexpr std::uint64_t most_bytes = 99'999'999'999;

/// In seconds; `fallback` if the key is absent. Notes any value outside of the limits.
std::uint32_t read_time(const TableReader& table, std::string_view key, seconds fallback,
                        seconds least, seconds most) {
    if (!table.has(key)) {
        return static_cast<std::uint32_t>(fallback.count());
    }
    const std::string text = table.string(key);
    const std::optional<seconds> time = parse_duration(text);
    if (!time) {
        table.note(
            error_at(table, key, "\"{}\" is not a duration: \"{}\"", table.full_name(key), text)
                .hinted(std::string(duration_forms)));
    } else if (*time < least || *time > most) {
        table.note(error_at(table, key, "\"{}\" must be from {} to {} minutes",
                            table.full_name(key), least.count() / 60, most.count() / 60));
    } else {
        return static_cast<std::uint32_t>(time->count());
    }
    return static_cast<std::uint32_t>(fallback.count());
}

/// Every process of a device can read it there.
std::string read_public_url(const TableReader& table, std::string_view key) {
    std::string url = table.string(key);
    if (url.empty()) {
        return url;
    }
    const bool http = url.starts_with("http://") || url.starts_with("https://");
    const std::size_t host = url.find("://") + 3;
    if (!http || host >= url.size() || url.find_first_of(" \t") != std::string::npos) {
        table.note(error_at(table, key, "\"{}\" must be a URL with http:// or https://",
                            table.full_name(key)));
    } else if (url.substr(host, url.find_first_of("/?#", host) - host).find('@') !=
               std::string::npos) {
        table.note(error_at(table, key,
                            "\"{}\" has a user or a password, which all devices and all of their "
                            "programs would know",
                            table.full_name(key))
                       .hinted(fmt::format("put the line {}=URL into /etc/edgegpu/update.conf of "
                                           "each device",
                                           key)));
    }
    return url;
}

bool is_time_of_day(std::string_view text) {
    const auto digit = [&](std::size_t at, char most) {
        return text[at] >= '0' && text[at] <= most;
    };
    return text.size() == 5 && text[2] == ':' && digit(0, '2') &&
           digit(1, text[0] == '2' ? '3' : '9') && digit(3, '5') && digit(4, '9');
}

UpdateWindow read_window(const TableReader& table) {
    UpdateWindow window;
    for (const LocatedString& name : table.strings("days")) {
        if (const std::optional<Weekday> day_of_week = value_named<Weekday>(name.value)) {
            window.days.push_back(*day_of_week);
        } else {
            table.note(error_at(name.location, "there is no day \"{}\"", name.value)
                           .hinted("one of " + expected_names<Weekday>()));
        }
    }
    std::ranges::sort(window.days);
    window.days.erase(std::unique(window.days.begin(), window.days.end()), window.days.end());
    table.attempt([&] { window.start = table.required_string("start"); });
    if (!window.start.empty() && !is_time_of_day(window.start)) {
        table.note(error_at(table, "start", "\"{}\" is not a time of day", window.start)
                       .hinted("as in \"02:00\" or \"22:30\""));
    }
    if (table.attempt([&] { static_cast<void>(table.required_string("length")); })) {
        // The device looks every five minutes.
        window.minutes = read_time(table, "length", {}, std::chrono::minutes(15), 7 * day) / 60;
    }
    table.finish();
    return window;
}

}  // namespace

UpdatesRequest read_updates(const TableReader& table) {
    UpdatesRequest updates;
    updates.location = table.location();
    updates.policy = table.choice("policy", updates.policy);
    updates.check_every = read_time(table, "check_every", seconds(updates.check_every),
                                    std::chrono::minutes(5), 7 * day);
    updates.spread = read_time(table, "spread", {}, {}, 30 * day);
    updates.rollouts = table.boolean("rollouts", false);
    updates.max_download = read_size(table, "max_download");
    if (updates.max_download > most_bytes) {
        table.note(error_at(table, "max_download", "\"{}\" is more than any version has",
                            table.full_name("max_download"))
                       .hinted("leave it out for no limit"));
    }
    updates.time_zone = table.string("time_zone");
    updates.time_zone_location = table.location("time_zone");
    for (const TableReader& window : table.tables("windows")) {
        updates.windows.push_back(read_window(window));
    }
    if (!updates.time_zone.empty() && updates.windows.empty()) {
        table.note(error_at(updates.time_zone_location, "a time zone without windows")
                       .hinted("it is that of [[updates.windows]]; the device's own is set in "
                               "[customizations.timezone]"));
    }
    updates.lock = read_public_url(table, "lock");
    updates.lock_group = table.string("lock_group");
    if (!updates.lock_group.empty() && !is_plain_name(updates.lock_group, "_.-")) {
        table.note(
            error_at(table, "lock_group", "\"{}\" is not the name of a group", updates.lock_group)
                .hinted("letters, digits, '_', '.' and '-'"));
    }
    updates.report_to = read_public_url(table, "report_to");
    updates.proxy = read_public_url(table, "proxy");
    table.finish();
    return updates;
}

}  // namespace edgegpu
