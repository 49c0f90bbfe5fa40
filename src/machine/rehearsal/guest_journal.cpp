#include "machine/rehearsal/guest_journal.hpp"

#include "support/error.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

constexpr std::chrono::seconds journal_limit{60};
constexpr std::size_t journal_lines = 20;

}  // namespace

void add_journal(Guest& guest, const std::string& selection, std::vector<std::string>& details) {
    try {
        const GuestResult answer = guest.run(
            "export SYSTEMD_COLORS=0\njournalctl -b --no-pager -q -o short-monotonic -n " +
                std::to_string(journal_lines) + ' ' + selection + " 2>&1",
            journal_limit);
        const std::vector<std::string> lines = last_lines(answer.output, journal_lines);
        if (lines.empty()) {
            return;
        }
        details.emplace_back("the journal:");
        for (const std::string& line : lines) {
            details.push_back("  " + line);
        }
    } catch (const Error& failure) {
        if (failure.kind() == ErrorKind::interrupted) {
            throw;
        }
        details.push_back("no journal: " + failure.message());
    }
}

long seconds_since(std::chrono::steady_clock::time_point then) {
    return static_cast<long>(
        std::chrono::ceil<std::chrono::seconds>(std::chrono::steady_clock::now() - then).count());
}

}  // namespace edgegpu
