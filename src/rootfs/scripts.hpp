#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "rootfs/import.hpp"

namespace edgegpu {

/// One call of a scriptlet or trigger, with all that rpm would give it.
struct Script {
    /// index into the ordered packages
    std::size_t package = 0;
    /// "%post", "%triggerin (on bash)", "%transfiletriggerin", …
    std::string kind;
    /// program and its options; "<lua>" for rpm's embedded interpreter
    std::vector<std::string> interpreter;
    /// text of the scriptlet; empty where the interpreter alone is run (-p /sbin/ldconfig)
    std::string body;
    /// RPMSCRIPT_FLAG_* bits
    std::uint64_t flags = 0;
    /// numbers passed as $1, $2
    std::vector<int> arguments;
    /// standard input: matching file names of file triggers
    std::string input;
};

/// Every call of a fresh installation, in order.
struct ScriptPlan {
    /// all %triggerprein and %pre
    std::vector<Script> before;
    /// per package %filetriggerin, %post, %triggerin, late %filetriggerin; then %posttrans and
    /// %transfiletriggerin
    std::vector<Script> after;
    /// %pretrans scriptlets, which have no system to run in before the first package
    std::vector<std::string> pretrans;
};

/// Plans the calls from the headers alone (packages in installation order), as rpm 4.18 makes them
/// in a transaction that installs all packages into an empty root.
[[nodiscard]] ScriptPlan plan_scripts(const std::vector<ImportedPackage>& packages);

/// The flag of a scriptlet whose macros are expanded when it is run (%post -e).
inline constexpr std::uint64_t script_expands_macros = 1;
/// The flag of a scriptlet that is a query format of its own header (%post -q).
inline constexpr std::uint64_t script_is_query_format = 2;

}  // namespace edgegpu
