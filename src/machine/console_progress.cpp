#include "machine/console_progress.hpp"

#include <array>
#include <utility>

#include <glib.h>

#include "support/glib.hpp"
#include "support/text/enum_names.hpp"
#include "support/text/terminal_text.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

constexpr std::size_t kept_lines = 60;
/// The rest of a longer one is dropped.
constexpr std::size_t longest_console_line = 1000;
constexpr std::size_t shown_columns = 80;

using Phase = ConsoleProgress::Phase;

/// What the beginning of a line says about who writes.
struct Sign {
    std::string_view text;
    Phase phase;
};
constexpr std::array signs{
    Sign{"BdsDxe: starting Boot", Phase::boot_loader},
    Sign{"Booting from Hard", Phase::boot_loader},
    Sign{"Welcome to GRUB", Phase::boot_loader},
    Sign{"GRUB loading", Phase::boot_loader},
    Sign{"EFI stub:", Phase::kernel},
    Sign{"[    0.0", Phase::kernel},
    Sign{"Linux version ", Phase::kernel},
    Sign{"systemd[1]: ", Phase::system},
    Sign{"[  OK  ]", Phase::system},
    Sign{"Welcome to ", Phase::system},
};

/// What ends a boot, and what it is called. A kernel that is going to restart after a panic does
/// not get to the end of it.
struct End {
    std::string_view text;
    std::string_view name;
};
constexpr std::array ends{
    End{"---[ end Kernel panic - not syncing: ", "kernel panic"},
    End{"You are in emergency mode", "systemd's emergency mode"},
    End{"Cannot open access to console, the root account is locked", "systemd's emergency mode"},
    End{"Give root password for maintenance", "systemd's emergency mode"},
    End{"Entering emergency mode. Exit the shell to continue", "dracut's emergency shell"},
    End{"dracut: Refusing to continue", "dracut gave up"},
    End{"(initramfs) ", "the initramfs' shell"},
    End{"grub rescue>", "GRUB's rescue shell"},
    End{"grub>", "GRUB's command line: it has no menu"},
    End{"No bootable device", "the firmware found nothing to boot"},
    End{"Shell> ", "the firmware's shell: it found nothing to boot"},
    End{"BdsDxe: No bootable option or device was found", "the firmware found nothing to boot"},
};

/// Without "[   12.345678] ", and without the number of a unit's job.
std::string_view without_time(std::string_view line) {
    if (line.starts_with("[") && !line.starts_with("[  OK")) {
        const std::size_t end = line.find("] ");
        if (end != std::string_view::npos &&
            line.substr(1, end - 1).find_first_not_of(" .0123456789T") == std::string_view::npos) {
            return line.substr(end + 2);
        }
    }
    return line;
}

/// What the system says of its units; of other lines nothing.
std::string_view unit_line(std::string_view line) {
    for (const std::string_view verb :
         {"Started ", "Reached target ", "Starting ", "Finished ", "Mounted ", "Failed to start ",
          "A start job is running for ", "Stopping ", "Stopped ", "Unmounted ", "Listening on "}) {
        const std::size_t at = line.find(verb);
        if (at != std::string_view::npos && at <= 24) {
            return line.substr(at);
        }
    }
    return {};
}

/// On one line, without control characters. A byte that is not part of UTF-8 may be one elsewhere.
std::string console_text(std::string_view line) {
    const TextHandle valid(g_utf8_make_valid(line.data(), static_cast<gssize>(line.size())));
    return printable_line(valid.get());
}

std::string_view phase_name(Phase phase) {
    return nth_name(phase, {"firmware", "boot loader", "kernel", "system"});
}

}  // namespace

void ConsoleProgress::restart() {
    take_line();
    phase_ = Phase::firmware;
    shown_.clear();
    failure_.clear();
}

void ConsoleProgress::take(std::string_view bytes) {
    for (const char byte : bytes) {
        // Escape sequences: ESC [ … letter, ESC ] … BEL; ESC and one character.
        if (byte == '\033') {
            escape_ = Escape::begun;
        } else if (escape_ == Escape::begun) {
            escape_ = byte == '[' ? Escape::sequence : byte == ']' ? Escape::text : Escape::none;
        } else if (escape_ == Escape::sequence && byte >= '\040') {
            if (byte >= '@' && byte <= '~') {
                escape_ = Escape::none;
            }
        } else if (escape_ == Escape::text && byte >= '\040') {
            continue;
        } else if (byte == '\n') {
            escape_ = Escape::none;
            take_line();
        } else if (byte == '\r') {
            carriage_return_ = true;
        } else {
            if (escape_ != Escape::none) {
                escape_ = Escape::none;
                continue;
            }
            // What follows a carriage return replaces the line.
            if (std::exchange(carriage_return_, false)) {
                take_line();
            }
            if (line_.size() < longest_console_line) {
                line_ += byte;
            }
        }
    }
    // A prompt has no end.
    judge(line_, false);
}

void ConsoleProgress::take_line() {
    carriage_return_ = false;
    judge(line_, true);
    std::string line = console_text(std::exchange(line_, {}));
    if (trim(line).empty()) {
        return;
    }
    lines_.push_back(std::move(line));
    if (lines_.size() > kept_lines) {
        lines_.pop_front();
    }
}

void ConsoleProgress::judge(std::string_view line, bool complete) {
    const std::string_view text = without_time(line);
    if (trim(text).empty()) {
        return;
    }
    for (const Sign& sign : signs) {
        // Never back: only a reset, which the monitor reports, leads to the firmware.
        if ((line.starts_with(sign.text) || text.starts_with(sign.text)) && sign.phase > phase_) {
            // "Welcome to" is what GRUB says as well.
            if (sign.text != "Welcome to " || phase_ == Phase::kernel) {
                phase_ = sign.phase;
            }
        }
    }
    for (const End& end : ends) {
        const bool is_panic = end.name == "kernel panic";
        if (failure_.empty() && text.starts_with(end.text) && (complete || !is_panic)) {
            failure_ = std::string(end.name);
            if (is_panic) {
                failure_ += ": " + console_text(trim(text.substr(end.text.size()), " -]\r"));
            }
        }
    }
    const std::string_view unit = unit_line(text);
    if (phase_ != Phase::system || !unit.empty()) {
        shown_ = console_text(phase_ == Phase::system ? unit : text);
    }
}

std::string ConsoleProgress::summary() const {
    std::string name(phase_name(phase_));
    // Firmware and boot loaders draw menus.
    if (shown_.empty() || phase_ < Phase::kernel) {
        return name;
    }
    return clip(name + ": " + std::string(trim(shown_)), shown_columns);
}

std::vector<std::string> ConsoleProgress::last(std::size_t count) const {
    std::vector<std::string> result(lines_.begin(), lines_.end());
    if (!trim(line_).empty()) {
        result.push_back(console_text(line_));
    }
    if (result.size() > count) {
        result.erase(result.begin(), result.end() - static_cast<std::ptrdiff_t>(count));
    }
    return result;
}

}  // namespace edgegpu
