#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace edgegpu {

/// One thing that a disk has to be, for an installer to write to it.
struct TargetCondition {
    /// what of the disk: as lsblk(8) and udev(7) know it
    enum class Property { size, model, serial, vendor, path, transport, removable };
    enum class Operator { equal, at_least, at_most };
    Property property = Property::size;
    Operator comparison = Operator::equal;
    /// bytes as digits for `size`; "yes" or "no" for `removable`; else a pattern of the shell
    std::string operand;
};

/// All of them have to be met, by exactly one disk of the machine.
struct TargetRule {
    /// as the user wrote it
    std::string text;
    std::vector<TargetCondition> conditions;
};

inline constexpr std::string_view target_rule_forms =
    "conditions with commas between them: size>=SIZE, size<=SIZE, model=, serial=, vendor=, path=, "
    "transport= (each a pattern with * and ?), removable=yes|no; or any";

/// Reads a rule: "size>=100G,model=Samsung*", or "any" for the only disk of a machine. Where
/// nothing is said of removable disks, which those with USB are as well, they do not match. Throws
/// ErrorKind::usage, with what is wrong and what there is.
[[nodiscard]] TargetRule parse_target_rule(std::string_view text);

/// The rule as the installer's program reads it: "PROPERTY OPERATOR OPERAND" a line, operators "=",
/// ">=" and "<=".
[[nodiscard]] std::string target_rule_lines(const TargetRule& rule);

}  // namespace edgegpu
