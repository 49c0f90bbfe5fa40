#include "upload/attempts.hpp"

#include <fmt/format.h>

namespace edgegpu {

Attempts::Attempts(const Context& ctx, int most, std::chrono::milliseconds pause,
                   std::chrono::seconds patience)
    : ctx_(ctx), most_(most), pause_(pause), patience_(patience) {}

bool Attempts::again(std::string_view failure) {
    ctx_.check_cancelled();
    const auto now = std::chrono::steady_clock::now();
    if (!end_) {
        end_ = now + patience_;
    }
    if (made_ >= most_ || now >= *end_) {
        return false;
    }
    ++made_;
    const std::chrono::duration<double> seconds = pause_;
    ctx_.console->note_now(fmt::format("{}: attempt {} of {} begins in {:g} s", failure, made_,
                                       most_, seconds.count()));
    ctx_.log.info("another attempt", {{"failure", failure}, {"attempt", made_}});
    ctx_.pause(pause_);
    pause_ *= 2;
    return true;
}

}  // namespace edgegpu
