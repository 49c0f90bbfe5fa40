#include "machine/agent_channel.hpp"

#include <algorithm>
#include <random>
#include <utility>

#include <fmt/format.h>
#include <glib.h>

#include "support/base64.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/glib.hpp"
#include "support/text/number.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

/// A kernel keeps 4096 bytes of what nobody has read yet.
constexpr std::size_t longest_frame = 4096;
/// of a script in one frame; four thirds of it in base64
constexpr std::size_t part_size = 2250;
constexpr std::size_t most_output = 256UL << 10U;
constexpr int most_attempts = 3;

/// Of a request; answers to earlier ones have others.
std::string new_id() {
    std::random_device device;
    return fmt::format("{:08x}{:08x}", device(), device());
}

bool is_boot_id(std::string_view text) {
    return text.size() == 36 && text.find_first_not_of("0123456789abcdef-") == text.npos;
}

/// Letters and hyphens, as systemd has them: it is shown.
bool is_state(std::string_view text) {
    return !text.empty() && text.size() <= 32 &&
           text.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == text.npos;
}

/// The output of a script as it arrives in parts. What does not arrive in order is not it.
class Arrival {
public:
    void add(std::string_view sequence, const std::string& text) {
        const std::optional<std::size_t> index = whole_number<std::size_t>(sequence);
        if (index == std::size_t{0}) {
            output_.clear();
            parts_ = 0;
        }
        if (index == parts_ && output_.size() <= most_output) {
            output_ += from_base64(text);
            ++parts_;
        }
    }

    /// The result that the words "done ID STATUS TIMED-OUT BYTES SHA256" announce, if it is what
    /// arrived.
    [[nodiscard]] std::optional<GuestResult> result(const std::vector<std::string>& words) const {
        const std::optional<std::size_t> status =
            words.size() == 6 ? whole_number<std::size_t>(words[2]) : std::nullopt;
        if (!status || *status > 255 || whole_number<std::size_t>(words[4]) != output_.size() ||
            output_.size() > most_output || words[5] != sha256_hex(output_)) {
            return std::nullopt;
        }
        return GuestResult{static_cast<int>(*status), output_, words[3] == "1"};
    }

private:
    std::string output_;
    std::size_t parts_ = 0;
};

}  // namespace

AgentChannel::AgentChannel(const Watch& watch, Fd socket)
    : watch_(watch), channel_(std::move(socket), longest_frame) {}

void AgentChannel::read() {
    channel_.read();
    while (next()) {
    }
}

std::optional<AgentChannel::Words> AgentChannel::next() {
    while (const std::optional<std::string> line = channel_.next()) {
        const std::vector<std::string_view> parts = words_of(*line);
        if (parts.size() < 3 || parts[0] != "@edgegpu") {
            continue;
        }
        Words words(parts.begin() + 1, parts.end());
        if (words[0] == "hello") {
            if (words.size() == 4 && words[1] == "1" && is_boot_id(words[2]) &&
                is_state(words[3])) {
                greeting_ = AgentGreeting{words[2], words[3]};
            }
            continue;
        }
        if (words[0] == "bye") {
            greeting_.reset();
            continue;
        }
        return words;
    }
    return std::nullopt;
}

void AgentChannel::check_boot(const std::string& boot_id) const {
    if (channel_.closed()) {
        throw error("the guest is gone: its machine has ended");
    }
    if (!greeting_) {
        throw error("the guest went down while a script ran in it");
    }
    if (greeting_->boot_id != boot_id) {
        throw error("the guest restarted while a script ran in it");
    }
}

AgentChannel::Words AgentChannel::await(const Wait& wait, const std::string& id,
                                        const std::string& request, const std::string& boot_id) {
    auto again = std::chrono::steady_clock::now() + resend_after;
    for (;;) {
        while (std::optional<Words> words = next()) {
            if ((*words)[1] == id) {
                return std::move(*words);
            }
        }
        check_boot(boot_id);
        if (!request.empty() && std::chrono::steady_clock::now() >= again) {
            channel_.send(wait, request);
            again = std::chrono::steady_clock::now() + resend_after;
        }
        wait.readable(channel_.descriptor());
        channel_.read();
    }
}

void AgentChannel::put(const std::string& id, std::string_view script, const std::string& boot_id) {
    std::size_t sequence = 0;
    do {
        const std::string part = to_base64(script.substr(0, part_size));
        const std::string request = fmt::format("@edgegpu put {} {} {}\n", id, sequence, part);
        const Wait wait(watch_, "the guest did not take a script", patience);
        channel_.send(wait, request);
        Words words;
        do {
            words = await(wait, id, request, boot_id);
        } while (words[0] != "got" || words.size() != 3 ||
                 whole_number<std::size_t>(words[2]) != sequence);
        script.remove_prefix(std::min(part_size, script.size()));
        ++sequence;
    } while (!script.empty());
}

GuestResult AgentChannel::run(std::string_view script, std::chrono::seconds limit) {
    return run(script, limit, false);
}

GuestResult AgentChannel::run_once(std::string_view script, std::chrono::seconds limit) {
    return run(script, limit, true);
}

GuestResult AgentChannel::run(std::string_view script, std::chrono::seconds limit, bool once) {
    read();
    if (!greeting_) {
        throw error("the guest does not answer: it is not up");
    }
    const std::string boot_id = greeting_->boot_id;
    const std::string id = new_id();
    // An empty script has no parts.
    const std::string sent = script.empty() ? "\n" : std::string(script);
    put(id, sent, boot_id);
    const std::string request = fmt::format("@edgegpu run {} {} {}\n", id,
                                            std::max<long>(limit.count(), 1), sha256_hex(sent));
    const Wait whole(watch_, "the guest did not end a script", limit + margin);
    Arrival arrival;
    int attempts = 0;
    channel_.send(whole, request);
    while (!whole.over()) {
        // Each frame shows that the agent is there.
        const Wait silence(watch_, "the guest did not answer", std::min(patience, whole.left()));
        const Words words = await(silence, id, once ? "" : request, boot_id);
        if (words[0] == "data" && words.size() == 4) {
            arrival.add(words[2], words[3]);
        } else if (words[0] == "bad" || words[0] == "done") {
            if (words[0] == "done") {
                if (std::optional<GuestResult> result = arrival.result(words)) {
                    return std::move(*result);
                }
            }
            if (once || ++attempts == most_attempts) {
                throw error("what a script printed in the guest did not arrive undamaged")
                    .hinted("is something else writing to the guest's second serial port?");
            }
            channel_.send(silence, request);
        }
    }
    throw whole.timeout();
}

}  // namespace edgegpu
