#include "resolve/explain/cause.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "resolve/explain/chain.hpp"
#include "resolve/solve/filtered.hpp"
#include "resolve/solve/kabi.hpp"

namespace edgegpu {

namespace {

std::string dependency_text(const PackagePool& pool, Id dependency) {
    return pool_dep2str(pool.get(), dependency);
}

/// "x-1, x-2, x-3 and 2 more", best first.
std::string some(const PackagePool& pool, std::vector<Id> ids) {
    constexpr std::size_t most = 3;
    pool.sort_best_first(ids);
    std::vector<std::string> texts;
    for (const Id id : ids) {
        if (texts.size() < most) {
            texts.push_back(pool.nevra(id).text());
        }
    }
    std::string text = fmt::format("{}", fmt::join(texts, ", "));
    if (ids.size() > most) {
        text += fmt::format(" and {} more", ids.size() - most);
    }
    return text;
}

/// The name in a dependency: `x` of `x >= 1`; 0 for a rich dependency.
Id plain_name(const PackagePool& pool, Id dependency) {
    while (ISRELDEP(dependency) != 0) {
        const Reldep* relation = GETRELDEP(pool.get(), dependency);
        if (relation->flags > 7) {
            return 0;
        }
        dependency = relation->name;
    }
    return dependency;
}

class CauseFinder {
public:
    CauseFinder(const Universe& universe, const Blueprint& blueprint, const Jobs& jobs,
                const Refusal& refusal)
        : pool_(universe.pool()),
          blueprint_(blueprint),
          jobs_(jobs),
          refusal_(refusal),
          forbidden_(jobs.forbidden.begin(), jobs.forbidden.end()),
          chains_(pool_, jobs, refusal) {}

    Cause run() {
        for (const ProblemRule& rule : sorted_rules()) {
            consider_rule(rule);
        }
        for (const Install& install : jobs_.installs) {
            consider_request(install);
        }
        if (!best_) {
            return {};
        }
        return std::move(best_->cause);
    }

private:
    struct Found {
        /// Rank: 0 for an unsatisfied dependency, 1 for a conflict, 2 for a request that is ruled
        /// out; the shortest chain within a rank.
        std::size_t kind = 0;
        std::size_t length = 0;
        Cause cause;
    };

    [[nodiscard]] bool usable(Id id) const { return pool_.visible(id) && !forbidden_.contains(id); }

    /// Rules come in the order of ids, which is arbitrary to a user: sorts by name, newest package
    /// first.
    [[nodiscard]] std::vector<ProblemRule> sorted_rules() const {
        std::vector<ProblemRule> rules = refusal_.rules;
        const auto before = [&](const ProblemRule& left, const ProblemRule& right) {
            if (left.from == 0 || right.from == 0) {
                return left.from > right.from;
            }
            const int names = pool_.name(left.from).compare(pool_.name(right.from));
            if (names != 0) {
                return names < 0;
            }
            const int order = pool_evrcmp(pool_.get(), pool_.solvable(left.from)->evr,
                                          pool_.solvable(right.from)->evr, EVRCMP_COMPARE);
            if (order != 0 || left.dependency == 0 || right.dependency == 0) {
                return order > 0;
            }
            return dependency_text(pool_, left.dependency) <
                   dependency_text(pool_, right.dependency);
        };
        std::ranges::stable_sort(rules, before);
        return rules;
    }

    void keep(Found found) {
        const auto key = [](const Found& item) { return std::tie(item.kind, item.length); };
        if (!best_ || key(found) < key(*best_)) {
            best_ = std::move(found);
        }
    }

    void consider_rule(const ProblemRule& rule) {
        switch (rule.type) {
            case SOLVER_RULE_PKG_REQUIRES:
            case SOLVER_RULE_PKG_NOTHING_PROVIDES_DEP:
                consider_requirement(rule);
                break;
            case SOLVER_RULE_PKG_CONFLICTS:
            case SOLVER_RULE_PKG_OBSOLETES:
            case SOLVER_RULE_PKG_IMPLICIT_OBSOLETES:
            case SOLVER_RULE_PKG_SAME_NAME:
            case SOLVER_RULE_YUMOBS:
                consider_conflict(rule);
                break;
            default:
                break;
        }
    }

    /// The origin of the job and those of other lines of the blueprint that request `package` too:
    /// each of them would have to change.
    [[nodiscard]] std::vector<Origin> origins_of(const Install& install, Id package) const {
        std::vector<Origin> origins{origin_of(pool_, blueprint_, install)};
        for (const Install& other : jobs_.installs) {
            if (!install.line || !other.line || &other == &install ||
                std::ranges::find(other.any_of, package) == other.any_of.end()) {
                continue;
            }
            Origin origin = origin_of(pool_, blueprint_, other);
            const bool known = std::ranges::any_of(
                origins, [&](const Origin& one) { return one.text == origin.text; });
            if (!known) {
                origins.push_back(std::move(origin));
            }
        }
        return origins;
    }

    /// The chain that ends at the package `end`.
    void append_chain(Cause& cause, const Chain& chain, Id end) const {
        const bool direct = chain.links.empty();
        for (Origin& origin :
             origins_of(*chain.install, direct ? end : chain.links.front().package)) {
            if (std::ranges::find(cause.lines, origin.text) == cause.lines.end()) {
                cause.lines.push_back(origin.text);
            }
            cause.origins.push_back(std::move(origin));
        }
        for (const Link& link : chain.links) {
            cause.lines.push_back(fmt::format("  {} requires {}", pool_.nevra(link.package).text(),
                                              dependency_text(pool_, link.dependency)));
            cause.packages.push_back(link.package);
        }
    }

    void consider_requirement(const ProblemRule& rule) {
        std::vector<Id> providers = all_providers(pool_, rule.dependency);
        // The solver may only install the stand-in named by the jobs.
        std::erase_if(providers,
                      [&](Id id) { return pool_.is_stand_in(id) && id != jobs_.stand_in; });
        if (std::ranges::any_of(providers, [&](Id id) { return usable(id); })) {
            return;
        }
        const std::optional<Chain> chain = chains_.to(rule.from);
        if (!chain) {
            return;
        }
        Found found;
        found.length = chain->links.size();
        Cause& cause = found.cause;
        append_chain(cause, *chain, rule.from);
        const std::string who = pool_.nevra(rule.from).text();
        const std::string what = dependency_text(pool_, rule.dependency);
        cause.lines.push_back(fmt::format("  {} requires {}", who, what));
        cause.packages.push_back(rule.from);
        describe_dead_end(rule, providers, who, what, cause);
        keep(std::move(found));
    }

    void describe_dead_end(const ProblemRule& rule, const std::vector<Id>& providers,
                           const std::string& who, const std::string& what, Cause& cause) const {
        if (describe_kabi(rule, cause)) {
            return;
        }
        std::vector<Id> ruled_out;
        for (const Id id : providers) {
            (pool_.visible(id) ? ruled_out : cause.filtered).push_back(id);
        }
        pool_.sort_best_first(cause.filtered);
        if (!ruled_out.empty()) {
            cause.message =
                fmt::format("{} requires {}, which fits neither kernel nor driver", who, what);
            if (is_toolkit(pool_.name(rule.from))) {
                cause.message = fmt::format(
                    "{} requires {}, but all parts of the container toolkit have one version", who,
                    what);
            }
            cause.lines.push_back(fmt::format("  only {} would satisfy it, and is ruled out",
                                              some(pool_, ruled_out)));
            return;
        }
        if (!cause.filtered.empty()) {
            cause.message = fmt::format("{} requires {}, which is filtered out", who, what);
            return;
        }
        cause.message = fmt::format("nothing provides {}, which {} requires", what, who);
        const Id name = plain_name(pool_, rule.dependency);
        if (name != 0 && name != rule.dependency) {
            const std::vector<Id> others = all_providers(pool_, name);
            if (!others.empty()) {
                cause.lines.push_back(fmt::format("  there is {}", some(pool_, others)));
                std::ranges::copy_if(others, std::back_inserter(cause.filtered),
                                     [&](Id id) { return !pool_.visible(id); });
            }
        }
    }

    /// Describes a requirement of a kernel symbol that the image's kernel does not provide, or with
    /// another checksum: the bare symbol would not explain anything.
    bool describe_kabi(const ProblemRule& rule, Cause& cause) const {
        const Id name = plain_name(pool_, rule.dependency);
        const auto kernel = std::ranges::find_if(jobs_.installs, [&](const Install& install) {
            return install.why.kind == Reason::Kind::kernel && !install.any_of.empty();
        });
        if (name == 0 || kernel == jobs_.installs.end() ||
            kernel_symbol(pool_id2str(pool_.get(), name)).empty()) {
            return false;
        }
        const std::optional<KabiCause> kabi =
            explain_kabi(pool_, rule.from, kernel->any_of.front());
        if (!kabi) {
            return false;
        }
        cause.message = kabi->message;
        // Removes the line with the single symbol.
        cause.lines.pop_back();
        for (const std::string& line : kabi->lines) {
            cause.lines.push_back("  " + line);
        }
        cause.origins.push_back(origin_of(pool_, blueprint_, *kernel));
        std::ranges::copy_if(kabi->fitting, std::back_inserter(cause.filtered),
                             [&](Id id) { return !pool_.visible(id); });
        return true;
    }

    static bool is_toolkit(const std::string& name) {
        return name.starts_with("nvidia-container-toolkit") ||
               name.starts_with("libnvidia-container");
    }

    void consider_conflict(const ProblemRule& rule) {
        if (rule.from == 0 || rule.to == 0 || !usable(rule.from) || !usable(rule.to)) {
            return;
        }
        std::optional<Chain> one = chains_.to(rule.from);
        std::optional<Chain> other = chains_.to(rule.to);
        if (!one || !other || one->install == other->install) {
            return;
        }
        Id first = rule.from;
        Id second = rule.to;
        if (std::less<>()(other->install, one->install)) {
            std::swap(one, other);
            std::swap(first, second);
        }
        Found found;
        found.kind = 1;
        found.length = one->links.size() + other->links.size();
        Cause& cause = found.cause;
        const std::string left = pool_.nevra(rule.from).text();
        const std::string right = pool_.nevra(rule.to).text();
        append_end(cause, *one, first);
        append_end(cause, *other, second);
        if (rule.type == SOLVER_RULE_PKG_SAME_NAME) {
            cause.message =
                fmt::format("{} is required in two versions: {} and {}", pool_.name(rule.from),
                            std::min(left, right), std::max(left, right));
        } else {
            const bool obsoletes = rule.type != SOLVER_RULE_PKG_CONFLICTS;
            const std::string relation =
                fmt::format("{} {} {}", left, obsoletes ? "obsoletes" : "conflicts with",
                            rule.dependency != 0 ? dependency_text(pool_, rule.dependency) : right);
            cause.message = fmt::format("{} and {} cannot both be installed", left, right);
            cause.lines.push_back(relation);
        }
        keep(std::move(found));
    }

    void append_end(Cause& cause, const Chain& chain, Id end) const {
        append_chain(cause, chain, end);
        if (!chain.links.empty()) {
            cause.lines.push_back(fmt::format("  which is {}", pool_.nevra(end).text()));
        } else {
            cause.lines.back() += fmt::format(": {}", pool_.nevra(end).text());
        }
        cause.packages.push_back(end);
    }

    /// A request whose packages are all ruled out by the chosen kernel, driver or toolkit.
    void consider_request(const Install& install) {
        if (std::ranges::any_of(install.any_of, [&](Id id) { return usable(id); })) {
            return;
        }
        Found found;
        found.kind = 2;
        const bool toolkit = is_toolkit(pool_.name(install.any_of.front()));
        found.cause.message =
            toolkit
                ? fmt::format("{} does not fit the container toolkit: its parts have one version",
                              some(pool_, install.any_of))
                : fmt::format("{} does not fit the image's kernel and driver",
                              some(pool_, install.any_of));
        for (Origin& origin : origins_of(install, install.any_of.front())) {
            found.cause.lines.push_back(origin.text);
            found.cause.origins.push_back(std::move(origin));
        }
        found.cause.packages = install.any_of;
        append_rivals(install, toolkit, found.cause);
        keep(std::move(found));
    }

    /// Adds the jobs that rule out the packages of `install`.
    void append_rivals(const Install& install, bool toolkit, Cause& cause) const {
        const std::vector<Origin> own = cause.origins;
        for (const Install& rival : jobs_.installs) {
            const bool same = std::ranges::any_of(rival.any_of, [&](Id id) {
                return std::ranges::any_of(install.any_of, [&](Id own) {
                    return own != id && pool_.name(own) == pool_.name(id);
                });
            });
            const bool part = toolkit && is_toolkit(pool_.name(rival.any_of.front()));
            if ((same || part) && &rival != &install) {
                const Origin origin = origin_of(pool_, blueprint_, rival);
                const bool same_request =
                    rival.line && std::ranges::any_of(own, [&](const Origin& one) {
                        return one.text == origin.text;
                    });
                if (same_request) {
                    continue;
                }
                cause.lines.push_back(
                    fmt::format("{}: {}", origin.text, some(pool_, rival.any_of)));
                cause.origins.push_back(origin);
            }
        }
    }

    const PackagePool& pool_;
    const Blueprint& blueprint_;
    const Jobs& jobs_;
    const Refusal& refusal_;
    std::set<Id> forbidden_;
    Chains chains_;
    std::optional<Found> best_;
};

}  // namespace

Cause find_cause(const Universe& universe, const Blueprint& blueprint, const Jobs& jobs,
                 const Refusal& refusal) {
    return CauseFinder(universe, blueprint, jobs, refusal).run();
}

}  // namespace edgegpu
