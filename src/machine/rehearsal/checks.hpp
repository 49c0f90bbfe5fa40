#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "execution/context.hpp"
#include "machine/guest.hpp"
#include "machine/rehearsal/commit_facts.hpp"
#include "machine/virtual_machine.hpp"

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

/// What a check can say.
enum class Kind {
    /// passed or failed: what there is to check was read from the commit, not from the guest
    demand,
    /// the same, about the boot as a whole
    of_boot,
    /// also that there is nothing to tell
    information
};

/// A check that a script does in the guest.
struct Check {
    std::string name;
    /// bash; begins with what checks/common.bash declares, and ends with a verdict
    std::string script;
    /// variables of the script
    std::map<std::string, std::string> parameters;
    std::chrono::seconds limit{60};
    /// not empty: there is nothing to check, and why
    std::string skipped;
    Kind kind = Kind::demand;
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

/// The checks of a machine that should run the commit with these facts, in their order. `before`:
/// those of the commit that it was upgraded from; nullptr if it was installed.
[[nodiscard]] std::vector<Check> image_checks(const CommitFacts& facts, const CommitFacts* before);

/// The checks of what may go wrong at any time, the checks before included: to be made last.
[[nodiscard]] std::vector<Check> final_checks(const CommitFacts& facts,
                                              const std::vector<AllowedDenial>& allowed);

/// The checks of a machine that is not new: whether it is up, and runs the commit.
[[nodiscard]] std::vector<Check> basic_checks(const CommitFacts& facts);

/// Whether the machine runs `commit`.
[[nodiscard]] Check booted_check(const std::string& name, const std::string& commit);

/// Whether the kernel has the arguments of the commit, and none of those that only the commit
/// `other` has.
[[nodiscard]] Check changed_arguments_check(const CommitFacts& facts, const CommitFacts& other);

/// Whether the guest sees the NUMA node of each display adapter that stands for a GPU.
[[nodiscard]] Check gpu_nodes_check(const std::vector<GuestNode>& nodes);

/// What SELinux denied in the last `ago` seconds, or without in this boot, in the details: for the
/// report of a check that failed.
[[nodiscard]] Check denials_beside_check(std::optional<long> ago);

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
