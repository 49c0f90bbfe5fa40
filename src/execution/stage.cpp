#include "execution/stage.hpp"

#include <fmt/format.h>

namespace edgegpu {

Stages::~Stages() {
    if (!name_.empty()) {
        ctx_.log.write_shown(LogLevel::info, "stage failed", {{"seconds", seconds()}});
        ctx_.log.set_stage("");
    }
}

double Stages::seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
}

void Stages::begin(std::string_view name, std::string_view doing) {
    start(name, doing, true);
}

void Stages::begin_quietly(std::string_view name, std::string_view doing) {
    start(name, doing, false);
}

void Stages::start(std::string_view name, std::string_view doing, bool on_console) {
    name_ = name;
    doing_ = doing;
    on_console_ = on_console;
    began_ = std::chrono::steady_clock::now();
    if (on_console) {
        ctx_.console->begin_stage(name);
    }
    ctx_.log.set_stage(name);
    ctx_.log.write_shown(LogLevel::info, "stage begins");
}

void Stages::end(std::string_view result) {
    ctx_.log.write_shown(LogLevel::info, "stage ended",
                         {{"seconds", seconds()}, {"result", result}});
    ctx_.log.set_stage("");
    name_.clear();
    if (on_console_) {
        ctx_.console->end_stage(result);
    }
}

void Stages::explain(Error& failure) const {
    if (name_.empty()) {
        return;
    }
    // Whoever interrupts a build does not ask where.
    if (failure.kind() != ErrorKind::interrupted) {
        failure.traced(fmt::format("while {} {}", doing_, subject_));
    }
    failure.staged(name_);
}

}  // namespace edgegpu
