#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "image/tree.hpp"

namespace edgegpu {

/// A line of a configuration file of the image, with its continuation lines.
struct ConfigurationLine {
    std::string file;
    std::size_t number = 0;
    std::string text;

    /// "FILE:NUMBER"
    [[nodiscard]] std::string place() const;
};

/// Calls `use` for each line of a file that is neither empty nor a comment.
void each_line(const Tree& tree, const std::string& file,
               const std::function<void(const ConfigurationLine&)>& use);

/// The files of a configuration directory ("modprobe.d") that are in effect: one in /etc overrides
/// that of the same name in /usr/lib.
[[nodiscard]] std::vector<std::string> files_in_effect(const Tree& tree, const std::string& name);

}  // namespace edgegpu
