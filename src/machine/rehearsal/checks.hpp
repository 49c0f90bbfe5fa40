#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "execution/context.hpp"
#include "machine/guest.hpp"
#include "machine/rehearsal/commit_facts.hpp"

namespace edgegpu {

/// How a check ended. Skipped: there was nothing to check, for the reason in the text.
enum class Verdict { passed, failed, skipped };

/// "passed"; empty for a value that is none.
[[nodiscard]] std::string_view enum_name(Verdict verdict);

/// What a check found.
struct CheckResult {
    /// "failed-units"; the same for the same check always
    std::string name;
    Verdict verdict = Verdict::passed;
    /// one plain line; from the guest, so that it may contain anything
    std::string text;
    /// lines that help to find the cause, from the guest
    std::vector<std::string> details;
    double seconds = 0;
    /// plain lines to be shown whatever the verdict, from the guest
    std::vector<std::string> notes = {};
};

/// A check that a script does in the guest.
struct Check {
    std::string name;
    /// bash; begins with what checks/common.bash declares, and ends with a verdict
    std::string_view script;
    /// variables of the script
    std::map<std::string, std::string> parameters;
    std::chrono::seconds limit{60};
    /// not empty: there is nothing to check, and why
    std::string skipped;
};

/// Denials that do not count: of the policy's rule "allow SOURCE TARGET:CLASS { PERMISSIONS }".
struct AllowedDenial {
    /// types; target may be "self"
    std::string source;
    std::string target;
    std::string object_class;
    std::vector<std::string> permissions;
    /// one line
    std::string reason;
};

/// How a commit came onto the machine. One that was upgraded starts with the kernel arguments of
/// the commit before; its own may take effect at the next boot.
enum class Arrival { installed, upgraded };

/// The checks of a machine that should run the commit with these facts, in their order.
[[nodiscard]] std::vector<Check> image_checks(const CommitFacts& facts,
                                              const std::vector<AllowedDenial>& allowed,
                                              Arrival arrival = Arrival::installed);

/// The same without those that only a new image needs: whether the machine is up, and runs it.
[[nodiscard]] std::vector<Check> basic_checks(const CommitFacts& facts);

/// Whether the machine runs `commit`.
[[nodiscard]] Check booted_check(const std::string& name, const std::string& commit);

/// Whether the kernel has the arguments of the commit, and none of those that only the commit
/// `before` has.
[[nodiscard]] Check changed_arguments_check(const CommitFacts& facts, const CommitFacts& before);

/// Whether the guest accepts the image's own key of `user`.
[[nodiscard]] Check authorized_key_check(const KeyedUser& user);

/// The whole script of a check, as the guest gets it.
[[nodiscard]] std::string script_of(const Check& check);

/// Runs one check. Throws Error if the guest is gone.
[[nodiscard]] CheckResult run_check(Guest& guest, const Check& check);

/// Runs `work`, which gives text, verdict and details, and adds name and time.
[[nodiscard]] CheckResult timed_check(const std::string& name,
                                      const std::function<CheckResult()>& work);

}  // namespace edgegpu
