#include "machine/rehearsal/checks.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "embedded_checks.hpp"
#include "support/enum_names.hpp"
#include "support/shell_text.hpp"
#include "support/text.hpp"

namespace edgegpu {

namespace {

using std::chrono::seconds;

/// Emulated, a boot takes minutes, and so do units that are still starting.
constexpr seconds start_limit{600};
/// MicroShift's own health check gives its pods ten minutes.
constexpr seconds greenboot_limit{1200};
/// What the guest's side gets beyond what a script waits for by itself.
constexpr seconds check_margin{60};

std::string joined_lines(const std::vector<std::string>& values) {
    return fmt::format("{}", fmt::join(values, "\n"));
}

std::string seconds_text(seconds limit) {
    return std::to_string(limit.count());
}

Check plain_check(std::string name, std::string_view script, std::string skipped = "") {
    return {std::move(name), script, {}, check_margin, std::move(skipped)};
}

Check multi_user() {
    return {"multi-user",
            embedded::multi_user_bash,
            {{"WAIT", seconds_text(start_limit)}},
            start_limit + check_margin,
            ""};
}

std::string without_selinux(const CommitFacts& facts) {
    return facts.selinux.empty()          ? "the image has no SELinux policy"
           : facts.selinux != "enforcing" ? "the image configures SELINUX=" + facts.selinux
                                          : "";
}

Check denials(const CommitFacts& facts, const std::vector<AllowedDenial>& allowed) {
    std::vector<std::string> rules;
    std::vector<std::string> reasons;
    for (const AllowedDenial& one : allowed) {
        rules.push_back(fmt::format("{} {} {} {}", one.source, one.target, one.object_class,
                                    fmt::join(one.permissions, ",")));
        reasons.push_back(one.reason);
    }
    return {"selinux-denials",
            embedded::denials_bash,
            {{"ALLOWED", joined_lines(rules)}, {"REASONS", joined_lines(reasons)}},
            check_margin,
            facts.selinux.empty() || facts.selinux == "disabled" ? without_selinux(facts) : ""};
}

Check modules(const CommitFacts& facts) {
    constexpr std::size_t shown = 3;
    const std::vector<std::string>& names = facts.blacklisted_modules;
    const std::string some = fmt::format(
        "{}{}",
        fmt::join(names.begin(),
                  names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), shown)), ", "),
        names.size() > shown ? ", …" : "");
    return {"blacklisted-modules",
            embedded::modules_bash,
            {{"MODULES", joined_lines(names)}, {"SHOWN", some}},
            check_margin,
            names.empty() ? "the image blacklists no module" : ""};
}

Check kernel_arguments(const CommitFacts& facts, Arrival arrival,
                       const std::vector<std::string>& gone) {
    const std::vector<std::string> arguments =
        facts.kernel_arguments.value_or(std::vector<std::string>{});
    return {"kernel-arguments",
            embedded::kernel_arguments_bash,
            {{"ARGUMENTS", joined_lines(arguments)},
             {"GONE", joined_lines(gone)},
             {"UPGRADED", arrival == Arrival::upgraded ? "yes" : ""}},
            check_margin,
            !facts.kernel_arguments             ? "the commit does not list its kernel arguments"
            : arguments.empty() && gone.empty() ? "the commit has no kernel arguments of its own"
                                                : ""};
}

Check greenboot(const CommitFacts& facts) {
    return {"greenboot",
            embedded::greenboot_bash,
            {{"UNIT", facts.greenboot}, {"WAIT", seconds_text(greenboot_limit)}},
            greenboot_limit + check_margin,
            facts.greenboot.empty() ? "the image does not enable greenboot" : ""};
}

Check services(const CommitFacts& facts) {
    std::vector<std::string> units;
    for (const EnabledUnit& one : facts.enabled) {
        // greenboot waits for others, and has a check of its own.
        if (!one.unit.starts_with("greenboot")) {
            units.push_back(one.wanted_by + ' ' + one.unit);
        }
    }
    return {"services",
            embedded::services_bash,
            {{"UNITS", joined_lines(units)}, {"WAIT", seconds_text(start_limit)}},
            start_limit + check_margin,
            units.empty() ? "the image enables no unit" : ""};
}

Check firewall(const CommitFacts& facts) {
    const bool firewalld = facts.enables("firewalld.service");
    const bool nftables = facts.enables("nftables.service");
    return {"firewall",
            embedded::firewall_bash,
            {{"UNIT", firewalld ? "firewalld.service" : "nftables.service"},
             {"ZONE", facts.firewalld.name},
             {"PORTS", fmt::format("{}", fmt::join(facts.firewalld.ports, " "))},
             {"SERVICES", fmt::format("{}", fmt::join(facts.firewalld.services, " "))}},
            check_margin,
            firewalld || nftables ? "" : "the image enables neither firewalld nor nftables"};
}

Check bundles(const CommitFacts& facts) {
    const std::vector<std::string> roots = facts.bundle_roots.value_or(std::vector<std::string>{});
    return {"bundles",
            embedded::bundles_bash,
            {{"ROOTS", joined_lines(roots)}},
            check_margin,
            !facts.bundle_roots ? "the image has no MicroShift"
            : roots.empty()     ? "the image has no bundles"
                                : ""};
}

/// Splits the guest's output: the last verdict, notes, and what is between them.
CheckResult judged(const GuestResult& answer) {
    constexpr std::string_view start = "edgegpu-verdict ";
    constexpr std::string_view note = "edgegpu-note ";
    CheckResult result;
    bool found = false;
    for (const std::string_view line : lines_of(answer.output)) {
        if (line.starts_with(note)) {
            result.notes.emplace_back(trim(line.substr(note.size())));
            continue;
        }
        if (!line.starts_with(start)) {
            result.details.emplace_back(trim_end(line));
            continue;
        }
        std::string_view rest = line.substr(start.size());
        const std::string_view word = rest.substr(0, rest.find(' '));
        if (const std::optional<Verdict> verdict = value_named<Verdict>(word)) {
            result.verdict = *verdict;
            result.text = trim(rest.substr(word.size()));
            found = true;
        }
    }
    std::erase(result.details, "");
    if (answer.timed_out) {
        result.verdict = Verdict::failed;
        result.text = "the check did not end in time";
    } else if (!found) {
        result.verdict = Verdict::failed;
        result.text = fmt::format("the check itself failed with status {}", answer.status);
    }
    return result;
}

}  // namespace

std::string_view enum_name(Verdict verdict) {
    switch (verdict) {
        case Verdict::passed:
            return "passed";
        case Verdict::failed:
            return "failed";
        case Verdict::skipped:
            return "skipped";
    }
    return "";
}

std::vector<Check> image_checks(const CommitFacts& facts, const std::vector<AllowedDenial>& allowed,
                                Arrival arrival) {
    return {multi_user(),
            booted_check("booted-commit", facts.commit),
            greenboot(facts),
            services(facts),
            plain_check("failed-units", embedded::failed_units_bash),
            plain_check("selinux-enforcing", embedded::enforcing_bash, without_selinux(facts)),
            denials(facts, allowed),
            Check{"labels",
                  embedded::labels_bash,
                  {{"UPGRADED", arrival == Arrival::upgraded ? "yes" : ""}},
                  start_limit,
                  facts.selinux.empty() ? without_selinux(facts) : ""},
            plain_check("read-only", embedded::read_only_bash),
            kernel_arguments(facts, arrival, {}),
            modules(facts),
            firewall(facts),
            bundles(facts),
            plain_check("boot-time", embedded::boot_time_bash),
            plain_check("memory", embedded::memory_bash)};
}

std::vector<Check> basic_checks(const CommitFacts& facts) {
    return {multi_user(), booted_check("booted-commit", facts.commit),
            plain_check("failed-units", embedded::failed_units_bash)};
}

Check booted_check(const std::string& name, const std::string& commit) {
    return {name, embedded::booted_commit_bash, {{"WANTED", commit}}, check_margin, ""};
}

Check changed_arguments_check(const CommitFacts& facts, const CommitFacts& before) {
    const std::vector<std::string> wanted =
        facts.kernel_arguments.value_or(std::vector<std::string>{});
    std::vector<std::string> gone;
    for (const std::string& argument :
         before.kernel_arguments.value_or(std::vector<std::string>{})) {
        if (std::find(wanted.begin(), wanted.end(), argument) == wanted.end()) {
            gone.push_back(argument);
        }
    }
    return kernel_arguments(facts, Arrival::installed, gone);
}

Check authorized_key_check(const KeyedUser& user) {
    return {"authorized-key " + user.name,
            embedded::authorized_key_bash,
            {{"LOGIN", user.name}, {"KEYS", joined_lines(user.keys)}},
            check_margin,
            ""};
}

std::string script_of(const Check& check) {
    std::string script;
    for (const auto& [name, value] : check.parameters) {
        script += fmt::format("{}={}\n", name, shell_word(value));
    }
    return script + std::string(embedded::common_bash) + std::string(check.script);
}

CheckResult timed_check(const std::string& name, const std::function<CheckResult()>& work) {
    const auto began = std::chrono::steady_clock::now();
    CheckResult result = work();
    result.name = name;
    result.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    return result;
}

CheckResult run_check(Guest& guest, const Check& check) {
    return timed_check(check.name, [&] {
        if (!check.skipped.empty()) {
            CheckResult result;
            result.verdict = Verdict::skipped;
            result.text = check.skipped;
            return result;
        }
        return judged(guest.run(script_of(check), check.limit));
    });
}

}  // namespace edgegpu
