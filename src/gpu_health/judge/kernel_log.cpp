#include <algorithm>
#include <map>

#include "gpu_health/judge/examination.hpp"
#include "support/text/number.hpp"
#include "support/text/text.hpp"

namespace edgegpu::gpu_health {

namespace {

bool is_hex_run(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    });
}

/// The first "0000:65:00.0" or "0000:65:00" of a text, as normal_address gives it; empty: none.
std::string address_in(std::string_view text) {
    constexpr std::size_t shortest = 10;
    for (std::size_t at = 0; at + shortest <= text.size(); ++at) {
        const std::string_view rest = text.substr(at);
        const bool begins = at == 0 || !is_hex_run(text.substr(at - 1, 1));
        if (!begins || rest[4] != ':' || rest[7] != ':' || !is_hex_run(rest.substr(0, 4)) ||
            !is_hex_run(rest.substr(5, 2)) || !is_hex_run(rest.substr(8, 2))) {
            continue;
        }
        const bool has_function = rest.size() > shortest + 1 && rest[shortest] == '.' &&
                                  rest[shortest + 1] >= '0' && rest[shortest + 1] <= '7';
        return normal_address(rest.substr(0, has_function ? shortest + 2 : shortest));
    }
    return {};
}

/// The GPU of the slot that an address is in: a card's audio function has the same. The address
/// itself if the machine has no such GPU (any longer).
std::string gpu_of_slot(const Facts& facts, const std::string& address, bool& known) {
    const std::string slot = address.substr(0, address.find('.'));
    for (const PciFunction& function : facts.functions) {
        std::string other = normal_address(function.address);
        if (other.substr(0, other.find('.')) == slot) {
            known = true;
            return other;
        }
    }
    known = false;
    return address;
}

/// What the driver said about an error by number: "NVRM: Xid (PCI:0000:65:00): 79, pid=…", of a
/// switch "nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 20034, Fatal, …".
struct NumberedError {
    bool of_switch = false;
    std::string device;
    int number = 0;
    /// what follows the number
    std::string_view text;
};

std::optional<NumberedError> numbered_error(std::string_view message) {
    constexpr std::string_view mark = "Xid (";
    const std::size_t at = message.find(mark);
    if (at == std::string_view::npos) {
        return std::nullopt;
    }
    const std::size_t end = message.find("):", at);
    if (end == std::string_view::npos) {
        return std::nullopt;
    }
    NumberedError error;
    error.of_switch = at > 0 && message[at - 1] == 'S';
    error.device = address_in(message.substr(at, end - at));
    error.text = trim(message.substr(end + 2));
    const std::optional<int> number = take_number<int>(error.text);
    if (!number) {
        return std::nullopt;
    }
    error.number = *number;
    return error;
}

/// "GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)": the second number.
std::optional<int> new_recovery_action(std::string_view text) {
    constexpr std::string_view mark = ") to 0x";
    const std::size_t at = text.find(mark);
    if (at == std::string_view::npos) {
        return std::nullopt;
    }
    std::string_view rest = text.substr(at + mark.size());
    return take_number<int>(rest, 16);
}

/// The findings of the log by fault and device: a message that comes a thousand times is one.
class LogFindings {
public:
    explicit LogFindings(Examination& examination) : examination_(examination) {}

    void add(const std::string& word, const std::string& fault, const std::string& device,
             const std::string& text, const std::string& action) {
        const auto [known, is_new] =
            indexes_.emplace(std::pair(fault, device), examination_.found.size());
        if (!is_new) {
            ++counts_[known->second];
            return;
        }
        counts_[known->second] = 1;
        const std::optional<Verdict> verdict = verdict_of_word(word);
        if (verdict) {
            report(examination_, Step::kernel_log, *verdict, fault, device, text, action);
        } else {
            report_note(examination_, Step::kernel_log, fault, device, text, action);
        }
    }

    /// The driver took back what it said of a GPU before: faults that begin with `prefix`.
    void take_back(std::string_view prefix, const std::string& device) {
        for (const auto& [key, index] : indexes_) {
            if (key.second == device && key.first.starts_with(prefix)) {
                examination_.found[index].finding.note = true;
            }
        }
    }

    /// Says how often each came.
    void end() {
        for (const auto& [index, count] : counts_) {
            if (count > 1) {
                examination_.found[index].finding.text += " (" + std::to_string(count) + " times)";
            }
        }
    }

private:
    Examination& examination_;
    std::map<std::pair<std::string, std::string>, std::size_t> indexes_;
    std::map<std::size_t, std::size_t> counts_;
};

void add_numbered(const NumberedError& error, const Tables& tables, const std::string& text,
                  LogFindings& findings) {
    const std::string number = std::to_string(error.number);
    constexpr int recovery_action_changed = 154;
    if (error.of_switch) {
        // "Fatal" or "Non-fatal" follows.
        const bool fatal = error.text.find("Fatal") != std::string_view::npos;
        findings.add(fatal ? "hardware" : "note", "sxid-" + number, error.device, text,
                     "Look at nvidia-fabricmanager and the NVSwitch of this address");
        return;
    }
    if (error.number == recovery_action_changed) {
        const std::optional<int> action = new_recovery_action(error.text);
        const bool none = action == 0;
        if (none) {
            findings.take_back("recovery-action-", error.device);
        }
        findings.add(none ? "note" : "hardware",
                     "recovery-action-" + (action ? std::to_string(*action) : "unknown"),
                     error.device, text, "Do what NVIDIA's driver asks for");
        return;
    }
    const auto row = tables.xids.find(error.number);
    if (row == tables.xids.end()) {
        findings.add("unclear", "xid-" + number, error.device, text,
                     "The table of Xids does not have this number: see NVIDIA's documentation");
        return;
    }
    // NVLink 5 (144 to 150) has errors after which the link goes on.
    const bool goes_on = error.text.find("Nonfatal") != std::string_view::npos;
    findings.add(goes_on ? "note" : row->second.verdict, "xid-" + number, error.device,
                 row->second.meaning + ": " + text, row->second.action);
}

/// The driver breaks long messages into lines, each with its prefix: in one record of the kernel's
/// log, or as records of their own where a journal was recorded.
std::string joined_lines(std::string_view text) {
    std::string joined;
    for (std::string_view line : lines_of(text)) {
        line = trim(line);
        constexpr std::string_view prefix = "NVRM: ";
        if (!joined.empty() && line.starts_with(prefix)) {
            line = line.substr(prefix.size());
        }
        joined += (joined.empty() ? "" : " ") + std::string(line);
    }
    return joined;
}

}  // namespace

void judge_kernel_log(Examination& examination) {
    const Facts& facts = examination.facts;
    if (facts.kernel_log_cut) {
        report_note(examination, Step::kernel_log, "kernel-log-cut", {},
                    "the beginning of the kernel's log is lost", "Enlarge it: log_buf_len=4M");
    }
    if (!is_known(facts, Step::kernel_log)) {
        return;
    }
    LogFindings findings(examination);
    std::string last_device;
    for (const KernelMessage& message : facts.kernel_log) {
        const std::string text = joined_lines(message.text);
        const bool is_driver = text.find("NVRM") != std::string::npos;
        if (const auto error = numbered_error(text)) {
            add_numbered(*error, examination.tables, text, findings);
            continue;
        }
        std::string device = address_in(text);
        bool is_known_gpu = true;
        if (!device.empty()) {
            device = gpu_of_slot(facts, device, is_known_gpu);
        } else if (is_driver) {
            device = last_device;
        }
        // A line of NVRM without an address may continue the line before it.
        last_device = is_driver ? device : "";
        const auto row = std::ranges::find_if(
            examination.tables.messages,
            [&](const MessageRow& one) { return text.find(one.piece) != std::string::npos; });
        if (row != examination.tables.messages.end() && (is_known_gpu || is_driver)) {
            findings.add(row->verdict, row->fault, device, text, row->action);
        }
    }
    findings.end();
}

}  // namespace edgegpu::gpu_health
