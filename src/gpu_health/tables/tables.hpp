#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace edgegpu::gpu_health {

/// A row of messages.tsv: a piece of a kernel message, and what it means.
struct MessageRow {
    /// literal piece, compared byte by byte
    std::string piece;
    /// "image", "hardware", "machine", "unclear", "note" (reported, never counted)
    std::string verdict;
    /// stable name of the fault, "fallen-off-the-bus"
    std::string fault;
    std::string action;
    std::string source;
};

/// A row of xid.tsv or nvml.tsv: a number, and what it means.
struct CodeRow {
    /// as in MessageRow; of Xids also "application"
    std::string verdict;
    std::string meaning;
    std::string action;
    std::string source;
};

/// Tables as data: tab-separated, the first line a comment with the date; a device may have newer
/// ones in /etc/edgegpu/gpu-health/{messages,xid,nvml}.tsv.
struct Tables {
    /// dates of the three, "2026-11-29"
    std::string date;
    /// The first row whose piece is in a message counts.
    std::vector<MessageRow> messages;
    std::map<int, CodeRow> xids;
    std::map<int, CodeRow> nvml;
};

/// The tables that the program is built with.
[[nodiscard]] Tables shipped_tables();

/// Reads one table and puts it in the place of that of the same name: "messages", "xid", "nvml".
/// Throws std::runtime_error "line N: …".
void read_table(std::string_view name, std::string_view text, Tables& tables);

}  // namespace edgegpu::gpu_health
