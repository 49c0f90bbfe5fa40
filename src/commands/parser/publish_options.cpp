#include <string>
#include <tuple>

#include "commands/parser/option_values.hpp"
#include "commands/parser/options.hpp"

namespace edgegpu {

namespace {

constexpr int most_versions = 10000;
constexpr const char* archive_key =
    "GPG key that signs the summary of the archive, for devices that verify it (default: it has "
    "none)";
constexpr const char* summary_key = "GPG key that signs the summary (default: it is not signed)";

/// `--grace` of a command that removes versions.
CLI::Option* add_grace(CLI::App& verb, std::string& grace) {
    return add_value(verb, "--grace", grace, "TIME",
                     "How long what is no longer needed stays, for clients and caches that are "
                     "reading it, such as 12h or 30d; 0: not at all (default: 7d)")
        ->check(duration_or_zero());
}

/// `--delta-from`, `--delta-fleet` and `--delta-max-file` of a command that gives a ref a commit.
/// `repository` says, with a blank before it, which one has the commits.
void add_delta_options(CLI::App& verb, DeltaChoice& deltas, const std::string& repository) {
    add_nonempty(verb, "--delta-from", deltas.from, "N|COMMIT",
                 "What devices have that are to download a static delta: a number of versions "
                 "(1: the published one), or a commit or ref of the repository" +
                     repository + "; can be given several times")
        ->allow_extra_args(false);
    add_nonempty(verb, "--delta-fleet", deltas.fleet, "FILE",
                 "JSON document with the number of devices of each commit that some run: those "
                 "of the ref that one device in a hundred has get a static delta, too");
    add_size(verb, "--delta-max-file", deltas.largest_file,
             "Largest file of which deltas have differences, up to 480M (default: 256M); a "
             "device needs as much memory. Larger ones are made of pieces of the old file");
}

}  // namespace

void add_signing_options(CLI::App& verb, SigningOptions& keys, const std::string& description) {
    CLI::Option* sign = add_nonempty(verb, "--sign", keys.sign, "KEY", description);
    add_nonempty(verb, "--gpg-homedir", keys.gpg_homedir, "DIR",
                 "GPG home with the secret key (default: the user's)")
        ->needs(sign);
    CLI::Option* file =
        add_nonempty(verb, "--sign-ed25519", keys.sign_ed25519, "FILE",
                     "File with a secret ed25519 key that signs the same, for devices with "
                     "sign-verify: as of ostree sign, or PEM");
    CLI::Option* command =
        add_nonempty(verb, "--sign-command", keys.sign_command, "PROGRAM",
                     "Program that signs instead of such a file: what is to be signed is its "
                     "standard input, the 64 bytes of the ed25519 signature its output")
            ->excludes(file);
    command->needs(add_nonempty(verb, "--sign-command-key", keys.sign_command_key, "FILE",
                                "File with the public key of --sign-command: base64, or PEM")
                       ->needs(command));
}

void add_lock_wait(CLI::App& verb, std::string& wait) {
    add_value(verb, "--lock-wait", wait, "TIME",
              "How long to wait while prune, fsck or ostree has locked the repository, such "
              "as 10m; 0: not at all (default: lock-timeout-secs of the repository's config, "
              "or 30s)")
        ->check(duration_or_zero());
}

void add_publish(CLI::App& app, PublishCommand& publish) {
    CLI::App* verb = app.add_subcommand(
        "publish", "Copy refs to the repository that devices pull from, and sign its summary");
    add_value(*verb, "REF", publish.refs, "COMMIT", "Ref of the repository that was built into")
        ->required();
    add_value(*verb, "--from", publish.from, "DIR",
              "Repository with the refs (default: repo, in the working directory)");
    add_nonempty(*verb, "--to", publish.to, "DIR",
                 "Repository that devices pull from, which a web server serves; created if it "
                 "is absent")
        ->required();
    add_delta_options(*verb, publish.deltas, " of --to");
    CLI::Option* keep =
        add_value(*verb, "--keep", publish.keep, "N",
                  "Then remove what is older than this number of versions of each ref from "
                  "the repository of --to, as edgegpu prune does (default: all are kept)")
            ->check(number_in(1, most_versions));
    add_grace(*verb, publish.grace)->needs(keep);
    add_lock_wait(*verb, publish.lock_wait);
    add_signing_options(*verb, publish.keys, summary_key);
}

void add_promote(CLI::App& app, PromoteCommand& promote) {
    CLI::App* verb = app.add_subcommand(
        "promote", "Give the devices of one ref what another ref has, or had: a new commit of it");
    add_value(*verb, "SOURCE", promote.source, "COMMIT",
              "Ref, checksum or abbreviated checksum of the commit that they are to get; a "
              "trailing ^ selects the parent")
        ->required();
    add_nonempty(*verb, "--to", promote.to, "REF",
                 "Ref that the devices follow; created if it is absent")
        ->required();
    add_value(*verb, "--repo", promote.repo, "DIR",
              "Repository of both, from which devices pull (default: repo, in the working "
              "directory)");
    CLI::Option* also =
        add_nonempty(*verb, "--also", promote.also, "SOURCE:REF",
                     "Another promotion, at the same time: no ref gets its commit unless all "
                     "can; can be given several times")
            ->allow_extra_args(false);
    add_nonempty(*verb, "--expect-before", promote.expect_before, "CHECKSUM",
                 "Change nothing unless the ref of --to has this commit, in full, or \"none\": "
                 "is not there yet; of a ref of --also: REF=CHECKSUM")
        ->allow_extra_args(false);
    add_delta_options(*verb, promote.deltas, "");
    add_signing_options(*verb, promote.keys,
                        "GPG key that signs commit and summary (default: neither is signed)");
    add_lock_wait(*verb, promote.lock_wait);
    add_nonempty(*verb, "--by", promote.by, "NAME",
                 "Who promotes, for the history (default: $GITLAB_USER_LOGIN, $GITHUB_ACTOR, "
                 "$SUDO_USER, or the user)");
    add_value(*verb, "--reason", promote.reason, "TEXT", "Why, for the history");
    CLI::Option* end =
        add_nonempty(*verb, "--end-of-life", promote.end_of_life, "TEXT",
                     "The ref ends with this commit: what devices are to show of that")
            ->excludes(also);
    add_nonempty(*verb, "--rebase-to", promote.rebase_to, "REF",
                 "Ref of the repository that `ostree admin upgrade` goes on with by itself; "
                 "rpm-ostree shows the text only")
        ->needs(end);
    verb->add_flag("--dry-run", promote.dry_run, "Change nothing, only show what would change");
}

void add_channels(CLI::App& app, ChannelsCommand& channels) {
    CLI::App* verb = app.add_subcommand(
        "channels", "Show what each ref has and where that comes from, or what one ref has had");
    add_value(*verb, "REF", channels.ref, "COMMIT",
              "The ref whose history is shown (default: all refs)");
    add_value(*verb, "--repo", channels.repo, "DIR",
              "ostree repository (default: repo, in the working directory)");
}

void add_fsck(CLI::App& app, FsckCommand& fsck) {
    CLI::App* verb = app.add_subcommand(
        "fsck", "Check the repository that devices pull from, and mend it from another one");
    add_value(*verb, "REF", fsck.refs, "COMMIT", "Ref of the repository (default: all)");
    add_nonempty(*verb, "--repo", fsck.repo, "DIR", "Repository that devices pull from")
        ->required();
    add_nonempty(*verb, "--repair-from", fsck.repair_from, "DIR",
                 "Repository to copy from what is damaged or missing (default: nothing is "
                 "changed)");
}

void add_prune(CLI::App& app, PruneCommand& prune) {
    CLI::App* verb = app.add_subcommand(
        "prune", "Remove old versions and their deltas from the repository that devices pull from");
    add_nonempty(*verb, "--repo", prune.repo, "DIR", "Repository that devices pull from")
        ->required();
    CLI::Option* keep =
        add_value(*verb, "--keep", prune.keep, "N", "Versions of each ref that stay (default: 2)")
            ->check(number_in(1, most_versions));
    CLI::Option* grace = add_grace(*verb, prune.grace);
    CLI::Option* dry = verb->add_flag("--dry-run", prune.dry_run,
                                      "Remove and note nothing, only show what would be removed");
    for (const auto& [name, commits, text] :
         {std::tuple("--pin", &prune.pin,
                     "Commit or ref whose commit stays from now on, whatever --keep says; nothing "
                     "is removed now; can be given several times"),
          std::tuple("--unpin", &prune.unpin,
                     "Pinned commit that need not stay any more; can be given several times")}) {
        add_nonempty(*verb, name, *commits, "COMMIT", text)
            ->allow_extra_args(false)
            ->excludes(keep, grace, dry);
    }
    add_lock_wait(*verb, prune.lock_wait);
    add_signing_options(*verb, prune.keys, summary_key);
}

void add_upload(CLI::App& app, UploadCommand& upload) {
    CLI::App* verb = app.add_subcommand(
        "upload", "Copy a published repository to an object store or another server, with rclone");
    add_nonempty(*verb, "--repo", upload.repo, "DIR", "The repository that edgegpu publish made")
        ->required();
    add_nonempty(*verb, "--to", upload.to, "REMOTE",
                 "Where devices pull from, as rclone names it: NAME:BUCKET/PATH, or a "
                 "connection string; nothing else may be there")
        ->required();
    add_nonempty(*verb, "--bandwidth", upload.bandwidth, "LIMIT",
                 "Most that is sent per second, as rclone takes it (bwlimit): 10M, or a "
                 "timetable (default: no limit)");
    verb->add_flag("--verify", upload.verify,
                   "Compare everything that is there, and mend it: by hashes, or, where the server "
                   "has none, by reading it");
    verb->add_flag("--overwrite", upload.overwrite,
                   "Replace refs of commits that the repository never had, or that are newer");
    add_value(*verb, "--delete-after", upload.delete_after, "TIME",
              "Remove what the repository has no more, if refs and summary there have been "
              "the same for this long, such as 1d; 0s: at once (default: it is kept)")
        ->check(duration_text());
    add_value(*verb, "--lock-wait", upload.lock_wait, "TIME",
              "How long to wait for another upload, or for what publishes or prunes the "
              "repository, such as 1h; 0: not at all (default: 10m for another upload, "
              "else lock-timeout-secs of the repository's config, or 30s)")
        ->check(duration_or_zero());
}

void add_export(CLI::App& app, ExportCommand& exported) {
    CLI::App* verb = app.add_subcommand(
        "export", "Write refs to a file, from which devices without a network pull");
    add_value(*verb, "REF", exported.refs, "COMMIT", "Ref of the repository")->required();
    add_value(*verb, "--repo", exported.repo, "DIR",
              "Repository with the refs (default: repo, in the working directory)");
    add_nonempty(*verb, "--output", exported.output, "FILE", "Tar archive that is written")
        ->required();
    add_nonempty(*verb, "--since", exported.since, "N|COMMIT",
                 "What all devices have, of which the file has nothing again: a number of "
                 "versions (1: the one before), or a commit or ref of the repository; can be "
                 "given several times (default: the file has everything)")
        ->allow_extra_args(false);
    add_signing_options(*verb, exported.keys, archive_key);
    verb->add_flag("--force", exported.force, "Replace a file that exists");
}

}  // namespace edgegpu
