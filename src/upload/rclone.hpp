#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "execution/context.hpp"
#include "upload/contents.hpp"
#include "upload/rclone_problem.hpp"
#include "upload/remote_name.hpp"

namespace edgegpu {

/// The rclone of the build machine.
struct RcloneProgram {
    std::filesystem::path file;
    /// "1.60.1"
    std::string version;
};

/// Finds rclone 1.60 or newer in PATH. Throws Error, with what to do, if there is none.
[[nodiscard]] RcloneProgram find_rclone(const Context& ctx);

/// "1.60.1" in what `rclone version` prints; empty if it is not in it, or the version is older than
/// what is used of it.
[[nodiscard]] std::string usable_rclone_version(std::string_view output);

/// How files of two places are compared.
enum class Comparison {
    /// sizes, and hashes where the server has some
    known,
    /// the same, but where the server has none, the files are read
    content
};

/// A place that rclone reaches: a directory of a server, or of a bucket. rclone runs as the user,
/// with the user's configuration and environment, but for variables that would change what is
/// copied or how that is reported. All functions throw Error with what rclone says, and a hint;
/// interrupted, they end rclone. Those that read or remove try again, a few times, what may be over
/// at another attempt (RcloneProblem::Kind::passing), and say so.
class RcloneRemote {
public:
    /// `remote` as rclone names it: "NAME:PATH", or a connection string. `bandwidth` is what rclone
    /// takes for --bwlimit, or empty. Files for rclone are made in `scratch`. `ctx` must outlive
    /// it. Throws ErrorKind::usage if it is no remote.
    RcloneRemote(const Context& ctx, std::string remote, std::string bandwidth,
                 std::filesystem::path scratch);

    /// For messages.
    [[nodiscard]] std::string shown() const { return shown_remote(remote_); }

    /// Whether the server knows hashes of its files.
    [[nodiscard]] bool has_hashes() const;

    /// Whether it is Amazon's S3, or something that speaks as that does; also by another name.
    [[nodiscard]] bool is_s3() const;

    /// All files there, with their sizes; none if there is no such directory.
    [[nodiscard]] FileSizes list() const;

    /// Which of the files `names` are not there as `directory` has them.
    [[nodiscard]] std::vector<std::string> differing(const std::filesystem::path& directory,
                                                     const std::vector<std::string>& names,
                                                     Comparison comparison) const;

    /// Copies files of `directory` there, whatever has their names; to S3 each in one request,
    /// unless the user says otherwise. `header` is sent with each, "Cache-Control: no-cache".
    /// `progress` gets the number of files so far, and their bytes. Returns why not all of them
    /// could be copied, or nothing.
    [[nodiscard]] std::optional<RcloneProblem> put(
        const std::filesystem::path& directory, const std::vector<std::string>& names,
        const std::string& header,
        const std::function<void(std::uint64_t, std::uint64_t)>& progress) const;

    /// Copies one file there, whatever has its name; one attempt, which does not wait long for the
    /// server. Returns why it failed, or nothing.
    [[nodiscard]] std::optional<RcloneProblem> put_one(const std::filesystem::path& file,
                                                       const std::string& name) const;
    /// Removes one file, in the same way; it is no failure if it is not there.
    [[nodiscard]] std::optional<RcloneProblem> remove_one(const std::string& name) const;

    /// The files in a directory there, with their sizes, and its directories, whose names end with
    /// a "/"; none if it is not there. Empty: the directory of the remote itself.
    [[nodiscard]] FileSizes list_directory(const std::string& name) const;

    /// The header Cache-Control of the files, "no-cache", empty if they have none; nothing of files
    /// that are not there, or if the server keeps no such headers.
    [[nodiscard]] std::map<std::string, std::string> cache_control(
        const std::vector<std::string>& names) const;

    /// Copies those of the files that are there into `directory`.
    void fetch(const std::vector<std::string>& names, const std::filesystem::path& directory) const;

    /// Removes files that are there.
    void remove(const std::vector<std::string>& names) const;

    /// When the newest of the files was written; nothing if none is there.
    [[nodiscard]] std::optional<std::chrono::system_clock::time_point> newest(
        const std::vector<std::string>& names) const;

    /// The Error for a problem with this remote.
    [[nodiscard]] Error to_error(std::string_view doing, const RcloneProblem& problem) const;

private:
    struct Run {
        int status = 0;
        std::string output;
        std::string messages;
    };
    /// Status of a directory that is not there.
    static constexpr int no_directory = 3;
    [[nodiscard]] Run run(const std::vector<std::string>& arguments, const std::string& purpose,
                          const std::function<void(std::uint64_t, std::uint64_t)>& progress = {},
                          const std::vector<std::string>& variables = {}) const;
    /// Runs it until `is_done` takes the result. Throws Error, "cannot DOING REMOTE: …".
    Run run_until_done(const std::vector<std::string>& arguments, std::string_view doing,
                       const std::string& purpose,
                       const std::function<bool(const Run&)>& is_done) const;
    /// Variables for what is sent.
    [[nodiscard]] std::vector<std::string> sending_variables() const;
    /// What `rclone backend features` says: null if it cannot be read.
    [[nodiscard]] const nlohmann::json& features() const;
    [[nodiscard]] FileSizes list_files(const std::string& place,
                                       std::vector<std::string> options) const;
    [[nodiscard]] std::string path_of(const std::string& name) const;
    [[nodiscard]] std::string list_file(const std::vector<std::string>& names) const;

    const Context& ctx_;
    std::string remote_;
    std::string bandwidth_;
    std::filesystem::path scratch_;
    mutable std::optional<bool> has_hashes_;
    mutable std::optional<bool> has_own_cutoff_;
    mutable std::optional<nlohmann::json> features_;
};

}  // namespace edgegpu
