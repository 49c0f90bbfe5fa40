#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "rootfs/import.hpp"

namespace edgegpu {

/// One call of a scriptlet or trigger, with everything that rpm passes to it.
struct Script {
    /// index into the ordered packages
    std::size_t package = 0;
    /// "%post", "%triggerin (on bash)", "%transfiletriggerin", …
    std::string kind;
    /// program and its options; "<lua>" for rpm's embedded interpreter
    std::vector<std::string> interpreter;
    /// text of the scriptlet; empty if only the interpreter is run (-p /sbin/ldconfig)
    std::string body;
    /// RPMSCRIPT_FLAG_* bits
    std::uint64_t flags = 0;
    /// numbers passed as $1, $2
    std::vector<int> arguments;
    /// standard input: matching file names of file triggers
    std::string input;
};

/// The calls of a fresh installation, in order.
struct ScriptPlan {
    /// all %triggerprein and %pre
    std::vector<Script> before;
    /// per package early %filetriggerin, %post, %triggerin, late %filetriggerin; then %posttrans
    /// and %transfiletriggerin
    std::vector<Script> after;
    /// NEVRAs of packages with %pretrans, which is not run: no system exists before the first
    /// package
    std::vector<std::string> pretrans;
};

/// The calls that rpm 4.18 makes in a transaction that installs all packages (in installation
/// order) into an empty root, from their headers alone; or into one that has those before `first`,
/// of which only triggers run.
[[nodiscard]] ScriptPlan plan_scripts(const std::vector<ImportedPackage>& packages,
                                      std::size_t first = 0);

/// RPMSCRIPT_FLAG_EXPAND: macros of the scriptlet are expanded when it is run (%post -e).
inline constexpr std::uint64_t script_expands_macros = 1;
/// RPMSCRIPT_FLAG_QFORMAT: the scriptlet is a query format of its own header (%post -q).
inline constexpr std::uint64_t script_is_query_format = 2;

}  // namespace edgegpu
