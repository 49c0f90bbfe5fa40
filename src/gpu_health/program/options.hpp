#pragma once

#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "gpu_health/observe/observe.hpp"

namespace edgegpu::gpu_health {

/// The exit statuses of gpu-health. With --greenboot there are only `healthy` and `red`.
struct ExitStatus {
    static constexpr int healthy = 0;
    /// The boot fails: the image is to blame.
    static constexpr int red = 1;
    /// The command line is wrong.
    static constexpr int usage = 2;
    static constexpr int hardware = 3;
    /// A person has to do something at this machine.
    static constexpr int machine = 4;
    /// A fault that is no reason to go back and neither of the two, or one of gpu-health itself.
    static constexpr int unclear = 5;
};

/// A command line that cannot be understood; the text says what is wrong with it.
class UsageError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

enum class Output { journal, explanation, json };

/// What the command line says.
struct Options {
    bool help = false;
    bool version = false;
    bool greenboot = false;
    /// Look at the machine, print what was found as facts, and judge nothing.
    bool record = false;
    /// where to; empty: standard output
    std::filesystem::path record_file;
    /// a recorded machine to judge; empty: this one
    std::filesystem::path facts;
    Output output = Output::journal;
    Places places;
    /// Read instead of the image's and this machine's.
    std::optional<std::filesystem::path> settings;
    /// Directory with tables of this machine.
    std::filesystem::path tables;
    /// Directory of the memory. Nothing: nothing is remembered.
    std::optional<std::filesystem::path> state;
    /// /run. Nothing: no report is written.
    std::optional<std::filesystem::path> run;
    /// gpu-probe
    std::filesystem::path probe;
};

/// Reads the words behind the program's name; `program` is the path of its file. A recorded machine
/// leaves no trace on this one: with --facts, `state` and `run` are those of the command line
/// alone. Throws UsageError.
[[nodiscard]] Options parse_options(const std::vector<std::string>& words,
                                    const std::filesystem::path& program);

/// What --help prints.
[[nodiscard]] std::string help_text();

}  // namespace edgegpu::gpu_health
