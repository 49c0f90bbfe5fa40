#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "gpu_health/observe/steps.hpp"
#include "gpu_health/observe/tree.hpp"
#include "support/text/number.hpp"
#include "support/text/text.hpp"

namespace edgegpu::gpu_health {

namespace {

/// The first failure is what later ones come from, and the newest say how it is now.
constexpr std::size_t first_kept = 200;
constexpr std::size_t newest_kept = 2000;
/// A driver that writes without end must not keep the program reading.
constexpr std::size_t most_records = 500'000;
constexpr std::size_t longest_line = 1000;

/// Words in lower case of lines that matter. The kernel's lines on modules and lockdown say why
/// one was refused.
constexpr std::array<std::string_view, 11> words_of_interest{
    "nvrm",     "nvidia",   "nouveau",        "nova",  "xid", "module",
    "lockdown", "vfio-pci", "gpu has fallen", "10de:", "gsp"};

/// Addresses of GPUs and of the bridges above them, as the kernel writes them.
std::set<std::string> addresses_of(const Places& places,
                                   const std::vector<PciFunction>& functions) {
    std::set<std::string> addresses;
    for (const PciFunction& function : functions) {
        addresses.insert(function.address);
        const std::filesystem::path device =
            resolve(places.sys, "bus/pci/devices/" + function.address);
        for (const std::filesystem::path& part : device) {
            const std::string& name = part.native();
            // "0000:64:00.0", not "pci0000:64"
            if (std::ranges::count(name, ':') == 2 && name.find('.') == name.size() - 2) {
                addresses.insert(name);
            }
        }
    }
    return addresses;
}

bool is_of_interest(std::string_view text, const std::set<std::string>& addresses) {
    // The kernel's arguments name drivers, say nothing of them, and may hold a secret.
    if (text.starts_with("Command line: ") || text.starts_with("Kernel command line: ")) {
        return false;
    }
    const std::string lower = lower_case(text);
    const auto in_text = [&](std::string_view piece) {
        return lower.find(piece) != std::string::npos;
    };
    return std::ranges::any_of(words_of_interest, in_text) ||
           std::ranges::any_of(addresses, in_text);
}

/// /dev/kmsg writes bytes that do not print, and backslashes, as "\xNN"
/// (Documentation/ABI/testing/dev-kmsg).
std::string without_escapes(std::string_view text) {
    std::string plain;
    while (!text.empty()) {
        const auto code = text.size() >= 4 && text.starts_with("\\x")
                              ? whole_number<unsigned>(text.substr(2, 2), 16)
                              : std::nullopt;
        plain += code ? static_cast<char>(*code) : text.front();
        text.remove_prefix(code ? 4 : 1);
    }
    return plain;
}

struct Record {
    std::uint64_t sequence = 0;
    std::uint64_t microseconds = 0;
    /// Programs can write to the log as well, but not with the kernel's own facility, 0.
    bool from_kernel = false;
    std::string text;
};

/// "PRIORITY,SEQUENCE,MICROSECONDS,FLAGS[,…];TEXT", then lines " KEY=VALUE" that describe the
/// device. Nothing for any other text.
std::optional<Record> read_record(std::string_view text) {
    text = take_line(text);
    const std::size_t semicolon = text.find(';');
    if (semicolon == std::string_view::npos) {
        return std::nullopt;
    }
    const std::vector<std::string_view> numbers = split(text.substr(0, semicolon), ',');
    if (numbers.size() < 4) {
        return std::nullopt;
    }
    const auto priority = whole_number<std::uint64_t>(numbers[0]);
    const auto sequence = whole_number<std::uint64_t>(numbers[1]);
    const auto time = whole_number<std::uint64_t>(numbers[2]);
    if (!priority || !sequence || !time) {
        return std::nullopt;
    }
    constexpr std::uint64_t levels = 8;
    return Record{*sequence, *time, *priority < levels,
                  without_escapes(text.substr(semicolon + 1))};
}

/// What is kept of the log while it is read.
class Log {
public:
    explicit Log(std::set<std::string> addresses) : addresses_(std::move(addresses)) {}

    void add(std::string_view text) {
        const std::optional<Record> record = read_record(text);
        if (!record) {
            return;
        }
        if (!begun_) {
            cut_ = cut_ || record->sequence > 0;
            begun_ = true;
        }
        if (!record->from_kernel) {
            return;
        }
        // The driver writes several lines at once.
        for (const std::string_view line : lines_of(record->text)) {
            if (is_of_interest(line, addresses_)) {
                keep({record->microseconds, std::string(line.substr(0, longest_line))});
            }
        }
    }
    void miss() noexcept { cut_ = true; }

    void give(Facts& facts) {
        facts.kernel_log = std::move(first_);
        facts.kernel_log.insert(facts.kernel_log.end(), newest_.begin(), newest_.end());
        facts.kernel_log_cut = cut_;
    }

private:
    void keep(KernelMessage message) {
        if (first_.size() < first_kept) {
            first_.push_back(std::move(message));
            return;
        }
        newest_.push_back(std::move(message));
        if (newest_.size() > newest_kept) {
            newest_.pop_front();
        }
    }

    std::set<std::string> addresses_;
    std::vector<KernelMessage> first_;
    std::deque<KernelMessage> newest_;
    bool begun_ = false;
    bool cut_ = false;
};

/// One read gives one record; none is left: EAGAIN. Records that were overwritten: EPIPE.
void read_device(int file, Log& log) {
    std::string buffer(std::size_t{1} << 16U, '\0');
    for (std::size_t i = 0; i < most_records; ++i) {
        const ssize_t got = ::read(file, buffer.data(), buffer.size());
        if (got > 0) {
            log.add(std::string_view(buffer).substr(0, static_cast<std::size_t>(got)));
        } else if (got < 0 && errno == EPIPE) {
            log.miss();
        } else if (got == 0 || errno != EINTR) {
            return;
        }
    }
}

}  // namespace

void observe_kernel_log(const Places& places, Facts& facts) {
    constexpr std::size_t largest_log = std::size_t{64} << 20U;
    const auto fail = [&](const std::string& why) {
        throw std::runtime_error("the kernel's log " + places.kmsg.native() + ": " + why);
    };
    Log log(addresses_of(places, facts.functions));
    struct stat status {};
    if (::stat(places.kmsg.c_str(), &status) != 0) {
        fail(std::generic_category().message(errno));
    }
    if (S_ISCHR(status.st_mode)) {
        const int file = ::open(places.kmsg.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        if (file < 0) {
            fail(std::generic_category().message(errno));
        }
        read_device(file, log);
        ::close(file);
    } else {
        const std::filesystem::path path = std::filesystem::weakly_canonical(places.kmsg);
        const Reading reading =
            read_file(path.parent_path(), path.filename().native(), largest_log);
        if (!reading.good()) {
            fail(reading.why());
        }
        for (const std::string_view line : lines_of(reading.content)) {
            log.add(line);
        }
    }
    log.give(facts);
}

}  // namespace edgegpu::gpu_health
