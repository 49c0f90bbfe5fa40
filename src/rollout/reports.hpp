#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace edgegpu {

/// What gpu-health found at a device's boot.
struct GpuFinding {
    /// "healthy", "image", "hardware", "machine" or "unclear"; empty: the image has no gpu-health
    std::string verdict;
    /// what decided, "xid-79"; empty: none
    std::string fault;
};

/// What a device says of itself: the fields of docs/schemas/update-report.json that rollouts ask
/// for.
struct DeviceReport {
    std::string id;
    /// Unix time
    std::int64_t time = 0;
    /// without its remote
    std::string ref;
    std::string commit;
    std::string state;
    std::string available;
    std::string refused;
    std::string system;
    std::string group;
    std::int64_t failures = 0;
    std::int64_t gpus = 0;
    GpuFinding gpu_health;
};

/// Reports, of one device possibly several, and how much was none.
struct DeviceReports {
    std::vector<DeviceReport> reports;
    std::size_t unreadable = 0;
};

/// The reports in a text: JSON objects one after another, on any number of lines, in a list or not.
/// Anybody may have written it: what is cut off, too large, too deep or no report is counted, and
/// what follows is read. Throws Error if more than 1000 are none; `shown` is its name.
void read_reports(std::string_view text, const std::string& shown, DeviceReports& read);

/// The same of a file, or of all regular files of a directory, not through links. Throws Error for
/// what cannot be read, for a file of more than 1 GiB and more than two million reports.
[[nodiscard]] DeviceReports read_report_files(const std::filesystem::path& path);

}  // namespace edgegpu
