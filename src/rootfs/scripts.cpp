#include "rootfs/scripts.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include <rpm/rpmds.h>

#include "rootfs/rpm_header.hpp"
#include "support/error.hpp"

namespace edgegpu {

namespace {

/// File triggers of at least this priority run before %post, the others after it (rpm's
/// TRIGGER_PRIORITY_BOUND; the default priority is 1000000).
constexpr std::uint64_t early_priority = 10000;

/// The tags of a plain scriptlet.
struct ScriptTags {
    const char* kind;
    rpmTagVal body;
    rpmTagVal program;
    rpmTagVal flags;
};

constexpr ScriptTags pre{"%pre", RPMTAG_PREIN, RPMTAG_PREINPROG, RPMTAG_PREINFLAGS};
constexpr ScriptTags post{"%post", RPMTAG_POSTIN, RPMTAG_POSTINPROG, RPMTAG_POSTINFLAGS};
constexpr ScriptTags posttrans{"%posttrans", RPMTAG_POSTTRANS, RPMTAG_POSTTRANSPROG,
                               RPMTAG_POSTTRANSFLAGS};

/// The tags of a kind of trigger.
struct TriggerTags {
    rpmTagVal name;
    rpmTagVal flags;
    rpmTagVal index;
    rpmTagVal body;
    rpmTagVal program;
    rpmTagVal script_flags;
    rpmTagVal priority;
};

constexpr TriggerTags package_triggers{
    RPMTAG_TRIGGERNAME,       RPMTAG_TRIGGERFLAGS,       RPMTAG_TRIGGERINDEX, RPMTAG_TRIGGERSCRIPTS,
    RPMTAG_TRIGGERSCRIPTPROG, RPMTAG_TRIGGERSCRIPTFLAGS, RPMTAG_NOT_FOUND};
constexpr TriggerTags file_triggers{RPMTAG_FILETRIGGERNAME,       RPMTAG_FILETRIGGERFLAGS,
                                    RPMTAG_FILETRIGGERINDEX,      RPMTAG_FILETRIGGERSCRIPTS,
                                    RPMTAG_FILETRIGGERSCRIPTPROG, RPMTAG_FILETRIGGERSCRIPTFLAGS,
                                    RPMTAG_FILETRIGGERPRIORITIES};
constexpr TriggerTags transaction_triggers{
    RPMTAG_TRANSFILETRIGGERNAME,       RPMTAG_TRANSFILETRIGGERFLAGS,
    RPMTAG_TRANSFILETRIGGERINDEX,      RPMTAG_TRANSFILETRIGGERSCRIPTS,
    RPMTAG_TRANSFILETRIGGERSCRIPTPROG, RPMTAG_TRANSFILETRIGGERSCRIPTFLAGS,
    RPMTAG_TRANSFILETRIGGERPRIORITIES};

std::optional<Script> read_script(const std::vector<ImportedPackage>& packages, std::size_t package,
                                  const ScriptTags& tags) {
    Header header = packages[package].header.get();
    Script script;
    script.interpreter = header_strings(header, tags.program);
    script.body = header_string(header, tags.body);
    if (script.interpreter.empty() && script.body.empty()) {
        return std::nullopt;
    }
    if (script.interpreter.empty()) {
        script.interpreter = {"/bin/sh"};
    }
    script.package = package;
    script.kind = tags.kind;
    script.flags = header_number(header, tags.flags);
    script.arguments = {1};
    return script;
}

/// A trigger script of a package and its conditions.
struct Trigger {
    Script script;
    std::uint64_t priority = 0;
    /// file triggers: path prefixes; package triggers: unused
    std::vector<std::string> prefixes;
    /// package triggers: positions in the header's list of conditions
    std::vector<std::size_t> conditions;
};

/// values[index], or `fallback` if there is no such index.
template <typename T>
T at_or(const std::vector<T>& values, std::size_t index, T fallback) {
    return index < values.size() ? values[index] : fallback;
}

/// The triggers of `package` that fire on `sense` (RPMSENSE_TRIGGERIN, …), highest priority
/// first.
std::vector<Trigger> read_triggers(const std::vector<ImportedPackage>& packages,
                                   std::size_t package, const TriggerTags& tags,
                                   rpmsenseFlags sense, const std::string& kind) {
    Header header = packages[package].header.get();
    const std::vector<std::string> names = header_strings(header, tags.name);
    if (names.empty()) {
        return {};
    }
    const auto senses = header_numbers(header, tags.flags);
    const auto indexes = header_numbers(header, tags.index);
    const auto bodies = header_strings(header, tags.body);
    const auto programs = header_strings(header, tags.program);
    const auto flags = header_numbers(header, tags.script_flags);
    const auto priorities = tags.priority == RPMTAG_NOT_FOUND
                                ? std::vector<std::uint64_t>()
                                : header_numbers(header, tags.priority);
    std::vector<Trigger> triggers(bodies.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
        const std::size_t index = at_or<std::uint64_t>(indexes, i, bodies.size());
        if (index >= bodies.size()) {
            throw error("package {}: its {} scripts are damaged", packages[package].nevra.text(),
                        kind);
        }
        if ((at_or<std::uint64_t>(senses, i, 0) & sense) != 0) {
            triggers[index].prefixes.push_back(names[i]);
            triggers[index].conditions.push_back(i);
        }
    }
    for (std::size_t i = 0; i < triggers.size(); ++i) {
        Script& script = triggers[i].script;
        script.package = package;
        script.kind = kind;
        script.body = bodies[i];
        script.interpreter = {at_or<std::string>(programs, i, "/bin/sh")};
        script.flags = at_or<std::uint64_t>(flags, i, 0);
        triggers[i].priority = at_or<std::uint64_t>(priorities, i, 0);
    }
    std::erase_if(triggers, [](const Trigger& trigger) { return trigger.conditions.empty(); });
    std::stable_sort(triggers.begin(), triggers.end(),
                     [](const Trigger& a, const Trigger& b) { return a.priority > b.priority; });
    return triggers;
}

/// Appends the files of `package` that match a prefix of a file trigger, one per line.
void append_matches(const ImportedPackage& package, const std::string& prefix, std::string& names) {
    for (const ImportedFile& file : package.files) {
        if (file.path.starts_with(prefix)) {
            names += file.path + '\n';
        }
    }
}

class Planner {
public:
    Planner(const std::vector<ImportedPackage>& packages, std::size_t first)
        : packages_(packages), first_(first) {
        for (std::size_t i = 0; i < packages.size(); ++i) {
            before_.push_back(read_triggers(packages, i, package_triggers, RPMSENSE_TRIGGERPREIN,
                                            "%triggerprein"));
            package_.push_back(
                read_triggers(packages, i, package_triggers, RPMSENSE_TRIGGERIN, "%triggerin"));
            file_.push_back(
                read_triggers(packages, i, file_triggers, RPMSENSE_TRIGGERIN, "%filetriggerin"));
            transaction_.push_back(read_triggers(packages, i, transaction_triggers,
                                                 RPMSENSE_TRIGGERIN, "%transfiletriggerin"));
        }
    }

    ScriptPlan plan() {
        for (std::size_t i = first_; i < packages_.size(); ++i) {
            package_triggers_of(i, before_, RPMSENSE_TRIGGERPREIN, plan_.before);
            add(i, pre, plan_.before);
            if (!header_strings(packages_[i].header.get(), RPMTAG_PRETRANSPROG).empty()) {
                plan_.pretrans.push_back(packages_[i].nevra.text());
            }
        }
        for (std::size_t i = first_; i < packages_.size(); ++i) {
            file_triggers_of(i, true);
            add(i, post, plan_.after);
            package_triggers_of(i, package_, RPMSENSE_TRIGGERIN, plan_.after);
            file_triggers_of(i, false);
        }
        for (std::size_t i = first_; i < packages_.size(); ++i) {
            add(i, posttrans, plan_.after);
        }
        for (std::size_t i = 0; i < packages_.size(); ++i) {
            transaction_triggers_of(i);
        }
        return std::move(plan_);
    }

private:
    using Triggers = std::vector<std::vector<Trigger>>;

    void add(std::size_t package, const ScriptTags& tags, std::vector<Script>& scripts) {
        if (std::optional<Script> script = read_script(packages_, package, tags)) {
            scripts.push_back(std::move(*script));
        }
    }

    /// Whether `other` satisfies one of the trigger's conditions ("bash >= 5").
    [[nodiscard]] bool set_off_by(const Trigger& trigger, std::size_t other) const {
        const RpmDependencies conditions(
            rpmdsNew(packages_[trigger.script.package].header.get(), RPMTAG_TRIGGERNAME, 0));
        const std::set<std::size_t> wanted(trigger.conditions.begin(), trigger.conditions.end());
        rpmdsInit(conditions.get());
        for (int i = rpmdsNext(conditions.get()); i >= 0; i = rpmdsNext(conditions.get())) {
            if (wanted.contains(static_cast<std::size_t>(i)) &&
                packages_[other].nevra.name == rpmdsN(conditions.get()) &&
                rpmdsAnyMatchesDep(packages_[other].header.get(), conditions.get(), 1) != 0) {
                return true;
            }
        }
        return false;
    }

    void fire(const Trigger& trigger, std::size_t other, std::vector<Script>& scripts) {
        Script script = trigger.script;
        script.kind += " (on " + packages_[other].nevra.name + ")";
        script.arguments = {1, 1};
        scripts.push_back(std::move(script));
    }

    /// Adds triggers of packages installed so far that `package` sets off, then triggers of
    /// `package` that these set off, each script at most once.
    void package_triggers_of(std::size_t package, const Triggers& triggers, rpmsenseFlags sense,
                             std::vector<Script>& scripts) {
        // %triggerprein runs while the package itself is not yet installed.
        const std::size_t installed = sense == RPMSENSE_TRIGGERPREIN ? package : package + 1;
        for (std::size_t owner = 0; owner < package; ++owner) {
            for (const Trigger& trigger : triggers[owner]) {
                if (set_off_by(trigger, package)) {
                    fire(trigger, package, scripts);
                }
            }
        }
        for (const Trigger& trigger : triggers[package]) {
            for (std::size_t other = 0; other < installed; ++other) {
                if (set_off_by(trigger, other)) {
                    fire(trigger, other, scripts);
                    break;
                }
            }
        }
    }

    /// Adds the file trigger if files of packages from `first` to before `last` match; they are in
    /// rpm's order, prefix by prefix.
    void fire_files(const Trigger& trigger, std::size_t first, std::size_t last) {
        Script script = trigger.script;
        for (const std::string& prefix : trigger.prefixes) {
            for (std::size_t i = first; i < last; ++i) {
                append_matches(packages_[i], prefix, script.input);
            }
        }
        if (!script.input.empty()) {
            script.arguments = {0, 0};
            plan_.after.push_back(std::move(script));
        }
    }

    /// Adds file triggers of packages installed so far for the files of `package`, by priority,
    /// then those of `package` for all files installed so far; only those that run before %post
    /// (`early`) or after it.
    void file_triggers_of(std::size_t package, bool early) {
        std::vector<const Trigger*> others;
        for (std::size_t owner = 0; owner < package; ++owner) {
            for (const Trigger& trigger : file_[owner]) {
                others.push_back(&trigger);
            }
        }
        std::stable_sort(others.begin(), others.end(), [](const Trigger* a, const Trigger* b) {
            return a->priority > b->priority;
        });
        for (const Trigger* trigger : others) {
            if ((trigger->priority >= early_priority) == early) {
                fire_files(*trigger, package, package + 1);
            }
        }
        for (const Trigger& trigger : file_[package]) {
            if ((trigger.priority >= early_priority) == early) {
                fire_files(trigger, 0, package + 1);
            }
        }
    }

    void transaction_triggers_of(std::size_t package) {
        for (const Trigger& trigger : transaction_[package]) {
            // Those of the parent have been fired for its own files.
            fire_files(trigger, package < first_ ? first_ : 0, packages_.size());
        }
    }

    const std::vector<ImportedPackage>& packages_;
    /// the first that is installed now; those before it are the parent's
    std::size_t first_;
    Triggers before_;
    Triggers package_;
    Triggers file_;
    Triggers transaction_;
    ScriptPlan plan_;
};

}  // namespace

ScriptPlan plan_scripts(const std::vector<ImportedPackage>& packages, std::size_t first) {
    return Planner(packages, first).plan();
}

}  // namespace edgegpu
