#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "commit/commit.hpp"
#include "execution/context.hpp"
#include "log/console.hpp"

namespace edgegpu::test {

/// A directory of its own with a cache, a content store, a blueprint and a small tree to commit;
/// deleted when it goes.
class CommitFixture {
public:
    CommitFixture();
    CommitFixture(const CommitFixture&) = delete;
    CommitFixture& operator=(const CommitFixture&) = delete;
    ~CommitFixture();

    [[nodiscard]] const Context& ctx() const { return ctx_; }
    [[nodiscard]] const std::filesystem::path& directory() const { return directory_; }
    [[nodiscard]] std::filesystem::path repo() const { return directory_ / "repo"; }

    /// The time of the image.
    void set_time(std::int64_t time) { ctx_.source_date_epoch = time; }
    /// The flag that interrupts what is done with `ctx`.
    void listen_to(const std::atomic<bool>& flag) { ctx_.cancelled = &flag; }

    /// Called with everything that the console shows; it may throw.
    void on_output(std::function<void(std::string_view)> heard) { heard_ = std::move(heard); }

    /// Adds entries to `tree`; parents must be there.
    void add_directory(std::string_view path, unsigned mode = 0755);
    Entry& add_file(std::string_view path, std::string_view content, unsigned mode = 0644);
    void add_link(std::string_view path, std::string_view target);

    /// What the console showed so far, and its warnings.
    [[nodiscard]] std::string said() const;
    [[nodiscard]] std::vector<std::string> warnings() const { return console_.warnings(); }

    /// Opens the repository, reads the parent and writes `tree` as a commit.
    Commit build(const std::string& inputs = "inputs");
    /// What ostree says when it does this with the repository; its exit status into `status`.
    [[nodiscard]] std::string ostree(const std::string& arguments, int* status = nullptr) const;
    /// Whether the repository's summary names the commit.
    [[nodiscard]] bool has_in_summary(const std::string& checksum) const;
    /// Expects that `ostree fsck` finds nothing wrong.
    void expect_clean() const;

    Blueprint blueprint;
    Resolution resolution;
    Tree tree;

private:
    [[nodiscard]] ConsoleOutput output();

    std::filesystem::path directory_;
    mutable std::mutex mutex_;
    std::string said_;
    std::function<void(std::string_view)> heard_;
    Console console_;
    Context ctx_;
};

/// What a program printed, stdout and stderr; its exit status into `status`.
std::string output_of(const std::string& shell_command, int* status = nullptr);

/// Returns when the clock passes the next multiple of `seconds` since 1970: what is made then has
/// other times than what was made before, also in formats that count only so many seconds.
void wait_for_another_time(std::int64_t seconds);

}  // namespace edgegpu::test
