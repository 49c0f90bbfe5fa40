#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "machine/guest.hpp"
#include "machine/line_channel.hpp"
#include "machine/wait.hpp"

namespace edgegpu {

/// What the agent in the guest last said of itself.
struct AgentGreeting {
    /// /proc/sys/kernel/random/boot_id: another one after each boot
    std::string boot_id;
    /// As in "systemctl is-system-running", once it has settled; before, "starting".
    std::string state;
};

/// The protocol with the agent (machine/guest/guest-agent describes it). Everything that is not one
/// of its frames is ignored: firmware and boot loader write to each serial port. For the same
/// reason nothing is sent before the agent has greeted: firmware takes it for keys.
class AgentChannel {
public:
    /// `watch` must outlive it.
    AgentChannel(const Watch& watch, Fd socket);

    /// Reads what has come, without waiting.
    void read();
    /// Nothing before the first greeting, after the agent's good-bye, and after `forget`.
    [[nodiscard]] const std::optional<AgentGreeting>& greeting() const noexcept {
        return greeting_;
    }
    /// The guest has been reset: it has to greet again.
    void forget() noexcept { greeting_.reset(); }
    /// To be polled; -1 if there is nobody any more.
    [[nodiscard]] int descriptor() const noexcept { return channel_.descriptor(); }
    /// As Guest::run. Throws Error also if the guest restarts or shuts down before it has answered.
    GuestResult run(std::string_view script, std::chrono::seconds limit);
    /// As run, for a script after which the guest goes down: the order to run it is sent once, and
    /// never again. A guest that is down already would give the bytes to its boot loader as keys.
    GuestResult run_once(std::string_view script, std::chrono::seconds limit);

    /// How long the agent may be silent while it should answer: an emulated machine on a busy host
    /// is slow.
    std::chrono::milliseconds patience{60000};
    /// How much longer than its limit a script may take in all, with what it prints.
    std::chrono::milliseconds margin{180000};
    /// After which something is sent again.
    std::chrono::milliseconds resend_after{15000};

private:
    using Words = std::vector<std::string>;
    /// The next frame, without its first word, if one has come; greetings are recorded.
    [[nodiscard]] std::optional<Words> next();
    GuestResult run(std::string_view script, std::chrono::seconds limit, bool once);
    /// Waits for a frame about request `id`; resends `request`, unless it is empty, if none comes.
    /// Throws Error if the guest is no longer in that boot.
    [[nodiscard]] Words await(const Wait& wait, const std::string& id, const std::string& request,
                              const std::string& boot_id);
    void put(const std::string& id, std::string_view script, const std::string& boot_id);
    void check_boot(const std::string& boot_id) const;

    const Watch& watch_;
    LineChannel channel_;
    std::optional<AgentGreeting> greeting_;
};

}  // namespace edgegpu
