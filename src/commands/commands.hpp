#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "blueprint/blueprint.hpp"
#include "blueprint/parse/parse.hpp"
#include "cache/cache_directory.hpp"
#include "commands/failure.hpp"
#include "commands/published_commands.hpp"
#include "commit/deflate_level.hpp"
#include "execution/context.hpp"
#include "log/console.hpp"
#include "machine/machine.hpp"

namespace edgegpu {

/// Switches that every verb takes.
struct GlobalOptions {
    Color color = Color::automatic;
    bool quiet = false;
    /// stdout carries one JSON document instead of text
    bool json = false;
    /// an open descriptor that gets progress as JSON Lines; -1: none
    int progress_fd = -1;
    /// file that the log is appended to; empty: none
    std::filesystem::path log_file;
    LogFormat log_format = LogFormat::text;
    /// records up to this level are shown on stderr; nothing: none
    std::optional<LogLevel> log_level;
    /// Where the command's records go: to `log_file`, if there is one.
    Log log;
};

/// `edgegpu build`
struct BuildCommand {
    /// one or more
    std::vector<std::filesystem::path> blueprints;
    /// the options as given, except for those that several builds do not share
    std::vector<std::string> given;
    BlueprintOptions inputs;
    std::filesystem::path repo = "repo";
    /// empty: $XDG_CACHE_HOME/edgegpu or ~/.cache/edgegpu
    std::filesystem::path cache_dir;
    /// empty: `usual_lockfile` in `lock_dir`
    std::filesystem::path lockfile;
    /// empty: the blueprint's directory
    std::filesystem::path lock_dir;
    bool locked = false;
    bool offline = false;
    /// a failing resolve carries the solver's proof
    bool explain = false;
    bool unchanged_exit_77 = false;
    Compression compression = Compression::usual;
    /// threads of one build; with several blueprints how many builds run at a time; 0: the
    /// number of processors
    unsigned jobs = 0;
    /// seconds; 0: no limit
    unsigned program_timeout = 600;
    /// largest size of the cache after the build (parse_size); empty: no limit
    std::string cache_max_size;
    /// largest download of an upgrade from the parent (parse_size); empty: no limit
    std::string max_upgrade_bytes;
};

/// `edgegpu resolve`
struct ResolveCommand {
    std::filesystem::path blueprint;
    BlueprintOptions inputs;
    std::filesystem::path cache_dir;
    std::filesystem::path lockfile;
    /// only `update`, and what the blueprint has anew, differs from the lockfile
    bool keep = false;
    /// patterns of the locked packages that may be updated; empty, without `keep`: all
    std::vector<std::string> update;
    /// only the changes are shown
    bool changes_only = false;
    /// the lockfile stays as it is
    bool dry_run = false;
    /// a lockfile, or a ref or commit of `repo`, to compare with
    std::string against;
    std::filesystem::path repo = "repo";
    bool offline = false;
    /// a failure carries the solver's proof
    bool explain = false;
};

/// `edgegpu why`
struct WhyCommand {
    std::filesystem::path blueprint;
    BlueprintOptions inputs;
    std::string package;
    std::filesystem::path cache_dir;
    bool offline = false;
};

/// `edgegpu check`
struct CheckCommand {
    std::vector<std::filesystem::path> blueprints;
    /// the same for all of them
    BlueprintOptions inputs;
    /// print the blueprint, of which there is one, as one TOML file
    bool print = false;
};

/// `edgegpu diff`
struct DiffCommand {
    /// a ref, a checksum, or the beginning of one, each followed by any number of ^
    std::string before;
    /// the same; empty: compare `before` with its parent
    std::string after;
    std::filesystem::path repo = "repo";
    bool all_files = false;
    /// release notes instead of text for a terminal
    bool markdown = false;
};

/// `edgegpu test`
struct TestCommand {
    /// a ref, or a checksum or the beginning of one, each followed by any number of ^
    std::string ref;
    /// the same; empty: no upgrade
    std::string from;
    bool rollback = false;
    bool rollback_only = false;
    std::filesystem::path repo = "repo";
    /// directory of executables; empty: none
    std::filesystem::path checks;
    /// its `[test]` is used; empty: none
    std::filesystem::path blueprint;
    /// of the blueprint
    GivenParameters parameters;
    /// GPUs of a host that the machine has display adapters for (parse_host_gpu)
    std::vector<std::string> host_gpus;
    /// file for JUnit's XML; empty: none
    std::filesystem::path junit;
    Accelerator accelerator = Accelerator::automatic;
    Firmware firmware = Firmware::uefi;
    /// the machine's files are kept, its disk among them
    bool keep = false;
    /// directory for consoles and screenshots; empty: only if something failed, below the working
    /// directory
    std::filesystem::path output;
};

/// `edgegpu image`
struct ImageCommand {
    /// a ref, a checksum, or the beginning of one, each followed by any number of ^
    std::string commit;
    std::filesystem::path repo = "repo";
    /// name of an ImageType, or "oci"
    std::string type = "raw";
    /// empty: from ref, version and type, in the working directory
    std::filesystem::path output;
    /// parse_size; empty: as large as needed
    std::string size;
    std::string stateroot;
    std::string remote;
    std::vector<std::string> kernel_arguments;
    /// TOML file with what belongs to one machine; empty: none
    std::filesystem::path injection;
    /// "tpm2" or "none"
    std::string encrypt = "none";
    /// "zstd", "clusters" or "none"; empty: that of the blueprint, else "none"
    std::string compress;
    /// whose settings for images are used where the options say nothing; empty: none
    std::filesystem::path blueprint;
    /// of the blueprint
    GivenParameters parameters;
    /// of the commit, for the provenance; empty: the one beside the blueprint that a build of the
    /// blueprint writes, if there is one
    std::filesystem::path lockfile;
    /// GPG key that signs the image, and the GPG home of its secret key; empty: those of the
    /// blueprint if it says so, else none and the user's
    std::string sign;
    std::filesystem::path gpg_homedir;
    /// container images: directory that gets the signature
    std::filesystem::path signatures;
    /// parse_target_rule; of installation media, which need it
    std::string target_rule;
    bool allow_unsigned = false;
    bool force = false;
    /// file for the libvirt domain of a virtual machine that starts the image, and for lines of a
    /// VMware machine; empty: none
    std::filesystem::path domain;
    std::filesystem::path vmx;
    /// of that machine: GPUs of the host (parse_host_gpu), parse_size or empty, processors or 0
    std::vector<std::string> host_gpus;
    std::string machine_memory;
    unsigned machine_cpus = 0;
    /// of `oci`: where an earlier version is, whose layers keep their packages; empty: none
    std::string previous;
    bool no_tls_verify = false;
};

/// `edgegpu openshift`
struct OpenshiftCommand {
    std::filesystem::path blueprint;
    BlueprintOptions inputs;
    /// a ref, a checksum, or the beginning of one; empty: the blueprint's ref
    std::string commit;
    std::filesystem::path repo = "repo";
    /// of the image in its registry, "sha256:…"
    std::string digest;
    std::filesystem::path output;
    /// do not ask the registry
    bool unchecked = false;
};

/// `edgegpu cache`
struct CacheCommand {
    /// "prune"; empty: only show the contents
    std::string action;
    std::filesystem::path cache_dir;
    /// parse_size; empty: no limit
    std::string max_size;
    /// parse_duration; empty: no limit
    std::string unused_for;
    bool dry_run = false;
};

/// `edgegpu init`
struct InitCommand {
    std::filesystem::path blueprint = "edge.toml";
    /// "rhel-9.4"
    std::string distro;
    /// `.repo` files
    std::vector<std::filesystem::path> repository_files;
    /// PCI ids or names
    std::vector<std::string> gpus;
    /// branch, version or "latest"
    std::string driver = "latest";
    /// "podman", "microshift" or "none"
    std::string workload = "podman";
    std::string user = "operator";
    /// public key, of which the first line counts
    std::filesystem::path key;
};

/// `edgegpu package-driver`
struct PackageDriverCommand {
    std::filesystem::path run_file;
    std::filesystem::path output;
};

/// Builds the image and prints the summary to stdout. Returns 0, or 77 for an unchanged image if
/// asked to. Several blueprints are builds of their own (builds.hpp).
int run_build(const GlobalOptions& global, const BuildCommand& command);

/// Checks each blueprint without touching the network; prints "PATH: ok" for each good one.
/// All are checked, and each failure reported. Returns the exit status of the last one.
int run_check(const GlobalOptions& global, const CheckCommand& command,
              const RunningCommand& running);

/// All checks of a blueprint that has been read (read_checked_blueprint) which need no network.
/// Adds to its warnings; throws one Error with all mistakes.
void check_read_blueprint(const Context& ctx, Blueprint& blueprint);

/// Resolves the blueprint and prints its packages.
int run_resolve(const GlobalOptions& global, const ResolveCommand& command);

/// Prints why a package is in the image of the blueprint, or what keeps it out. Returns 0 in both
/// cases.
int run_why(const GlobalOptions& global, const WhyCommand& command);

/// Prints the differences between two commits. Returns 0 whether or not there are any.
int run_diff(const GlobalOptions& global, const DiffCommand& command);

/// Boots a commit in a machine and prints what the checks found. Returns 1 if one failed.
int run_test(const GlobalOptions& global, const TestCommand& command);

/// Writes a disk image of a commit, and prints a summary of it.
int run_image(const GlobalOptions& global, const ImageCommand& command);

/// Publishes refs of a repository for devices, and prints what was new.
int run_publish(const GlobalOptions& global, const PublishCommand& command);

/// Gives a ref of a repository what another one has, and prints what has changed.
int run_promote(const GlobalOptions& global, const PromoteCommand& command);

/// Prints what the refs of a repository have, or what one has had. Returns 1 if some commit cannot
/// be read.
int run_channels(const GlobalOptions& global, const ChannelsCommand& command);

/// Writes a tar archive of refs of a repository for devices without a network, and prints what it
/// has.
int run_export(const GlobalOptions& global, const ExportCommand& command);

/// Checks a published repository, and mends it if asked to. Returns 1 if something is damaged.
int run_fsck(const GlobalOptions& global, const FsckCommand& command);

/// Removes old versions from a published repository, or changes what is pinned.
int run_prune(const GlobalOptions& global, const PruneCommand& command);

/// Makes a remote of rclone a copy of a published repository, and prints what was new.
int run_upload(const GlobalOptions& global, const UploadCommand& command);

/// Changes the plan by which devices of a ref get versions, or prints it. `check` returns 76 if the
/// rollout is paused.
int run_rollout(const GlobalOptions& global, const RolloutCommand& command);

/// Prints the contents of the cache, or removes what exceeds the command's limits.
int run_cache(const GlobalOptions& global, const CacheCommand& command);

/// Removes the least recently used items until the cache is no larger than `max_size` (parse_size;
/// empty: does nothing). For the end of a build.
void prune_after_build(const Context& ctx, const std::string& max_size);

/// Writes a result, a text or a JSON document, to stdout as `printable_result` and flushes it.
/// Throws Error if not all of it could be written.
void print_result(std::string_view text);

/// A row of such a text, "  NAME       VALUE\n", on one line.
[[nodiscard]] std::string result_row(std::string_view name, std::string_view value);
/// A line for each row, in which columns are as wide as their widest values.
[[nodiscard]] std::vector<std::string> aligned_lines(
    const std::vector<std::vector<std::string>>& rows);
/// The same; nothing if the value is empty.
[[nodiscard]] std::string row_unless_empty(std::string_view name, std::string_view value);

/// Such a document as text. Bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string document_text(const nlohmann::ordered_json& document);

/// Adds a text to an object of such a document, unless it is empty.
void add_text(nlohmann::ordered_json& object, const char* key, const std::string& text);

/// Prints what is known of the GPUs that match `wanted` (a PCI id, part of a name, or "" for all).
/// Throws Error if none does.
int run_gpus(const GlobalOptions& global, const std::string& wanted);

/// Makes a repository of packages of a run file, and prints what it has and what it lacks.
int run_package_driver(const GlobalOptions& global, const PackageDriverCommand& command);

/// Writes a first blueprint, which does not exist yet, and checks it before it gets its name.
int run_init(const GlobalOptions& global, const InitCommand& command);

/// Tries what builds need of this machine, with the cache that they would use, and prints what was
/// found. Returns 1 if no build works.
int run_doctor(const GlobalOptions& global, const std::filesystem::path& cache_dir);

/// The names of the shipped bundles, sorted.
[[nodiscard]] std::vector<std::string> shipped_bundles();

/// Writes the objects that bring an image to the nodes of an OpenShift cluster, after its registry
/// was asked for it.
int run_openshift(const GlobalOptions& global, const OpenshiftCommand& command);

/// Prints the shipped bundles, or what one bundle renders to: `wanted` is the name of a shipped one
/// or a path with a slash; empty: all shipped ones.
int run_bundles(const GlobalOptions& global, const std::string& wanted);

/// Reads and checks the blueprint, and adds its secrets to those that the log hides.
[[nodiscard]] Blueprint read_checked_blueprint(const GlobalOptions& global,
                                               const std::filesystem::path& path,
                                               const BlueprintOptions& inputs);
/// The same with the TOML that it was read from.
[[nodiscard]] ReadBlueprint read_checked_document(const GlobalOptions& global,
                                                  const std::filesystem::path& path,
                                                  const BlueprintOptions& inputs);

/// Shows the blueprint's warnings and notes on the console.
void show_remarks(const Blueprint& blueprint, Console& console);

/// Ids of the enabled repositories whose metadata are not verified, and whose packages are or are
/// not (`packages`).
[[nodiscard]] std::vector<std::string> unverified_repositories(
    const std::vector<Repository>& repositories, bool packages);

/// stderr with the options of the command line, and the log, for a Console.
[[nodiscard]] ConsoleOutput console_output(const GlobalOptions& global);

/// What a command other than build runs with: all processors, `console` and the log; it ends when
/// it is interrupted. `console` must outlive it. It has no cache: who only publishes may have no
/// home.
[[nodiscard]] Context command_context(const GlobalOptions& global, Console& console);

/// The same with the cache at `cache_dir` (empty: the user's).
[[nodiscard]] Context context_with_cache(const GlobalOptions& global, Console& console,
                                         const std::filesystem::path& cache_dir = {});

/// The cache directory to use, checked (open_cache): `wanted`, else $XDG_CACHE_HOME/edgegpu, else
/// $HOME/.cache/edgegpu.
[[nodiscard]] std::filesystem::path cache_directory(const std::filesystem::path& wanted,
                                                    CacheAccess access = CacheAccess::write);

}  // namespace edgegpu
