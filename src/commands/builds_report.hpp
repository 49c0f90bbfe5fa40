#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace edgegpu {

/// How one of several builds ended.
struct BuildOutcome {
    std::filesystem::path blueprint;
    /// how its lines are marked: the blueprint's name
    std::string name;
    std::string ref;
    /// exit status of `edgegpu build` for it; 130 also where it was not begun
    int status = 130;
    /// its JSON document (docs/schemas/build.json); empty where it failed
    std::string document;
    /// where it failed: what it printed, beginning with "error:"
    std::string error;
    double seconds = 0;
};

/// What a build printed on standard error, from its error on; all of it where it printed none.
[[nodiscard]] std::string error_of_messages(const std::string& messages);

/// One line a build, in the order of the command line.
[[nodiscard]] std::string builds_summary(const std::vector<BuildOutcome>& outcomes, double seconds);

/// docs/schemas/builds.json
[[nodiscard]] std::string builds_document(const std::vector<BuildOutcome>& outcomes,
                                          double seconds);

/// 0 where all succeeded; 77 where all were unchanged and that is asked for (`unchanged`); else the
/// status of the first that failed, in the order of the command line.
[[nodiscard]] int builds_status(const std::vector<BuildOutcome>& outcomes, bool unchanged);

}  // namespace edgegpu
