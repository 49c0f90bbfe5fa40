#include "rollout/plan.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "repository/refs.hpp"
#include "support/error.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

constexpr std::string_view first_line = "edgegpu-rollout/1";
constexpr std::string_view last_line = "end";
constexpr std::size_t longest_text = 500;

bool is_printable(char c) {
    return c >= ' ' && c <= '~';
}

/// `text` behind a space, or nothing.
std::string text_field(std::string_view text) {
    const std::string plain = plain_text(text);
    return plain.empty() ? "" : ' ' + plain;
}

/// Reads the lines of a plan, in the order in which each names only what is above it.
class PlanReader {
public:
    PlanReader(std::string_view text, const std::string& shown) : shown_(shown), rest_(text) {}

    RolloutPlan read() {
        if (rest_.size() > largest_plan) {
            throw error("{}: is larger than 1 MiB", shown_);
        }
        if (next() != first_line) {
            fail("a plan begins with \"edgegpu-rollout/1\"");
        }
        plan_.ref = head("ref");
        if (!is_ref(plan_.ref)) {
            fail("is no ref");
        }
        plan_.serial = number(head("serial"));
        plan_.expires = number(head("expires"));
        std::size_t rank = 0;
        while (next() != last_line) {
            const std::string_view keyword = field();
            const auto* const kind = std::ranges::find(kinds, keyword, &Kind::keyword);
            if (kind == kinds.end()) {
                fail("is no line of a plan of this format");
            }
            const auto own = static_cast<std::size_t>(kind - kinds.begin());
            if (own < rank) {
                fail("stands below what comes after it");
            }
            rank = own;
            (this->*kind->read)();
        }
        if (!rest_.empty()) {
            ++line_;
            fail("something follows the end");
        }
        return std::move(plan_);
    }

private:
    struct Kind {
        std::string_view keyword;
        void (PlanReader::*read)();
    };
    static const std::array<Kind, 5> kinds;
    [[noreturn]] void fail(std::string_view what) const {
        throw error("{}: line {}: {}", shown_, line_, what);
    }

    /// The next line, which has to have its newline.
    std::string_view next() {
        ++line_;
        const std::size_t end = rest_.find('\n');
        if (end == std::string_view::npos) {
            fail("the plan ends without \"end\"");
        }
        const std::string_view line = rest_.substr(0, end);
        rest_.remove_prefix(end + 1);
        if (!std::ranges::all_of(line, is_printable)) {
            fail("has what is not printable ASCII");
        }
        fields_ = line;
        return line;
    }

    /// The next field of the line.
    std::string_view field() {
        const std::string_view all = fields_.value_or(std::string_view());
        const std::size_t space = all.find(' ');
        if (all.empty() || space == 0) {
            fail("lacks a field");
        }
        fields_.reset();
        if (space != std::string_view::npos) {
            fields_ = all.substr(space + 1);
        }
        return all.substr(0, space);
    }

    void require_end() const {
        if (fields_) {
            fail("has too many fields");
        }
    }

    std::string head(std::string_view keyword) {
        next();
        if (field() != keyword) {
            fail(fmt::format("the {} is missing", keyword));
        }
        std::string value(field());
        require_end();
        return value;
    }

    [[nodiscard]] std::int64_t number(std::string_view digits) const {
        constexpr std::size_t most_digits = 11;
        if (digits.empty() || digits.size() > most_digits ||
            digits.find_first_not_of("0123456789") != std::string_view::npos ||
            (digits.size() > 1 && digits.front() == '0')) {
            fail("has something else than a number of up to 11 digits");
        }
        std::int64_t value = 0;
        for (const char digit : digits) {
            value = value * 10 + (digit - '0');
        }
        return value;
    }

    std::string checksum() {
        const std::string_view text = field();
        if (!is_sha256(text)) {
            fail("has something else than the checksum of a commit");
        }
        return std::string(text);
    }

    /// The release that the next field names.
    PlannedRelease& known() {
        const auto found = releases_.find(checksum());
        if (found == releases_.end()) {
            fail("names a commit that is no release of the plan");
        }
        return plan_.releases[found->second];
    }

    /// The two releases that the next fields name.
    std::pair<std::string, std::string> jump() {
        const PlannedRelease& from = known();
        const PlannedRelease& to = known();
        return {from.commit, to.commit};
    }

    /// What is left of the line.
    std::string text() {
        return std::string(std::exchange(fields_, std::nullopt).value_or(std::string_view()));
    }

    void read_release() {
        PlannedRelease release;
        release.commit = checksum();
        release.index = number(field());
        release.version = text();
        if (!plan_.releases.empty() && plan_.releases.back().index >= release.index) {
            fail("its index is not above the one before");
        }
        if (!releases_.emplace(release.commit, plan_.releases.size()).second) {
            fail("names a release again");
        }
        plan_.releases.push_back(std::move(release));
    }

    void read_wave() {
        PlannedRelease& release = known();
        RolloutWave wave;
        wave.start = number(field());
        wave.share = number(field());
        wave.duration = number(field());
        require_end();
        if (wave.share > whole_share) {
            fail("has a share above 1000000");
        }
        if (release.wave) {
            fail("is a second wave to the same commit");
        }
        release.wave = wave;
    }

    void read_edge() {
        const auto [from, to] = jump();
        require_end();
        const PlannedRelease* target = plan_.find(to);
        if (!target->wave) {
            fail("leads to a commit without a wave");
        }
        if (plan_.find(from)->index >= target->index) {
            fail("leads to an older release");
        }
        if (!edges_.emplace(std::pair(from, to), plan_.edges.size()).second) {
            fail("is there twice");
        }
        plan_.edges.push_back({from, to, {}});
    }

    void read_barred() {
        const auto [from, to] = jump();
        if (edges_.contains({from, to}) || !barred_.emplace(from, to).second) {
            fail("is there twice");
        }
        plan_.barred.push_back({from, to, text()});
    }

    void read_gpus() {
        const auto edge = edges_.find(jump());
        if (edge == edges_.end()) {
            fail("is of no edge");
        }
        LostGpus lost;
        for (const std::string_view id : split(field(), ',')) {
            constexpr std::size_t digits = 4;
            if (id.size() != digits || !is_hexadecimal(id)) {
                fail("has something else than ids of PCI devices");
            }
            lost.ids.emplace_back(id);
        }
        lost.reason = text();
        plan_.edges[edge->second].lost.push_back(std::move(lost));
    }

    const std::string& shown_;
    std::string_view rest_;
    /// what is left of the line; nothing behind its last field
    std::optional<std::string_view> fields_;
    std::size_t line_ = 0;
    RolloutPlan plan_;
    std::map<std::string, std::size_t, std::less<>> releases_;
    std::map<std::pair<std::string, std::string>, std::size_t> edges_;
    std::set<std::pair<std::string, std::string>> barred_;
};

const std::array<PlanReader::Kind, 5> PlanReader::kinds{{{"release", &PlanReader::read_release},
                                                         {"wave", &PlanReader::read_wave},
                                                         {"edge", &PlanReader::read_edge},
                                                         {"barred", &PlanReader::read_barred},
                                                         {"gpus", &PlanReader::read_gpus}}};

}  // namespace

const PlannedRelease* RolloutPlan::find(std::string_view commit) const {
    const auto found = std::ranges::find(releases, commit, &PlannedRelease::commit);
    return found == releases.end() ? nullptr : &*found;
}

PlannedRelease* RolloutPlan::find(std::string_view commit) {
    const auto found = std::ranges::find(releases, commit, &PlannedRelease::commit);
    return found == releases.end() ? nullptr : &*found;
}

std::string plan_ref(std::string_view ref) {
    return std::string(plan_prefix) + std::string(ref);
}

bool is_plan_ref(std::string_view ref) {
    return ref.substr(ref.find(':') + 1).starts_with(plan_prefix);
}

std::string plain_text(std::string_view text) {
    std::string plain(trim(text.substr(0, longest_text)));
    std::ranges::replace_if(
        plain, [](char c) { return !is_printable(c); }, '?');
    return plain;
}

std::string plan_text(const RolloutPlan& plan) {
    std::string text = fmt::format("{}\nref {}\nserial {}\nexpires {}\n", first_line, plan.ref,
                                   plan.serial, plan.expires);
    for (const PlannedRelease& release : plan.releases) {
        text += fmt::format("release {} {}{}\n", release.commit, release.index,
                            text_field(release.version));
    }
    for (const PlannedRelease& release : plan.releases) {
        if (release.wave) {
            text += fmt::format("wave {} {} {} {}\n", release.commit, release.wave->start,
                                release.wave->share, release.wave->duration);
        }
    }
    for (const PlanEdge& edge : plan.edges) {
        text += fmt::format("edge {} {}\n", edge.from, edge.to);
    }
    for (const BarredJump& jump : plan.barred) {
        text += fmt::format("barred {} {}{}\n", jump.from, jump.to, text_field(jump.reason));
    }
    for (const PlanEdge& edge : plan.edges) {
        for (const LostGpus& lost : edge.lost) {
            text += fmt::format("gpus {} {} {}{}\n", edge.from, edge.to, fmt::join(lost.ids, ","),
                                text_field(lost.reason));
        }
    }
    text += last_line;
    return text + '\n';
}

RolloutPlan parse_plan(std::string_view text, const std::string& shown) {
    return PlanReader(text, shown).read();
}

std::string percent_text(std::int64_t share) {
    constexpr double per_percent = 10000;
    return fmt::format("{:.4g} %", static_cast<double>(share) / per_percent);
}

std::string release_text(const PlannedRelease& release) {
    const std::string checksum = release.commit.substr(0, 10);
    return release.version.empty() ? checksum : fmt::format("{} ({})", release.version, checksum);
}

}  // namespace edgegpu
