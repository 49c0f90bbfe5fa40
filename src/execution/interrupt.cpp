#include "execution/interrupt.hpp"

#include <csignal>

#include <sys/stat.h>

namespace edgegpu {

namespace {

// A signal handler can reach nothing but static storage; this flag is the one exception to
// "no globals" and is read through `interrupted` only.
std::atomic<bool> interrupt_flag{false};
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void on_signal(int signal_number) {
    if (interrupt_flag.exchange(true)) {
        std::signal(signal_number, SIG_DFL);
        std::raise(signal_number);
    }
}

/// A terminal that goes away may send two: its shell and the kernel.
extern "C" void on_hangup(int /*signal_number*/) {
    interrupt_flag = true;
}

}  // namespace

void install_interrupt_handlers() {
    struct sigaction action {};
    action.sa_handler = on_signal;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    struct sigaction inherited {};
    sigaction(SIGHUP, nullptr, &inherited);
    if (inherited.sa_handler != SIG_IGN) {
        action.sa_handler = on_hangup;
        sigaction(SIGHUP, &action, nullptr);
    }
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
    std::signal(SIGCHLD, SIG_DFL);
    umask(022);
}

const std::atomic<bool>& interrupted() noexcept {
    return interrupt_flag;
}

}  // namespace edgegpu
