#include "gpu_health/program/check.hpp"

#include <algorithm>
#include <csignal>
#include <exception>
#include <iostream>
#include <optional>
#include <stdexcept>

#include "gpu_health/program/files.hpp"
#include "gpu_health/program/lock.hpp"
#include "gpu_health/program/look.hpp"
#include "gpu_health/program/memory_file.hpp"
#include "gpu_health/program/supervise.hpp"
#include "gpu_health/report/report.hpp"
#include "support/text/terminal_text.hpp"

namespace edgegpu::gpu_health {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t facts_limit = std::size_t{64} << 20U;
/// How long another run is waited for.
constexpr std::chrono::seconds lock_patience{30};
/// For what is read and written besides the look.
constexpr std::chrono::seconds writing_time{15};

void print_notes(const Notes& notes) {
    for (const std::string& note : notes) {
        std::cerr << "gpu-health: " << printable_line(note) << '\n';
    }
}

Facts recorded_machine(const fs::path& path) {
    const std::string name = path.string() + ": ";
    try {
        const auto text = read_whole(path, facts_limit);
        if (!text) {
            throw std::runtime_error("there is no such file");
        }
        return read_facts(*text);
    } catch (const std::exception& problem) {
        throw UsageError(name + problem.what());
    }
}

int record(const Options& options, const Facts& facts) {
    if (options.record_file.empty()) {
        std::cout << facts_json(facts);
        return ExitStatus::healthy;
    }
    try {
        write_whole(fs::absolute(options.record_file), facts_json(facts));
        return ExitStatus::healthy;
    } catch (const std::exception& problem) {
        std::cerr << "gpu-health: " << options.record_file.string() << ": " << problem.what()
                  << '\n';
        return ExitStatus::unclear;
    }
}

/// A report that cannot be written is noted, and changes nothing in the verdict.
void publish(const fs::path& path, const std::string& text, Notes& notes) {
    try {
        if (text.empty()) {
            remove_file(path);
        } else {
            write_whole(path, text);
        }
    } catch (const std::exception& problem) {
        notes.push_back(path.string() + " cannot be written: " + problem.what());
    }
}

void print(const Options& options, const Facts& facts, const Judgement& judgement,
           const std::string& report) {
    // Whoever does not read to the end does not change the verdict.
    ::signal(SIGPIPE, SIG_IGN);
    switch (options.output) {
        case Output::journal:
            std::cout << journal_text(facts, judgement);
            break;
        case Output::explanation:
            std::cout << explanation(facts, judgement);
            break;
        case Output::json:
            std::cout << report;
            break;
    }
    std::cout.flush();
}

/// The step could not be done; one that hangs may hang in the driver.
bool has_failed(const Facts& facts, Step step) {
    const auto run = facts.runs.find(std::string(name_of(step)));
    return run != facts.runs.end() && !run->second.hung && !run->second.error.empty();
}

/// NVIDIA's libraries were not asked about the GPUs: gpu-probe is missing, or may not be run.
bool could_not_ask(const Facts& facts) {
    return !facts.functions.empty() &&
           (facts.nvml.end == ChildEnd::missing || has_failed(facts, Step::nvml));
}

/// Remembers this boot; whether it could.
bool remember_boot(const Options& options, const Facts& facts, const Memory& memory,
                   const Judgement& judgement, Notes& notes) {
    return !options.state ||
           store_memory(*options.state, remember(memory, facts, judgement), notes);
}

int judge_and_tell(const Options& options, const Settings& settings, bool settings_known,
                   const Look& look, Notes& notes) {
    const Tables tables = load_tables(options, notes);
    const Memory memory = options.state ? load_memory(*options.state, notes) : Memory();
    Judgement judgement = judge(look.facts, settings, tables, memory);
    // Without its name a commit has no memory, and nothing would end a loop.
    const bool known = look.machine_known && !look.facts.commit.empty();
    // What is remembered is what comes of it.
    allow_for_own_faults(judgement, look.facts, known, true, settings_known);
    if (!remember_boot(options, look.facts, memory, judgement, notes)) {
        allow_for_own_faults(judgement, look.facts, known, false, settings_known);
    }
    const std::string report = report_json(look.facts, settings, tables, judgement);
    if (options.run) {
        publish(*options.run / "edgegpu/gpu-health.json", report, notes);
        publish(*options.run / "motd.d/edgegpu-gpu-health", motd_text(judgement), notes);
        if (!settings.textfile.empty()) {
            publish(fs::path(settings.textfile) / "edgegpu_gpu_health.prom",
                    metrics_text(look.facts, judgement), notes);
        }
    }
    print_notes(notes);
    print(options, look.facts, judgement, report);
    return exit_status(judgement);
}

/// With --greenboot, everything but red is 0: also what is wrong with gpu-health or its options.
int for_greenboot(bool greenboot, int status) {
    return greenboot && status != ExitStatus::red ? ExitStatus::healthy : status;
}

int run_with(const Options& options) {
    if (options.help || options.version) {
        std::cout << (options.help ? help_text() : "gpu-health " EDGEGPU_VERSION "\n");
        return ExitStatus::healthy;
    }
    Notes notes;
    const Settings settings = load_settings(options, notes);
    return supervise([&] { return check(options, settings, notes); }, whole_deadline(settings),
                     ExitStatus::unclear);
}

}  // namespace

int exit_status(const Judgement& judgement) {
    if (judgement.red) {
        return ExitStatus::red;
    }
    switch (judgement.verdict) {
        case Verdict::healthy:
            return ExitStatus::healthy;
        case Verdict::hardware:
            return ExitStatus::hardware;
        case Verdict::machine:
            return ExitStatus::machine;
        case Verdict::image:
        case Verdict::unclear:
            break;
    }
    return ExitStatus::unclear;
}

void allow_for_own_faults(Judgement& judgement, const Facts& facts, bool machine_known,
                          bool remembered, bool settings_known) {
    if (judgement.verdict == Verdict::healthy && has_failed(facts, Step::presence)) {
        judgement.verdict = Verdict::unclear;
        judgement.reason = "gpu-health could not look for GPUs";
    } else if (judgement.verdict == Verdict::healthy && could_not_ask(facts)) {
        judgement.verdict = Verdict::unclear;
        judgement.reason = "gpu-health could not ask NVIDIA's libraries";
    }
    if (!judgement.red) {
        return;
    }
    const auto keep = [&judgement](std::string_view why) {
        judgement.red = false;
        judgement.reason.append("; the image stays, since ").append(why);
    };
    if (!machine_known) {
        keep("gpu-health could not find out which commit it is");
    } else if (!settings_known) {
        keep("its settings could not be read, which say what is asked for");
    } else if (judgement.decided() != nullptr && has_failed(facts, judgement.decided()->step)) {
        keep("gpu-health failed in the step that decided");
    } else if (!remembered && judgement.verdict == Verdict::unclear) {
        keep("the fault cannot be remembered, to compare it with the commit before");
    }
}

int check(const Options& options, const Settings& settings, Notes& notes) {
    // What was noticed until now is about them.
    const bool settings_known = notes.empty();
    const std::optional<Descriptor> lock =
        options.run ? lock_run(*options.run / "edgegpu/gpu-health.lock", lock_patience, notes)
                    : std::nullopt;
    Look look;
    if (options.facts.empty()) {
        look = look_at_machine(options.places, settings, Probe{options.probe}, notes);
    } else {
        try {
            look.facts = recorded_machine(options.facts);
        } catch (const UsageError& problem) {
            std::cerr << "gpu-health: " << printable_line(problem.what()) << '\n';
            return ExitStatus::usage;
        }
    }
    if (options.record) {
        print_notes(notes);
        return record(options, look.facts);
    }
    return judge_and_tell(options, settings, settings_known, look, notes);
}

int run_gpu_health(const std::vector<std::string>& words) {
    const bool greenboot = std::ranges::find(words, "--greenboot") != words.end();
    try {
        std::error_code unknown;
        const fs::path program = fs::read_symlink("/proc/self/exe", unknown);
        const Options options =
            parse_options(words, unknown ? fs::path("/usr/libexec/edgegpu/gpu-health") : program);
        return for_greenboot(greenboot, run_with(options));
    } catch (const UsageError& problem) {
        std::cerr << "gpu-health: " << printable_line(problem.what())
                  << "\ngpu-health --help lists the options\n";
        return for_greenboot(greenboot, ExitStatus::usage);
    } catch (const std::exception& problem) {
        std::cerr << "gpu-health: " << printable_line(problem.what()) << '\n';
        return for_greenboot(greenboot, ExitStatus::unclear);
    }
}

std::chrono::seconds whole_deadline(const Settings& settings) {
    return longest_look(settings) + lock_patience + writing_time;
}

}  // namespace edgegpu::gpu_health
