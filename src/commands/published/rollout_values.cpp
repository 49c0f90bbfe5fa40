#include "commands/published/rollout_values.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <ctime>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "rollout/plan.hpp"
#include "support/error.hpp"
#include "support/text/quantity.hpp"

namespace edgegpu {

namespace {

constexpr std::int64_t day = 86400;

Error no_time(const std::string& text) {
    return error(ErrorKind::usage, "--at {}: not a time", text)
        .hinted("as in 2027-01-31T22:00, which is UTC, or @1801432800, seconds since 1970");
}

/// The time of "2027-01-31T22:00:05", UTC.
std::int64_t calendar_time(const std::string& text) {
    std::string plain = text;
    if (plain.ends_with('Z')) {
        plain.pop_back();
    }
    std::ranges::replace(plain, 'T', ' ');
    for (const char* form : {"%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M"}) {
        struct tm fields {};
        const char* end = ::strptime(plain.c_str(), form, &fields);
        if (end == nullptr || *end != '\0') {
            continue;
        }
        const struct tm asked = fields;
        const std::int64_t time = ::timegm(&fields);
        // 31 April is none.
        if (fields.tm_mday == asked.tm_mday && fields.tm_sec == asked.tm_sec) {
            return time;
        }
    }
    throw no_time(text);
}

}  // namespace

std::int64_t parse_share(const std::string& option, const std::string& text) {
    double value = 0;
    const bool sign = text.ends_with('%');
    const char* end = text.data() + text.size() - (sign ? 1 : 0);
    const auto [stop, code] = std::from_chars(text.data(), end, value, std::chars_format::fixed);
    constexpr double all = 100;
    if (!sign || code != std::errc() || stop != end || !(value >= 0 && value <= all)) {
        throw error(ErrorKind::usage, "{} {}: not a share between 0% and 100%", option, text)
            .hinted("as in 5% or 0.5%");
    }
    return std::llround(value * static_cast<double>(whole_share) / all);
}

std::int64_t parse_start(const std::string& text, std::int64_t now) {
    if (text.empty()) {
        return now;
    }
    std::int64_t time = 0;
    if (text.front() == '@') {
        const auto [end, code] = std::from_chars(text.data() + 1, text.data() + text.size(), time);
        if (code != std::errc() || end != text.data() + text.size()) {
            throw no_time(text);
        }
    } else {
        time = calendar_time(text);
    }
    if (time < now || time > now + 3653 * day) {
        throw error(ErrorKind::usage, "--at {}: is {}", text,
                    time < now ? "in the past" : "more than ten years from now")
            .hinted(time < now ? "without --at, it begins now; the time is UTC"
                               : "begin it when it is time");
    }
    return time;
}

std::int64_t seconds_of(const std::string& text, std::int64_t fallback) {
    if (text.empty()) {
        return fallback;
    }
    return text == "0" ? 0 : parse_duration(text).value_or(std::chrono::seconds(0)).count();
}

void require_fitting_options(const RolloutCommand& command) {
    struct Given {
        std::string_view name;
        bool given;
        std::vector<std::string_view> actions;
    };
    const std::vector<std::string_view> changing{"start", "pause", "resume",
                                                 "abort", "renew", "check"};
    const std::vector<Given> options{
        {"--commit", !command.commit.empty(), {"start", "abort"}},
        {"--at", !command.at.empty(), {"start"}},
        {"--share", !command.share.empty(), {"start"}},
        {"--over", !command.over.empty(), {"start"}},
        {"--barrier", !command.barrier.empty(), {"start"}},
        {"--reason", !command.reason.empty(), {"start", "pause", "abort"}},
        {"--expires", !command.expires.empty(), changing},
        {"--sign", !command.keys.sign.empty(), changing},
        {"--sign-ed25519", !command.keys.sign_ed25519.empty(), changing},
        {"--sign-command", !command.keys.sign_command.empty(), changing},
        {"--dry-run", command.dry_run, changing},
        {"--lock-wait", !command.lock_wait.empty(), changing},
        {"--graph", command.graph, {"status"}},
        {"--health-from", !command.health_from.empty(), {"status", "check"}},
        {"--max-failures", !command.max_failures.empty(), {"check"}},
        {"--min-reports", command.min_reports != 0, {"check"}},
        {"--max-unavailable", command.max_unavailable.has_value(), {"check"}}};
    for (const Given& option : options) {
        if (option.given &&
            std::ranges::find(option.actions, command.action) == option.actions.end()) {
            throw error(ErrorKind::usage, "edgegpu rollout {}: {} is for {} only", command.action,
                        option.name, fmt::join(option.actions, ", "))
                .hinted("see edgegpu rollout --help");
        }
    }
    if (command.action == "check" && (command.health_from.empty() ||
                                      (command.max_failures.empty() && !command.max_unavailable))) {
        throw error(
            ErrorKind::usage, "edgegpu rollout check: {} is missing",
            command.health_from.empty() ? "--health-from" : "--max-failures or --max-unavailable")
            .hinted("as in --health-from /srv/reports --max-failures 2%");
    }
}

}  // namespace edgegpu
