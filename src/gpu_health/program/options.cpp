#include "gpu_health/program/options.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace edgegpu::gpu_health {

namespace fs = std::filesystem;

namespace {

/// An option that takes a path.
struct PathOption {
    std::string_view name;
    std::string_view value;
    std::string_view help;
    void (*set)(Options& options, const fs::path& path);
};

constexpr std::array path_options{
    PathOption{"--facts", "FILE", "judge a machine that --record has recorded; nothing is written",
               [](Options& options, const fs::path& path) { options.facts = path; }},
    PathOption{"--root", "DIR", "look at the file system there instead of /",
               [](Options& options, const fs::path& path) { options.places.root = path; }},
    PathOption{"--sys", "DIR", "instead of /sys",
               [](Options& options, const fs::path& path) { options.places.sys = path; }},
    PathOption{"--proc", "DIR", "instead of /proc",
               [](Options& options, const fs::path& path) { options.places.proc = path; }},
    PathOption{"--dev", "DIR", "instead of /dev",
               [](Options& options, const fs::path& path) { options.places.dev = path; }},
    PathOption{"--kmsg", "FILE", "instead of /dev/kmsg",
               [](Options& options, const fs::path& path) { options.places.kmsg = path; }},
    PathOption{"--settings", "FILE",
               "instead of /usr/lib/edgegpu/gpu-health.json and /etc/edgegpu/gpu-health.json",
               [](Options& options, const fs::path& path) { options.settings = path; }},
    PathOption{"--tables", "DIR",
               "newer messages.tsv, xid.tsv or nvml.tsv, instead of /etc/edgegpu/gpu-health",
               [](Options& options, const fs::path& path) { options.tables = path; }},
    PathOption{"--state", "DIR",
               "what happened with which commit, instead of /var/lib/edgegpu/gpu-health",
               [](Options& options, const fs::path& path) { options.state = path; }},
    PathOption{"--run", "DIR",
               "for edgegpu/gpu-health.json and motd.d/edgegpu-gpu-health, instead of /run",
               [](Options& options, const fs::path& path) { options.run = path; }},
    PathOption{"--probe", "FILE", "the program that calls NVIDIA's libraries, beside this one",
               [](Options& options, const fs::path& path) { options.probe = path; }},
};

/// An option without a value.
struct Flag {
    std::string_view name;
    std::string_view help;
    void (*set)(Options& options);
};

constexpr std::array flags{
    Flag{"--explain", "print each step for people, with what was found and what to do",
         [](Options& options) { options.output = Output::explanation; }},
    Flag{"--json", "print the report", [](Options& options) { options.output = Output::json; }},
    Flag{"--greenboot", "exit status 1 if the image is to blame and has to go back, otherwise 0",
         [](Options& options) { options.greenboot = true; }},
    Flag{"--help", "print this", [](Options& options) { options.help = true; }},
    Flag{"--version", "print the version", [](Options& options) { options.version = true; }},
};

template <typename Table>
auto* find_option(const Table& table, std::string_view name) {
    for (const auto& option : table) {
        if (option.name == name) {
            return &option;
        }
    }
    return static_cast<decltype(table.data())>(nullptr);
}

/// The words that are left, one after another.
class Words {
public:
    explicit Words(const std::vector<std::string>& words) : words_(words) {}
    [[nodiscard]] bool done() const { return next_ == words_.size(); }
    [[nodiscard]] bool before_value() const {
        return !done() && !words_[next_].empty() && words_[next_].front() != '-';
    }
    [[nodiscard]] const std::string& take() { return words_[next_++]; }

private:
    const std::vector<std::string>& words_;
    std::size_t next_ = 0;
};

fs::path path_of(std::string_view option, const std::string& value) {
    if (value.empty()) {
        throw UsageError(std::string(option) + " needs a path");
    }
    return value;
}

void parse_word(const std::string& word, Words& words, Options& options) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const bool joined = equals != std::string::npos;
    if (name == "--record") {
        options.record = true;
        if (joined) {
            options.record_file = path_of(name, word.substr(equals + 1));
        } else if (words.before_value()) {
            options.record_file = words.take();
        }
        return;
    }
    if (const auto* const option = find_option(path_options, name)) {
        if (!joined && !words.before_value()) {
            throw UsageError(name + " needs a path");
        }
        option->set(options, path_of(name, joined ? word.substr(equals + 1) : words.take()));
        return;
    }
    const auto* const flag = joined ? nullptr : find_option(flags, name);
    if (flag == nullptr) {
        throw UsageError("'" + word + "' is no option");
    }
    flag->set(options);
}

void fill_in_paths(Options& options, const fs::path& program) {
    const fs::path& root = options.places.root;
    if (options.tables.empty()) {
        options.tables = root / "etc/edgegpu/gpu-health";
    }
    if (options.probe.empty()) {
        options.probe = program.parent_path() / "gpu-probe";
    }
    if (options.facts.empty()) {
        options.state = options.state.value_or(root / "var/lib/edgegpu/gpu-health");
        options.run = options.run.value_or(root / "run");
    }
}

}  // namespace

Options parse_options(const std::vector<std::string>& words, const fs::path& program) {
    Options options;
    Words left(words);
    if (left.before_value()) {
        if (const std::string& command = left.take(); command != "check") {
            throw UsageError("'" + command + "' is no command; there is check");
        }
    }
    while (!left.done()) {
        const std::string& word = left.take();
        parse_word(word, left, options);
    }
    if (options.record && !options.facts.empty()) {
        throw UsageError("--record looks at this machine, --facts judges another one");
    }
    fill_in_paths(options, program);
    return options;
}

std::string help_text() {
    std::string text =
        "usage: gpu-health [check] [OPTION]...\n\n"
        "Looks at the GPUs of this machine and decides who is to blame for a fault: the image, "
        "the\n"
        "hardware, or something that a person has to do at this machine.\n\n";
    const auto add = [&text](std::string head, std::string_view help) {
        head.resize(std::max<std::size_t>(head.size(), 18), ' ');
        text.append("  ").append(head).append(" ").append(help).append("\n");
    };
    for (const Flag& flag : flags) {
        add(std::string(flag.name), flag.help);
    }
    add("--record [FILE]", "print what was found, and judge nothing");
    for (const PathOption& option : path_options) {
        add(std::string(option.name) + " " + std::string(option.value), option.help);
    }
    return text +
           "\nExit status: 0 healthy, 1 the image is to blame and has to go back, 2 usage,\n"
           "3 a fault of the hardware, 4 a person has to do something at this machine, 5 another\n"
           "fault, which is no reason to go back, or one of gpu-health itself.\n";
}

}  // namespace edgegpu::gpu_health
