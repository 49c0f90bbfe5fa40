#include "rollout/reports.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <nlohmann/json.hpp>

#include "rollout/plan.hpp"
#include "support/error.hpp"
#include "support/files/directory.hpp"
#include "support/files/file.hpp"
#include "support/handles.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

using nlohmann::json;

constexpr std::string_view report_format = "edgegpu-update-report/1";
constexpr std::size_t largest_report = 64U << 10U;
constexpr std::size_t most_unreadable = 1000;
constexpr std::size_t most_reports = 2'000'000;
/// A report is flat; collectors may put something of their own into it.
constexpr std::size_t deepest_report = 16;
constexpr std::size_t id_digits = 32;

/// The length of the JSON object at the beginning of `text`; nothing if it does not end as one.
std::optional<std::size_t> object_size(std::string_view text) {
    std::size_t depth = 0;
    bool in_string = false;
    for (std::size_t i = 0; i < std::min(text.size(), largest_report); ++i) {
        const char c = text[i];
        if (in_string) {
            if (c == '\n') {
                return std::nullopt;  // which no string of JSON has: it was cut off
            }
            i += c == '\\' && i + 1 < text.size() && text[i + 1] != '\n' ? 1 : 0;
            in_string = c != '"';
        } else if (c == '"') {
            in_string = true;
        } else if (c == '{' || c == '[') {
            if (++depth > deepest_report) {
                return std::nullopt;
            }
        } else if ((c == '}' || c == ']') && --depth == 0) {
            return i + 1;
        }
    }
    return std::nullopt;
}

std::string text_in(const json& report, const char* key) {
    std::string text = report.at(key).get<std::string>();
    constexpr std::size_t longest = 1024;
    if (text.size() > longest) {
        throw error("{} is too long", key);
    }
    return text;
}

std::int64_t number_in_report(const json& report, const char* key) {
    const json& value = report.at(key);
    // Larger ones are no std::int64_t, whatever get() makes of them.
    if (!value.is_number_unsigned() ||
        value.get<std::uint64_t>() > static_cast<std::uint64_t>(largest_number)) {
        throw error("{} is no number of a report", key);
    }
    return value.get<std::int64_t>();
}

std::string commit_in(const json& report, const char* key) {
    std::string commit = text_in(report, key);
    if (!commit.empty() && !is_sha256(commit)) {
        throw error("{} is no commit", key);
    }
    return commit;
}

/// Throws if it is not as docs/schemas/update-report.json has it.
GpuFinding gpu_finding_in(const json& health) {
    constexpr std::array<std::string_view, 5> verdicts{"healthy", "image", "hardware", "machine",
                                                       "unclear"};
    GpuFinding finding;
    finding.verdict = text_in(health, "verdict");
    finding.fault = text_in(health, "fault");
    constexpr std::size_t longest_fault = 64;
    constexpr const char* fault_letters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-";
    if (std::ranges::find(verdicts, finding.verdict) == verdicts.end() ||
        finding.fault.size() > longest_fault ||
        finding.fault.find_first_not_of(fault_letters) != std::string::npos ||
        !health.at("red").is_boolean()) {
        throw Error("no verdict of gpu-health");
    }
    return finding;
}

/// Throws what says that it is none.
DeviceReport report_in(std::string_view text) {
    const json document = json::parse(text);
    if (document.at("format") != report_format) {
        throw Error("another format");
    }
    DeviceReport report;
    report.id = text_in(document, "id");
    if (report.id.size() != id_digits || !is_hexadecimal(report.id)) {
        throw Error("no id of a device");
    }
    report.time = number_in_report(document, "time");
    report.ref = text_in(document, "ref");
    report.ref.erase(0, report.ref.find(':') + 1);
    report.commit = commit_in(document, "commit");
    report.state = text_in(document, "state");
    report.available = commit_in(document, "available");
    report.refused = commit_in(document, "refused");
    report.system = text_in(document, "system");
    report.failures = number_in_report(document, "failures");
    report.gpus = number_in_report(document, "gpus");
    if (document.contains("group")) {
        report.group = text_in(document, "group");
    }
    if (document.contains("gpu_health")) {
        report.gpu_health = gpu_finding_in(document.at("gpu_health"));
    }
    return report;
}

/// Where the first report in `text` begins that is not at its very beginning: the object around the
/// next name of the format; nothing if there is none. Braces in strings may mislead it, so that
/// what it finds is no report.
std::optional<std::size_t> next_report(std::string_view text) {
    std::size_t first = 1;
    for (std::size_t name = text.find(report_format); name != std::string_view::npos;
         first = name, name = text.find(report_format, name + 1)) {
        std::size_t closed = 0;
        // Not further back than the name before: each byte is looked at once.
        for (std::size_t i = name; i-- > first;) {
            if (text[i] == '}') {
                ++closed;
            } else if (text[i] == '{' && closed-- == 0) {
                return i;
            }
        }
    }
    return std::nullopt;
}

/// Whether it is a report.
bool add_report(std::string_view text, const std::string& shown, DeviceReports& read) {
    std::optional<DeviceReport> report;
    try {
        report = report_in(text);
    } catch (const json::exception&) {
        // what is told below
    } catch (const Error&) {
        // the same
    }
    if (!report) {
        return false;
    }
    if (read.reports.size() == most_reports) {
        throw error("{}: there are more than {} reports", shown, most_reports)
            .hinted("keep the newest report of each device");
    }
    read.reports.push_back(std::move(*report));
    return true;
}

}  // namespace

void read_reports(std::string_view text, const std::string& shown, DeviceReports& read) {
    std::size_t begin = 0;
    while ((begin = text.find_first_not_of(" \t\r\n,[]", begin)) != std::string_view::npos) {
        const std::string_view rest = text.substr(begin);
        const std::optional<std::size_t> size =
            rest.front() == '{' ? object_size(rest) : std::nullopt;
        if (size && add_report(rest.substr(0, *size), shown, read)) {
            begin += *size;
            continue;
        }
        // One device may not hide the others: their reports can be in it, or follow on its line.
        ++read.unreadable;
        const std::size_t end = size ? *size : std::min(rest.find('\n'), rest.size());
        begin += next_report(rest.substr(0, end)).value_or(end);
        if (read.unreadable > most_unreadable) {
            throw error("{}: has more than {} objects that are no reports of devices", shown,
                        most_unreadable)
                .hinted("the form of reports is docs/schemas/update-report.json");
        }
    }
}

DeviceReports read_report_files(const std::filesystem::path& path) {
    DeviceReports read;
    const Fd place(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    struct stat status {};
    if (!place || ::fstat(place.get(), &status) != 0) {
        throw errno_error(path.string(), errno);
    }
    if (!S_ISDIR(status.st_mode)) {
        read_reports(read_file(place.get(), path.string()), path.string(), read);
        return read;
    }
    std::optional<std::vector<std::string>> names =
        names_in(open_at(place.get(), ".", O_RDONLY | O_DIRECTORY, 0));
    if (!names) {
        throw errno_error(path.string(), errno);
    }
    std::ranges::sort(*names);
    for (const std::string& name : *names) {
        struct stat kind {};
        // Collectors write beside what they replace.
        if (name.front() == '.' ||
            ::fstatat(place.get(), name.c_str(), &kind, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(kind.st_mode)) {
            continue;
        }
        const std::string shown = (path / name).string();
        const Fd file = open_at(place.get(), name, O_RDONLY | O_NONBLOCK,
                                RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
        if (!file && errno == ENOENT) {
            continue;
        }
        // Left out, what failing devices report would make a rollout look good.
        if (!file || ::fstat(file.get(), &kind) != 0) {
            throw errno_error(shown, errno)
                .hinted("whoever checks a rollout has to be able to read all reports");
        }
        if (S_ISREG(kind.st_mode)) {
            read_reports(read_file(file.get(), shown), shown, read);
        }
    }
    return read;
}

}  // namespace edgegpu
