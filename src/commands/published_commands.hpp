#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

/// What the command line says for the repositories that devices pull from (published/).
namespace edgegpu {

/// The static deltas that a command makes.
struct DeltaChoice {
    /// commits of the repository that devices pull from, or a number of versions (DeltaRequest)
    std::vector<std::string> from;
    /// a document with what the fleet runs (read_fleet_versions), or empty
    std::filesystem::path fleet;
    /// largest file that deltas compare (parse_size); empty: the default
    std::string largest_file;
};

/// The keys of a command that signs what devices pull.
struct SigningOptions {
    /// GPG key, and the GPG home of its secret key; empty: none, the user's
    std::string sign;
    std::filesystem::path gpg_homedir;
    /// file with a secret ed25519 key; empty: none
    std::filesystem::path sign_ed25519;
    /// instead of that, a program that signs, and a file with its public key; empty: none
    std::filesystem::path sign_command;
    std::filesystem::path sign_command_key;
};

/// `edgegpu publish`
struct PublishCommand {
    /// refs of the repository
    std::vector<std::string> refs;
    std::filesystem::path from = "repo";
    /// the repository that devices pull from
    std::filesystem::path to;
    DeltaChoice deltas;
    /// versions of each ref that the target keeps; 0: all
    unsigned keep = 0;
    /// see PruneCommand
    std::string grace;
    /// parse_duration, or "0"; empty: the default
    std::string lock_wait;
    /// of the summary
    SigningOptions keys;
};

/// `edgegpu promote`
struct PromoteCommand {
    /// a ref, a checksum, or the beginning of one, each followed by any number of ^
    std::string source;
    /// the ref that gets its tree
    std::string to;
    /// "SOURCE:REF" of other refs that get a commit at the same time
    std::vector<std::string> also;
    /// checksum of the commit that `to` has to have, or "none"; "REF=CHECKSUM" of another ref
    std::vector<std::string> expect_before;
    std::filesystem::path repo = "repo";
    DeltaChoice deltas;
    /// of commit and summary
    SigningOptions keys;
    /// empty: who runs the command
    std::string by;
    std::string reason;
    /// of the ref `to`; empty: it has not ended
    std::string end_of_life;
    std::string rebase_to;
    /// parse_duration, or "0"; empty: the default
    std::string lock_wait;
    bool dry_run = false;
};

/// `edgegpu channels`
struct ChannelsCommand {
    /// empty: all
    std::string ref;
    std::filesystem::path repo = "repo";
};

/// `edgegpu fsck`
struct FsckCommand {
    /// of the repository; empty: all
    std::vector<std::string> refs;
    std::filesystem::path repo;
    /// a repository that has what is damaged; empty: nothing is written
    std::filesystem::path repair_from;
};

/// `edgegpu prune`
struct PruneCommand {
    std::filesystem::path repo;
    /// versions of each ref
    unsigned keep = 2;
    /// parse_duration, or "0"; empty: the default
    std::string grace;
    /// commits, without which nothing is pruned
    std::vector<std::string> pin;
    std::vector<std::string> unpin;
    /// parse_duration, or "0"; empty: the default
    std::string lock_wait;
    bool dry_run = false;
    /// of the summary
    SigningOptions keys;
};

/// `edgegpu upload`
struct UploadCommand {
    /// the published repository
    std::filesystem::path repo;
    /// a remote of rclone
    std::string to;
    /// what rclone takes for --bwlimit; empty: without limit
    std::string bandwidth;
    bool verify = false;
    bool overwrite = false;
    /// parse_duration; empty: nothing is removed
    std::string delete_after;
    /// parse_duration, or "0"; empty: the default
    std::string lock_wait;
};

/// `edgegpu rollout`
struct RolloutCommand {
    /// "start", "pause", "resume", "abort", "renew", "status" or "check"
    std::string action;
    /// the ref that devices follow
    std::string ref;
    std::filesystem::path repo = "repo";
    /// Texts as given, empty if they were not: a commit; the start of a rollout; its share, length,
    /// reason, and why it is a barrier; how long the plan is good.
    std::string commit;
    std::string at;
    std::string share;
    std::string over;
    std::string reason;
    std::string barrier;
    std::string expires;
    bool dry_run = false;
    /// how long to wait for the repository's lock; empty: as its config says
    std::string lock_wait;
    /// of plan and summary
    SigningOptions keys;
    /// the plan's graph is printed
    bool graph = false;
    /// number of devices that there are; 0: not given
    unsigned devices = 0;
    /// file or directory with reports of devices; empty: none
    std::filesystem::path health_from;
    /// a percentage; empty: not given
    std::string max_failures;
    /// 0: not given
    unsigned min_reports = 0;
    std::optional<unsigned> max_unavailable;
};

/// `edgegpu export`
struct ExportCommand {
    /// refs of the repository
    std::vector<std::string> refs;
    std::filesystem::path repo = "repo";
    /// the tar archive
    std::filesystem::path output;
    /// commits of the repository, or a number of versions (delta_sources)
    std::vector<std::string> since;
    /// of the summary
    SigningOptions keys;
    bool force = false;
};

}  // namespace edgegpu
