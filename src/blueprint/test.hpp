#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "support/source_location.hpp"
#include "support/text/enum_names.hpp"

/// What `edgegpu test` takes from a blueprint; the commit does not depend on any of it.
namespace edgegpu {

/// A part of a rehearsal in which the machine is in one state.
enum class TestPhase { boot, before_upgrade, upgrade, before_rollback, rollback };

constexpr std::string_view enum_name(TestPhase phase) {
    return nth_name(phase, {"boot", "before-upgrade", "upgrade", "before-rollback", "rollback"});
}

/// `[[test.checks]]`: a program that runs in the machine.
struct TestCheckRequest {
    std::string name;
    /// The program, or a bash script without "#!". Empty: `path` has it.
    std::string script;
    /// Absolute path on the build machine.
    std::filesystem::path path;
    /// Account of the image that runs it.
    std::string user = "root";
    /// Seconds.
    std::uint32_t timeout = 600;
    std::vector<TestPhase> phases{TestPhase::boot, TestPhase::upgrade};
    SourceLocation location;
};

/// `[[test.allow_denials]]`: SELinux denials that do not count, as in a rule
/// "allow SOURCE TARGET:CLASS { PERMISSIONS }".
struct AllowedDenialRequest {
    /// Types.
    std::string source;
    /// The same, or "self".
    std::string target;
    std::string object_class;
    std::vector<std::string> permissions;
    /// Why they do not matter; one line, not empty.
    std::string reason;
    SourceLocation location;
};

/// `[test]`.
struct TestRequest {
    std::vector<TestCheckRequest> checks;
    std::vector<AllowedDenialRequest> allow_denials;
};

}  // namespace edgegpu
