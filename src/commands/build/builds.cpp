#include "commands/build/builds.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <nlohmann/json.hpp>

#include "commands/build/build_process.hpp"
#include "commands/build/builds_report.hpp"
#include "commands/build/variants.hpp"
#include "execution/interrupt.hpp"
#include "execution/processors.hpp"
#include "support/error.hpp"
#include "support/ranges.hpp"

namespace edgegpu {

namespace {

using Clock = std::chrono::steady_clock;
using nlohmann::ordered_json;

constexpr int look_around_ms = 100;
constexpr const char* stage = "builds";

double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// A running build.
struct Running {
    std::size_t index = 0;
    std::unique_ptr<BuildProcess> process;
    Clock::time_point began = Clock::now();
    /// its progress, "lab-gpu compose 120/255"
    std::string state;
};

/// All builds of one command.
class Builds {
public:
    Builds(const GlobalOptions& global, const BuildCommand& command, std::vector<Variant> variants)
        : command_(command), variants_(std::move(variants)) {
        ConsoleOutput output = console_output(global);
        // Redrawn from the loop below: with one thread, fork(2) is safe.
        output.animated = false;
        write_event_ = std::exchange(output.write_event, nullptr);
        console_ = std::make_unique<Console>(std::move(output));
        for (const Variant& variant : variants_) {
            outcomes_.push_back({variant.blueprint, variant.name, variant.ref, 130, "", "", 0});
        }
        at_once_ = std::min<unsigned>(command.jobs != 0 ? command.jobs : available_processors(),
                                      static_cast<unsigned>(variants_.size()));
    }

    std::vector<BuildOutcome> run() {
        if (write_event_) {
            write_event_("{\"event\":\"begin\",\"format\":\"edgegpu-progress/1\"}\n");
        }
        console_->begin_stage(stage);
        while (next_ < variants_.size() || !running_.empty()) {
            if (interrupted()) {
                next_ = variants_.size();
                for (Running& build : running_) {
                    build.process->interrupt();
                }
            }
            while (next_ < variants_.size() && running_.size() < at_once_) {
                start();
            }
            wait_for_news();
            for (Running& build : running_) {
                follow(build);
            }
            finish_ended();
            show();
        }
        console_->end_stage(counted(outcomes_.size(), "build"));
        console_.reset();
        return std::move(outcomes_);
    }

private:
    void start() {
        Running build;
        build.index = next_++;
        const Variant& variant = variants_[build.index];
        const unsigned threads = (available_processors() + at_once_ - 1) / at_once_;
        build.process = std::make_unique<BuildProcess>(build_arguments(command_, variant, threads));
        build.state = variant.name;
        running_.push_back(std::move(build));
    }

    void wait_for_news() const {
        std::vector<pollfd> places;
        for (const Running& build : running_) {
            for (const int descriptor : build.process->descriptors()) {
                places.push_back({descriptor, POLLIN, 0});
            }
        }
        if (::poll(places.data(), places.size(), look_around_ms) < 0 && errno != EINTR) {
            throw errno_error("poll", errno);
        }
    }

    void follow(Running& build) {
        build.process->read();
        const std::string& name = variants_[build.index].name;
        for (const std::string& line : build.process->take_progress()) {
            const std::string event = named_event(line, name);
            if (event.empty()) {
                continue;
            }
            if (write_event_) {
                write_event_(event);
            }
            show_event(build, ordered_json::parse(line));
        }
    }

    void show_event(Running& build, const ordered_json& event) {
        const std::string& name = variants_[build.index].name;
        const auto text = [&](const char* key) { return event.value(key, std::string()); };
        const std::string kind = text("event");
        if (kind == "stage-begin") {
            build.state = fmt::format("{} {}", name, text("stage"));
        } else if (kind == "progress") {
            build.state = fmt::format("{} {} {}/{}", name, text("stage"), event.value("done", 0),
                                      event.value("total", 0));
        } else if (kind == "stage-end") {
            console_->note(fmt::format("{}: {} {:.2f} s  {}", name, text("stage"),
                                       event.value("seconds", 0.0), text("result")));
        } else if (kind == "note") {
            console_->note(fmt::format("{}: {}", name, text("text")));
        } else if (kind == "warning") {
            console_->warn(fmt::format("{}: {}", name, text("text")));
        }
    }

    void finish_ended() {
        for (Running& build : running_) {
            if (!build.process->ended()) {
                continue;
            }
            BuildOutcome& outcome = outcomes_[build.index];
            outcome.status = build.process->wait();
            outcome.seconds = seconds_since(build.began);
            outcome.document = build.process->output();
            if (outcome.status != 0) {
                outcome.error = error_of_messages(build.process->messages());
                // The whole error comes with the report; its first line at once.
                const std::string first = outcome.error.substr(0, outcome.error.find('\n'));
                const std::string reason = first.substr(first.starts_with("error: ") ? 7 : 0);
                console_->note(fmt::format("{}: failed: {}", outcome.name, reason));
            }
            build.process.reset();
            ++ended_;
        }
        std::erase_if(running_, [](const Running& build) { return !build.process; });
    }

    void show() {
        console_->progress(ended_, outcomes_.size(),
                           fmt::format("{}", fmt::join(mapped(running_, &Running::state), ", ")));
        console_->redraw();
    }

    const BuildCommand& command_;
    std::vector<Variant> variants_;
    std::vector<BuildOutcome> outcomes_;
    std::vector<Running> running_;
    std::unique_ptr<Console> console_;
    std::function<void(std::string_view)> write_event_;
    unsigned at_once_ = 1;
    std::size_t next_ = 0;
    std::size_t ended_ = 0;
};

}  // namespace

std::string named_event(std::string_view line, const std::string& name) {
    const ordered_json event = ordered_json::parse(line, nullptr, false);
    if (!event.is_object() || !event.contains("event") || !event["event"].is_string() ||
        event["event"] == "begin") {
        return {};
    }
    ordered_json named = {{"event", event["event"]}, {"build", name}};
    named.update(event);
    return named.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + '\n';
}

int run_builds(const GlobalOptions& global, const BuildCommand& command) {
    const Clock::time_point began = Clock::now();
    Builds builds(global, command, read_variants(command));
    const std::vector<BuildOutcome> outcomes = builds.run();
    for (const BuildOutcome& outcome : outcomes) {
        if (!outcome.error.empty()) {
            // Its own process has escaped it for a terminal.
            std::fputs(fmt::format("{}: {}", printable_line(outcome.name), outcome.error).c_str(),
                       stderr);
        }
    }
    const double seconds = seconds_since(began);
    print_result(global.json ? builds_document(outcomes, seconds)
                             : builds_summary(outcomes, seconds));
    return builds_status(outcomes, command.unchanged_exit_77);
}

}  // namespace edgegpu
