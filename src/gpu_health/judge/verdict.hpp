#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "gpu_health/facts.hpp"
#include "gpu_health/settings.hpp"
#include "gpu_health/steps.hpp"
#include "gpu_health/tables/tables.hpp"
#include "support/text/enum_names.hpp"

namespace edgegpu::gpu_health {

/// Who is to blame.
enum class Verdict { healthy, image, hardware, machine, unclear };

constexpr std::string_view name_of(Verdict verdict) {
    return nth_name(verdict, {"healthy", "image", "hardware", "machine", "unclear"});
}

/// Something that is not as it should be.
struct Finding {
    Step step = Step::presence;
    /// never healthy
    Verdict verdict = Verdict::unclear;
    /// A name that stays the same from boot to boot and from machine to machine: "nouveau-bound",
    /// "xid-79", "nvml-18".
    std::string fault;
    /// the PCI address; empty: the machine's
    std::string device;
    /// one line, a sentence without a full stop
    std::string text;
    /// what to do, in words for an operator; may be empty
    std::string action;
    /// Reported, and no reason for a verdict: an application's Xid, a missing licence.
    bool note = false;
};

/// What happened on this machine before, by commit: /var/lib/edgegpu/gpu-health/commits.json.
struct Memory {
    struct Record {
        /// The GPUs worked with this commit, on this machine, at least once.
        bool healthy = false;
        /// `fault` of the deciding finding of its newest boot; empty: none.
        std::string fault;
        /// Counts up: which of two records is the newer.
        std::uint64_t serial = 0;
        /// Its newest boot was red.
        bool red = false;
    };
    /// commit → record
    std::map<std::string, Record> commits;
};

struct Judgement {
    Verdict verdict = Verdict::healthy;
    /// The boot fails: greenboot goes back to the commit before.
    bool red = false;
    /// in the order of the steps; those with `note` do not count
    std::vector<Finding> findings;
    /// index of the finding that decided, -1: none
    int deciding = -1;
    /// Why it is or is not red: one sentence.
    std::string reason;
    /// step → one line for the journal, of steps that ran
    std::map<Step, std::string> lines;
    /// GPUs that work
    unsigned working = 0;

    /// The finding that decided, or null.
    [[nodiscard]] const Finding* decided() const {
        const auto index = static_cast<std::size_t>(deciding);
        return deciding >= 0 && index < findings.size() ? &findings[index] : nullptr;
    }
};

/// Judges a machine: a pure function. Red is only a fault of the image that this machine's memory
/// does not speak against: a commit that was healthy here, or that fails as the commit before it
/// did, is never a reason to go back.
[[nodiscard]] Judgement judge(const Facts& facts, const Settings& settings, const Tables& tables,
                              const Memory& memory);

/// The memory after this boot.
[[nodiscard]] Memory remember(Memory memory, const Facts& facts, const Judgement& judgement);

}  // namespace edgegpu::gpu_health
