#include "machine/rehearsal/checks.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "embedded_checks.hpp"
#include "support/text/enum_names.hpp"
#include "support/text/shell_text.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

using std::chrono::seconds;

/// Emulated, a boot takes minutes, and so do units that are still starting.
constexpr seconds start_limit{600};
/// MicroShift's own health check gives its pods ten minutes.
constexpr seconds greenboot_limit{1200};
/// More than the default deadlines of gpu-health's steps together, after greenboot.
constexpr seconds gpu_health_limit{300};
/// What the guest's side gets beyond what a script waits for by itself.
constexpr seconds check_margin{60};

std::string joined_lines(const std::vector<std::string>& values) {
    return fmt::format("{}", fmt::join(values, "\n"));
}

std::string seconds_text(seconds limit) {
    return std::to_string(limit.count());
}

Check plain_check(std::string name, std::string_view script, std::string skipped = "") {
    return {std::move(name), std::string(script), {}, check_margin, std::move(skipped)};
}

std::string about_denials(std::string_view script) {
    return std::string(embedded::denied_bash) + std::string(script);
}

Check multi_user(const std::string& name, seconds limit) {
    return {name,
            std::string(embedded::multi_user_bash),
            {{"WAIT", seconds_text(limit)}},
            limit + check_margin,
            "",
            Kind::of_boot};
}

Check failed_units() {
    Check check = plain_check("failed-units", embedded::failed_units_bash);
    check.kind = Kind::of_boot;
    return check;
}

std::string without_selinux(const CommitFacts& facts) {
    return facts.selinux.empty()          ? "the image has no SELinux policy"
           : facts.selinux != "enforcing" ? "the image configures SELINUX=" + facts.selinux
                                          : "";
}

/// Of an image in which SELinux looks at nothing; permissive, it does.
std::string unused_selinux(const CommitFacts& facts) {
    return facts.selinux.empty() || facts.selinux == "disabled" ? without_selinux(facts) : "";
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
            about_denials(embedded::denials_bash),
            {{"ALLOWED", joined_lines(rules)}, {"REASONS", joined_lines(reasons)}},
            start_limit,
            unused_selinux(facts)};
}

/// `users`: they, or their programs, have been at work.
Check labels(const std::string& name, const CommitFacts& facts, bool users) {
    return {name,
            std::string(embedded::labels_bash),
            {{"USERS", users ? "yes" : ""}},
            start_limit,
            unused_selinux(facts)};
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
            std::string(embedded::modules_bash),
            {{"MODULES", joined_lines(names)}, {"SHOWN", some}},
            check_margin,
            names.empty() ? "the image blacklists no module" : ""};
}

/// Arguments that `other` has and `facts` has not.
std::vector<std::string> arguments_of_other(const CommitFacts& facts, const CommitFacts& other) {
    const std::vector<std::string> wanted =
        facts.kernel_arguments.value_or(std::vector<std::string>{});
    std::vector<std::string> gone;
    for (const std::string& argument :
         other.kernel_arguments.value_or(std::vector<std::string>{})) {
        if (std::ranges::find(wanted, argument) == wanted.end()) {
            gone.push_back(argument);
        }
    }
    return gone;
}

/// `later`: the next boot may be the first that has them.
Check kernel_arguments(const CommitFacts& facts, const std::vector<std::string>& gone, bool later) {
    const std::vector<std::string> arguments =
        facts.kernel_arguments.value_or(std::vector<std::string>{});
    return {"kernel-arguments",
            std::string(embedded::kernel_arguments_bash),
            {{"ARGUMENTS", joined_lines(arguments)},
             {"GONE", joined_lines(gone)},
             {"LATER", later ? "yes" : ""}},
            check_margin,
            !facts.kernel_arguments             ? "the commit does not list its kernel arguments"
            : arguments.empty() && gone.empty() ? "the commit has no kernel arguments of its own"
                                                : ""};
}

Check greenboot(const CommitFacts& facts) {
    return {"greenboot",
            std::string(embedded::greenboot_bash),
            {{"UNIT", facts.greenboot}, {"WAIT", seconds_text(greenboot_limit)}},
            greenboot_limit + check_margin,
            facts.greenboot.empty() ? "the image does not enable greenboot" : "",
            Kind::of_boot};
}

Check gpu_health(const CommitFacts& facts) {
    return {"gpu-health",
            std::string(embedded::gpu_health_bash),
            {{"UNIT", facts.greenboot.empty() ? "edgegpu-gpu-health.service" : facts.greenboot},
             {"WAIT", seconds_text(gpu_health_limit)}},
            gpu_health_limit + check_margin,
            facts.gpu_health ? "" : "the image has no gpu-health",
            Kind::of_boot};
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
            std::string(embedded::services_bash),
            {{"UNITS", joined_lines(units)}, {"WAIT", seconds_text(start_limit)}},
            start_limit + check_margin,
            units.empty() ? "the image enables no unit" : "",
            Kind::of_boot};
}

Check firewall(const CommitFacts& facts) {
    const bool firewalld = facts.enables("firewalld.service");
    const bool nftables = facts.enables("nftables.service");
    return {"firewall",
            std::string(embedded::firewall_bash),
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
            std::string(embedded::bundles_bash),
            {{"ROOTS", joined_lines(roots)}},
            check_margin,
            !facts.bundle_roots ? "the image has no MicroShift"
            : roots.empty()     ? "the image has no bundles"
                                : ""};
}

/// Splits the guest's output: the last verdict, notes, and what is between them.
CheckResult judged(const Check& check, const GuestResult& answer) {
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
    } else if (!found || answer.status != 0) {
        // A script ends with its verdict; what it printed before may be anybody's.
        result.verdict = Verdict::failed;
        result.text = fmt::format("the check itself failed with status {}", answer.status);
    } else if (result.verdict == Verdict::skipped && check.kind != Kind::information) {
        result.verdict = Verdict::failed;
        result.text = "the machine left out a check of what the image has: " + result.text;
    }
    return result;
}

}  // namespace

std::string_view enum_name(Verdict verdict) {
    return nth_name(verdict, {"passed", "failed", "skipped"});
}

std::vector<Check> image_checks(const CommitFacts& facts, const CommitFacts* before) {
    const bool later = before != nullptr && !before->sets_next_arguments;
    Check boot_time = plain_check("boot-time", embedded::boot_time_bash);
    boot_time.kind = Kind::information;
    return {multi_user("multi-user", start_limit),
            booted_check("booted-commit", facts.commit),
            greenboot(facts),
            gpu_health(facts),
            services(facts),
            plain_check("selinux-enforcing", embedded::enforcing_bash, without_selinux(facts)),
            labels("labels", facts, before != nullptr),
            plain_check("read-only", embedded::read_only_bash),
            kernel_arguments(
                facts,
                before == nullptr ? std::vector<std::string>{} : arguments_of_other(facts, *before),
                later),
            modules(facts),
            firewall(facts),
            bundles(facts),
            std::move(boot_time),
            plain_check("memory", embedded::memory_bash)};
}

std::vector<Check> final_checks(const CommitFacts& facts,
                                const std::vector<AllowedDenial>& allowed) {
    return {multi_user("multi-user-at-end", check_margin), failed_units(),
            labels("labels-at-end", facts, true), denials(facts, allowed)};
}

std::vector<Check> basic_checks(const CommitFacts& facts) {
    return {multi_user("multi-user", start_limit), booted_check("booted-commit", facts.commit),
            failed_units()};
}

Check booted_check(const std::string& name, const std::string& commit) {
    return {name,
            std::string(embedded::booted_commit_bash),
            {{"WANTED", commit}},
            check_margin,
            "",
            Kind::of_boot};
}

Check changed_arguments_check(const CommitFacts& facts, const CommitFacts& other) {
    return kernel_arguments(facts, arguments_of_other(facts, other), false);
}

Check gpu_nodes_check(const std::vector<GuestNode>& nodes) {
    std::vector<std::string> cells;
    for (std::size_t cell = 0; cell < nodes.size(); ++cell) {
        cells.insert(cells.end(), nodes[cell].gpus.size(), std::to_string(cell));
    }
    return {"gpu-nodes",
            std::string(embedded::gpu_nodes_bash),
            {{"CELLS", joined_lines(cells)}, {"DEVICES", "/sys/bus/pci/devices"}},
            check_margin,
            ""};
}

Check denials_beside_check(std::optional<long> ago) {
    return {"denials-beside",
            about_denials(embedded::denied_beside_bash),
            {{"AGO", ago ? std::to_string(*ago) : ""}},
            check_margin,
            ""};
}

Check authorized_key_check(const KeyedUser& user) {
    return {"authorized-key " + user.name,
            std::string(embedded::authorized_key_bash),
            {{"LOGIN", user.name}, {"KEYS", joined_lines(user.keys)}},
            check_margin,
            user.shell.ends_with("/nologin") || user.shell.ends_with("/false")
                ? fmt::format("{} cannot log in: the shell is {}", user.name, user.shell)
                : ""};
}

std::string script_of(const Check& check) {
    std::string script;
    for (const auto& [name, value] : check.parameters) {
        script += fmt::format("{}={}\n", name, shell_word(value));
    }
    return script + std::string(embedded::common_bash) + check.script;
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
        return judged(check, guest.run(script_of(check), check.limit));
    });
}

}  // namespace edgegpu
