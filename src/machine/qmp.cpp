#include "machine/qmp.hpp"

#include <utility>

#include <fmt/format.h>

#include "support/error.hpp"

namespace edgegpu {

namespace {

using nlohmann::json;

/// query commands answer with some kilobytes
constexpr std::size_t longest_answer = 1UL << 20U;
constexpr std::size_t kept_events = 256;

std::string member(const json& object, const char* name) {
    const auto found = object.find(name);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

Qmp::Qmp(const Watch& watch, Fd socket, std::chrono::seconds limit)
    : watch_(watch), channel_(std::move(socket), longest_answer) {
    const Wait wait(watch_, "QEMU's monitor did not greet", limit);
    if (!await(wait).contains("QMP")) {
        throw error("QEMU's monitor did not greet as QMP does");
    }
    execute("qmp_capabilities", limit);
}

std::optional<json> Qmp::next() {
    while (const std::optional<std::string> line = channel_.next()) {
        if (line->empty()) {
            continue;
        }
        json object = json::parse(*line, nullptr, false);
        if (!object.is_object()) {
            throw error("QEMU's monitor sent something that is not a JSON object");
        }
        if (!object.contains("event")) {
            return object;
        }
        events_.push_back(member(object, "event"));
        if (events_.size() > kept_events) {
            events_.pop_front();
        }
    }
    if (channel_.dropped() != 0) {
        throw error("QEMU's monitor sent a line of more than 1 MiB");
    }
    return std::nullopt;
}

void Qmp::read() {
    channel_.read();
    // What nobody waits for any more: the answer to a command whose limit was reached.
    while (next()) {
    }
}

std::optional<std::string> Qmp::next_event() {
    if (events_.empty()) {
        return std::nullopt;
    }
    std::string event = std::move(events_.front());
    events_.pop_front();
    return event;
}

json Qmp::await(const Wait& wait) {
    for (;;) {
        if (std::optional<json> object = next()) {
            return std::move(*object);
        }
        if (channel_.closed()) {
            throw error("QEMU closed its monitor");
        }
        wait.readable(channel_.descriptor());
        channel_.read();
    }
}

json Qmp::execute(std::string_view command, json arguments, std::chrono::seconds limit) {
    const Wait wait(watch_, fmt::format("QEMU did not answer '{}'", command), limit);
    const std::uint64_t id = ++last_id_;
    channel_.send(
        wait,
        json{{"execute", command}, {"arguments", std::move(arguments)}, {"id", id}}.dump() + "\n");
    for (;;) {
        json answer = await(wait);
        const auto number = answer.find("id");
        // Another id: of an earlier command, for which nobody waits any more.
        if (number == answer.end() || *number != json(id)) {
            continue;
        }
        if (const auto failure = answer.find("error"); failure != answer.end()) {
            throw error("QEMU: {}: {}", command,
                        failure->is_object() ? member(*failure, "desc") : "failed");
        }
        return answer.contains("return") ? std::move(answer["return"]) : json::object();
    }
}

}  // namespace edgegpu
