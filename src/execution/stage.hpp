#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include "execution/context.hpp"

namespace edgegpu {

/// The stages of a command, one after the other, as console, log and errors name them.
class Stages {
public:
    /// `subject` is what is worked on: "blueprints/lab-gpu.toml". `ctx` must outlive it.
    Stages(const Context& ctx, std::string subject) : ctx_(ctx), subject_(std::move(subject)) {}
    Stages(const Stages&) = delete;
    Stages& operator=(const Stages&) = delete;
    /// A stage that was not ended has failed.
    ~Stages();

    /// Begins stage `name` ("compose"); `doing` precedes the subject in errors ("composing").
    void begin(std::string_view name, std::string_view doing);
    /// The same for a stage too short to be shown on the console.
    void begin_quietly(std::string_view name, std::string_view doing);
    /// Ends it; `result` is shown after it ("241 packages, 1.1 GB").
    void end(std::string_view result);

    /// Runs `work`, which begins and ends stages; adds to an Error that leaves it in which
    /// one it happened ("while composing blueprints/lab-gpu.toml").
    template <typename Work>
    auto run(Work&& work) {
        try {
            return std::forward<Work>(work)();
        } catch (Error& failure) {
            explain(failure);
            throw;
        }
    }

private:
    void start(std::string_view name, std::string_view doing, bool on_console);
    void explain(Error& failure) const;
    [[nodiscard]] double seconds() const;

    const Context& ctx_;
    std::string subject_;
    std::string name_;
    std::string doing_;
    bool on_console_ = false;
    std::chrono::steady_clock::time_point began_;
};

}  // namespace edgegpu
