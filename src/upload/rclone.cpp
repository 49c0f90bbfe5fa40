#include "upload/rclone.hpp"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <thread>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "execution/background_process.hpp"
#include "execution/program_path.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/handles.hpp"
#include "support/ranges.hpp"
#include "support/text/terminal_text.hpp"
#include "support/text/text.hpp"
#include "upload/attempts.hpp"
#include "upload/rclone_environment.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

/// Beyond as many, listing directories takes less than asking for each file.
constexpr std::size_t asked_one_by_one = 500;
constexpr std::uint64_t largest_listing = 4ULL << 30U;
constexpr std::chrono::milliseconds look_again{20};
/// Of what only reads, and of removing: with pauses of 1, 2, 4 and 8 seconds.
constexpr int most_attempts = 5;
constexpr std::chrono::seconds first_pause{1};
/// For rclone to end uploads in parts, which some servers would keep, and charge, for ever.
constexpr std::chrono::seconds patience{5};

/// What newest statistics in the output say of transfers.
void report(std::string_view output,
            const std::function<void(std::uint64_t, std::uint64_t)>& progress) {
    const std::size_t end = output.rfind("}\n");
    const std::size_t stats =
        end == std::string_view::npos ? end : output.rfind("\"stats\":{", end);
    if (stats == std::string_view::npos) {
        return;
    }
    const std::size_t begin = output.rfind('\n', stats) + 1;
    const nlohmann::json record = nlohmann::json::parse(
        output.substr(begin, output.find('\n', stats) - begin), nullptr, false);
    const auto found = record.is_object() ? record.find("stats") : record.end();
    const auto number = [&](const char* key) {
        const auto value = found->find(key);
        return value != found->end() && value->is_number_unsigned() ? value->get<std::uint64_t>()
                                                                    : 0;
    };
    if (found != record.end() && found->is_object()) {
        progress(number("transfers"), number("bytes"));
    }
}

/// Asks rclone to end, and waits a little.
void end_in_order(BackgroundProcess& process) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    // Of one that has ended there is no number, and -1 would be everybody.
    if (process.pid() > 0) {
        ::kill(process.pid(), SIGTERM);
    }
    while (!process.status() && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::sleep_for(look_again);
    }
}

}  // namespace

std::string usable_rclone_version(std::string_view output) {
    constexpr std::string_view begin = "rclone v";
    if (!output.starts_with(begin)) {
        return {};
    }
    output.remove_prefix(begin.size());
    const std::string_view version = output.substr(0, output.find_first_not_of("0123456789."));
    std::pair<unsigned, unsigned> number{0, 0};
    const char* const end = version.data() + version.size();
    const auto major = std::from_chars(version.data(), end, number.first);
    if (major.ec == std::errc() && major.ptr != end) {
        std::from_chars(major.ptr + 1, end, number.second);
    }
    return number < std::pair(1U, 60U) ? std::string() : std::string(version);
}

RcloneProgram find_rclone(const Context& ctx) {
    constexpr const char* cure =
        "install rclone 1.60 or newer: Debian's package rclone, or rclone.org";
    RcloneProgram program{find_in_path("rclone"), {}};
    if (program.file.empty()) {
        throw error("not installed: rclone").hinted(cure);
    }
    ProcessRequest request;
    request.argv = {program.file.string(), "version"};
    request.env = rclone_environment();
    request.purpose = "rclone's version";
    request.limits.time = std::chrono::seconds(60);
    const ProcessResult result = run_process(ctx, request);
    program.version = usable_rclone_version(result.output);
    if (program.version.empty()) {
        const std::string said = result.output.substr(0, result.output.find('\n'));
        throw error("{} is too old, or does not say its version: {}", program.file.string(),
                    said.empty() ? "it printed nothing" : printable_line(said))
            .hinted(cure);
    }
    return program;
}

RcloneRemote::RcloneRemote(const Context& ctx, std::string remote, std::string bandwidth,
                           fs::path scratch)
    : ctx_(ctx),
      remote_(std::move(remote)),
      bandwidth_(std::move(bandwidth)),
      scratch_(std::move(scratch)) {
    if (!is_remote(remote_)) {
        throw error(ErrorKind::usage, "\"{}\" is not a remote of rclone", shown())
            .hinted(
                "it has a colon: NAME:BUCKET/PATH, or NAME:PATH; 'rclone listremotes' lists "
                "the names. To copy to a directory, publish to it");
    }
}

RcloneRemote::Run RcloneRemote::run(
    const std::vector<std::string>& arguments, const std::string& purpose,
    const std::function<void(std::uint64_t, std::uint64_t)>& progress,
    const std::vector<std::string>& variables) const {
    const Fd output = memory_file("rclone's output", {});
    ProcessRequest request;
    // Attempts are ours: those of rclone would begin with the first file again.
    request.argv = {"rclone", "--use-json-log", "--retries=1", "--stats=1s",
                    "--stats-log-level=NOTICE"};
    if (!bandwidth_.empty()) {
        request.argv.push_back("--bwlimit=" + bandwidth_);
    }
    request.argv.insert(request.argv.end(), arguments.begin(), arguments.end());
    request.env = rclone_environment();
    request.env.insert(request.env.end(), variables.begin(), variables.end());
    request.purpose = fmt::format("{}: {}", shown(), purpose);
    request.standard_output = output.get();
    BackgroundProcess process(ctx_, request);
    std::optional<int> status;
    try {
        while (!(status = process.status())) {
            ctx_.check_cancelled();
            if (progress) {
                report(process.output(), progress);
            }
            std::this_thread::sleep_for(look_again);
        }
    } catch (const Error&) {
        end_in_order(process);
        throw;
    }
    return {*status, read_file(output.get(), "rclone's output", largest_listing), process.output()};
}

RcloneRemote::Run RcloneRemote::run_until_done(
    const std::vector<std::string>& arguments, std::string_view doing, const std::string& purpose,
    const std::function<bool(const Run&)>& is_done) const {
    Attempts attempts(ctx_, most_attempts, first_pause);
    while (true) {
        Run done = run(arguments, purpose);
        if (is_done(done)) {
            return done;
        }
        RcloneProblem problem = problem_in(done.messages);
        if (problem.kind != RcloneProblem::Kind::passing ||
            !attempts.again(fmt::format("cannot {} {}: {}", doing, shown(), problem.reason))) {
            throw to_error(doing, problem);
        }
    }
}

std::string RcloneRemote::list_file(const std::vector<std::string>& names) const {
    const std::string text = sum_of(names, [](const std::string& name) { return name + '\n'; });
    const fs::path file = scratch_ / "names";
    write_file(file, text, 0600);
    return file.string();
}

Error RcloneRemote::to_error(std::string_view doing, const RcloneProblem& problem) const {
    return error(problem.kind == RcloneProblem::Kind::configuration ? ErrorKind::usage
                                                                    : ErrorKind::fetch,
                 "cannot {} {}: {}", doing, shown(), problem.reason)
        .hinted(hint_for(problem, remote_));
}

std::vector<std::string> RcloneRemote::differing(const fs::path& directory,
                                                 const std::vector<std::string>& names,
                                                 Comparison comparison) const {
    std::unordered_set<std::string> equal;
    std::vector<std::string> asked = names;
    Attempts attempts(ctx_, most_attempts, first_pause);
    while (!asked.empty()) {
        std::vector<std::string> arguments{"check", "--one-way", "--combined=-",
                                           "--files-from-raw=" + list_file(asked)};
        arguments.emplace_back(asked.size() <= asked_one_by_one ? "--no-traverse" : "--fast-list");
        if (comparison == Comparison::content && !has_hashes()) {
            arguments.emplace_back("--download");
        }
        arguments.insert(arguments.end(), {"--", directory.string(), remote_});
        const Run done = run_until_done(
            arguments, "compare with", "comparing",
            [](const Run& ended) { return ended.status == 0 || !ended.output.empty(); });
        // It says "equal" of a file whose hash the server does not know.
        if (comparison == Comparison::content &&
            done.messages.find("hashes could not be checked") != std::string::npos &&
            std::ranges::find(arguments, "--download") == arguments.end()) {
            has_hashes_ = false;
            continue;
        }
        // Only what it says to be equal is: of files that it has not looked at it says nothing.
        // Those that it could not read ("!") need not be different.
        asked.clear();
        for (const std::string_view line : lines_of(done.output)) {
            if (line.starts_with("= ")) {
                equal.emplace(line.substr(2));
            } else if (line.starts_with("! ")) {
                asked.emplace_back(line.substr(2));
            }
        }
        const RcloneProblem problem = problem_in(done.messages);
        if (asked.empty() || problem.kind != RcloneProblem::Kind::passing) {
            break;
        }
        if (!attempts.again(fmt::format("cannot compare with {}: {}", shown(), problem.reason))) {
            throw to_error("compare with", problem);
        }
    }
    return filtered(names, [&](const std::string& name) { return !equal.contains(name); });
}

/// Of an object that came in parts, S3 knows no hash, and rclone compares with the one that it has
/// written there itself. The variable counts for more than rclone's configuration, but for less
/// than a parameter of the remote and than RCLONE_CONFIG_NAME_UPLOAD_CUTOFF.
std::vector<std::string> RcloneRemote::sending_variables() const {
    constexpr const char* cutoff = "RCLONE_S3_UPLOAD_CUTOFF";
    if (std::getenv(cutoff) != nullptr) {
        return {};
    }
    if (!has_own_cutoff_) {
        const Run done = run({"config", "dump"}, "its configuration");
        const nlohmann::json remotes = nlohmann::json::parse(done.output, nullptr, false);
        const nlohmann::json name =
            features().is_object() ? features().value("Name", nlohmann::json()) : nlohmann::json();
        const auto found = remotes.is_object() && name.is_string()
                               ? remotes.find(name.get<std::string>())
                               : remotes.end();
        has_own_cutoff_ =
            found != remotes.end() && found->is_object() && found->contains("upload_cutoff");
    }
    // The most that S3 takes in one request.
    return *has_own_cutoff_ ? std::vector<std::string>()
                            : std::vector<std::string>{fmt::format("{}=5G", cutoff)};
}

std::optional<RcloneProblem> RcloneRemote::put(
    const fs::path& directory, const std::vector<std::string>& names, const std::string& header,
    const std::function<void(std::uint64_t, std::uint64_t)>& progress) const {
    const Run done =
        run({"copy", "--no-traverse", "--no-check-dest", "--files-from-raw=" + list_file(names),
             "--header-upload=" + header, "--", directory.string(), remote_},
            fmt::format("{} files", names.size()), progress, sending_variables());
    return done.status == 0 ? std::nullopt : std::optional(problem_in(done.messages));
}

std::optional<RcloneProblem> RcloneRemote::put_one(const fs::path& file,
                                                   const std::string& name) const {
    const Run done = run({"copyto", "--no-check-dest", "--low-level-retries=2", "--contimeout=10s",
                          "--timeout=20s", "--", file.string(), path_of(name)},
                         name);
    return done.status == 0 ? std::nullopt : std::optional(problem_in(done.messages));
}

std::optional<RcloneProblem> RcloneRemote::remove_one(const std::string& name) const {
    constexpr int no_file = 4;
    const Run done = run({"deletefile", "--low-level-retries=2", "--contimeout=10s",
                          "--timeout=20s", "--", path_of(name)},
                         "removing " + name);
    return done.status == 0 || done.status == no_directory || done.status == no_file
               ? std::nullopt
               : std::optional(problem_in(done.messages));
}

void RcloneRemote::fetch(const std::vector<std::string>& names, const fs::path& directory) const {
    if (names.empty()) {
        return;
    }
    run_until_done({"copy", "--no-traverse", "--no-check-dest",
                    "--files-from-raw=" + list_file(names), "--", remote_, directory.string()},
                   "read from", "reading what it has", [](const Run& ended) {
                       return ended.status == 0 || ended.status == no_directory;
                   });
}

void RcloneRemote::remove(const std::vector<std::string>& names) const {
    if (names.empty()) {
        return;
    }
    run_until_done(
        {"delete", "--no-traverse", "--files-from-raw=" + list_file(names), "--", remote_},
        "remove files from", fmt::format("removing {} files", names.size()),
        [](const Run& ended) { return ended.status == 0; });
}

}  // namespace edgegpu
