#include <algorithm>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "resolve/explain/fixes.hpp"
#include "resolve/explain/pair.hpp"

namespace edgegpu {

namespace {

/// Maximum number of solves, to bound the time for a hopeless blueprint: each takes milliseconds,
/// depending on the number of packages. A time limit would give other results on a slower machine.
std::size_t solves_for(std::size_t packages) {
    constexpr std::size_t fewest = 12;
    constexpr std::size_t most = 40;
    constexpr std::size_t looks = 400'000;
    return std::clamp(looks / std::max<std::size_t>(packages, 1), fewest, most);
}

/// Maximum number of changes in a fix.
constexpr std::size_t deepest = 3;

class Verifier {
public:
    Verifier(const Context& ctx, Universe& universe, const Blueprint& blueprint, std::size_t most)
        : ctx_(ctx),
          quiet_(Color::never, true),
          universe_(universe),
          original_(blueprint),
          most_(most),
          most_solves_(solves_for(universe.pool().packages().size())) {
        ctx_.console = &quiet_;
    }

    std::vector<Fix> run(const Outcome& outcome) {
        // First single changes, then combinations of two and three if none of them works.
        std::vector<Fix> failed;
        for (Fix& fix : fixes_for(original_, outcome)) {
            if (done()) {
                break;
            }
            attempt(std::move(fix), failed);
        }
        for (std::size_t depth = 2; depth <= deepest && found_.empty(); ++depth) {
            failed = deepen(failed);
        }
        return std::move(found_);
    }

private:
    [[nodiscard]] bool done() const { return found_.size() >= most_ || solves_ >= most_solves_; }

    std::vector<Fix> fixes_for(const Blueprint& blueprint, const Outcome& outcome) {
        const Cause cause = cause_of(universe_, blueprint, outcome);
        return possible_fixes({universe_, blueprint, outcome, cause}, text_);
    }

    void attempt(Fix fix, std::vector<Fix>& failed) {
        std::string text;
        std::ranges::sort(fix.edits, [](const Edit& left, const Edit& right) {
            return std::tie(left.file, left.line, left.inserted) <
                   std::tie(right.file, right.line, right.inserted);
        });
        for (const Edit& edit : fix.edits) {
            text += fmt::format("{}\n", fmt::join(edit_lines(edit), "\n"));
        }
        if (!tried_.insert(text).second) {
            return;
        }
        ctx_.check_cancelled();
        ++solves_;
        const Outcome outcome = solve_blueprint(ctx_, universe_, fix.changed);
        if (outcome.chosen) {
            fix.gives = describe(*outcome.chosen);
            found_.push_back(std::move(fix));
        } else {
            failed.push_back(std::move(fix));
        }
    }

    /// Tries further changes on top of those that led to another problem.
    std::vector<Fix> deepen(const std::vector<Fix>& failed) {
        std::vector<Fix> next;
        for (const Fix& before : failed) {
            if (done()) {
                break;
            }
            // Finding the next problem needs the pool filtered for this change.
            ++solves_;
            const Outcome outcome = solve_blueprint(ctx_, universe_, before.changed);
            for (Fix& more : fixes_for(before.changed, outcome)) {
                if (done() || touches_same_lines(before, more)) {
                    continue;
                }
                more.edits.insert(more.edits.begin(), before.edits.begin(), before.edits.end());
                attempt(std::move(more), next);
            }
        }
        return next;
    }

    /// Both edits of one line would be based on the original line.
    static bool touches_same_lines(const Fix& before, const Fix& more) {
        const auto end = [](const Edit& edit) {
            return edit.line + std::max<std::size_t>(edit.removed.size(), 1);
        };
        for (const Edit& edit : before.edits) {
            for (const Edit& other : more.edits) {
                if (edit.file == other.file && edit.line < end(other) && other.line < end(edit) &&
                    !(edit.removed.empty() && other.removed.empty())) {
                    return true;
                }
            }
        }
        return false;
    }

    [[nodiscard]] std::string describe(const Chosen& chosen) const {
        const PackagePool& pool = universe_.pool();
        const auto count = std::ranges::count_if(chosen.solution.packages,
                                                 [&](Id id) { return !pool.is_stand_in(id); });
        std::string text = fmt::format("{} package{}, kernel {}", count, count == 1 ? "" : "s",
                                       pool.nevra(chosen.attempt.kernel).evr());
        if (!chosen.attempt.driver.empty()) {
            text += ", driver " + chosen.attempt.driver;
        }
        if (chosen.attempt.dkms_source != 0) {
            text += ", modules to be compiled";
        }
        return text;
    }

    Context ctx_;
    Console quiet_;
    Universe& universe_;
    const Blueprint& original_;
    std::size_t most_;
    BlueprintText text_;
    std::set<std::string> tried_;
    std::vector<Fix> found_;
    std::size_t most_solves_;
    std::size_t solves_ = 0;
};

}  // namespace

std::vector<Fix> verified_fixes(const Context& ctx, Universe& universe, const Blueprint& blueprint,
                                const Outcome& outcome, std::size_t most) {
    return Verifier(ctx, universe, blueprint, most).run(outcome);
}

Cause cause_of(const Universe& universe, const Blueprint& blueprint, const Outcome& outcome) {
    if (!outcome.refused) {
        return outcome.unpaired.empty() || !blueprint.nvidia
                   ? Cause{}
                   : unpaired_cause(universe, blueprint, outcome.unpaired);
    }
    const Refusal refusal = refuse(universe.pool(), *outcome.refused, blueprint.weak_dependencies);
    return find_cause(universe, blueprint, *outcome.refused, refusal);
}

}  // namespace edgegpu
