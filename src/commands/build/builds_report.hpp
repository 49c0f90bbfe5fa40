#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace edgegpu {

/// How one of several builds ended.
struct BuildOutcome {
    std::filesystem::path blueprint;
    /// the blueprint's name, which marks its lines
    std::string name;
    std::string ref;
    /// exit status of `edgegpu build` for it; 130 also if it was not started
    int status = 130;
    /// its JSON document (docs/schemas/build.json); empty if it failed
    std::string document;
    /// if it failed: what it printed, from "error:" on
    std::string error;
    double seconds = 0;
};

/// What a build printed on standard error, from its error on; all of it if it has none.
[[nodiscard]] std::string error_of_messages(const std::string& messages);

/// One line a build, in the order of the command line.
[[nodiscard]] std::string builds_summary(const std::vector<BuildOutcome>& outcomes, double seconds);

/// docs/schemas/builds.json
[[nodiscard]] std::string builds_document(const std::vector<BuildOutcome>& outcomes,
                                          double seconds);

/// 0 if all succeeded; 77 if all were unchanged and that is asked for (`unchanged`); else the
/// status of the first that failed, in the order of the command line.
[[nodiscard]] int builds_status(const std::vector<BuildOutcome>& outcomes, bool unchanged);

}  // namespace edgegpu
