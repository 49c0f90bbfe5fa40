#include "blueprint/toml/mistakes.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <tuple>

namespace edgegpu {

namespace {

/// Parses "NUMBER:" at `at`, and moves `at` past it.
bool take_number(std::string_view text, std::size_t& at, std::uint32_t& number) {
    const char* end = text.data() + text.size();
    const auto [stop, code] = std::from_chars(text.data() + at, end, number);
    if (code != std::errc{} || stop == end || *stop != ':') {
        return false;
    }
    at = static_cast<std::size_t>(stop - text.data()) + 1;
    return true;
}

std::string joined(const std::vector<Error>& all) {
    std::string text;
    for (std::size_t i = 0; i < all.size(); ++i) {
        text += (i == 0 ? "" : "error: ") + all[i].message();
        for (const std::string& trace : all[i].traces()) {
            text += "\n  " + trace;
        }
        if (i + 1 < all.size()) {
            text += all[i].hint().empty() ? "\n" : "\nhint: " + all[i].hint() + '\n';
        }
    }
    return text;
}

Error without_hint(const Error& failure) {
    Error plain(failure.kind(), failure.message());
    for (const std::string& trace : failure.traces()) {
        plain.traced(trace);
    }
    return plain;
}

}  // namespace

Mistake mistake_of(const Error& failure) {
    const std::string& text = failure.message();
    // Both file names and messages may contain ':': the first match is the location.
    for (std::size_t colon = text.find(':'); colon != std::string::npos;
         colon = text.find(':', colon + 1)) {
        std::size_t at = colon + 1;
        SourceLocation place{text.substr(0, colon), 0, 0};
        if (take_number(text, at, place.line) && take_number(text, at, place.column) &&
            at < text.size() && text[at] == ' ') {
            return {place, text.substr(at + 1), failure.hint()};
        }
    }
    return {{}, text, failure.hint()};
}

std::string place_seen_from(const SourceLocation& here, const SourceLocation& other) {
    return here.file == other.file ? fmt::format("line {}", other.line) : other.text();
}

MistakesError::MistakesError(std::vector<Error> all)
    : Error(ErrorKind::usage, joined(all)), all_(std::move(all)) {
    hinted(all_.back().hint());
}

std::vector<Error> single_errors(const Error& failure) {
    const auto* several = dynamic_cast<const MistakesError*>(&failure);
    if (several == nullptr) {
        return {failure};
    }
    std::vector<Error> all = several->all();
    // Traces added to the whole error are shown once.
    for (const std::string& trace : failure.traces()) {
        all.back().traced(trace);
    }
    return all;
}

std::string render_error(const Error& failure, bool colored) {
    std::string text;
    for (const Error& single : single_errors(failure)) {
        text += single.render(colored);
    }
    return text;
}

void Mistakes::add(const Error& failure) {
    for (const Error& single : single_errors(failure)) {
        if (kept_.size() < most) {
            kept_.push_back(single);
        } else {
            ++passed_over_;
        }
    }
}

void Mistakes::add_all(const Mistakes& other) {
    for (const Error& failure : other.kept_) {
        add(failure);
    }
    passed_over_ += other.passed_over_;
}

void Mistakes::throw_any(const std::string& first) const {
    if (kept_.empty()) {
        return;
    }
    std::map<std::string, std::size_t> files{{first, 0}};
    std::vector<std::tuple<std::size_t, std::uint32_t, std::uint32_t, std::size_t>> order;
    for (std::size_t i = 0; i < kept_.size(); ++i) {
        const SourceLocation place = mistake_of(kept_[i]).location;
        const std::size_t file = files.emplace(place.file, files.size()).first->second;
        order.emplace_back(file, place.line, place.column, i);
    }
    std::ranges::sort(order);
    std::vector<Error> all;
    std::set<std::string> messages;
    std::set<std::string> hints;
    for (const auto& [file, line, column, index] : order) {
        const Error& failure = kept_[index];
        if (messages.insert(failure.message()).second) {
            const bool fresh = failure.hint().empty() || hints.insert(failure.hint()).second;
            all.push_back(fresh ? failure : without_hint(failure));
        }
    }
    if (passed_over_ > 0) {
        all.push_back(error(ErrorKind::usage, "{}: {} more errors", first, passed_over_));
    }
    if (all.size() == 1) {
        throw Error(all.front());
    }
    throw MistakesError(std::move(all));
}

}  // namespace edgegpu
