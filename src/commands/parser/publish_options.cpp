#include <filesystem>
#include <string>
#include <tuple>
#include <vector>

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
    return verb
        .add_option("--grace", grace,
                    "How long what is no longer needed stays, for clients and caches that are "
                    "reading it, such as 12h or 30d; 0: not at all (default: 7d)")
        ->type_name("TIME")
        ->check(duration_or_zero());
}

/// `--delta-from`, `--delta-fleet` and `--delta-max-file` of a command that gives a ref a commit.
/// `repository` says, with a blank before it, which one has the commits.
void add_delta_options(CLI::App& verb, DeltaChoice& deltas, const std::string& repository) {
    verb.add_option("--delta-from", deltas.from,
                    "What devices have that are to download a static delta: a number of versions "
                    "(1: the published one), or a commit or ref of the repository" +
                        repository + "; can be given several times")
        ->type_name("N|COMMIT")
        ->allow_extra_args(false)
        ->check(not_empty());
    verb.add_option("--delta-fleet", deltas.fleet,
                    "JSON document with the number of devices of each commit that some run: those "
                    "of the ref that one device in a hundred has get a static delta, too")
        ->type_name("FILE")
        ->check(not_empty());
    verb.add_option("--delta-max-file", deltas.largest_file,
                    "Largest file of which deltas have differences, up to 480M (default: 256M); a "
                    "device needs as much memory")
        ->type_name("SIZE")
        ->check(size_text());
}

}  // namespace

void add_signing_options(CLI::App& verb, SigningOptions& keys, const std::string& description) {
    CLI::Option* sign =
        verb.add_option("--sign", keys.sign, description)->type_name("KEY")->check(not_empty());
    verb.add_option("--gpg-homedir", keys.gpg_homedir,
                    "GPG home with the secret key (default: the user's)")
        ->type_name("DIR")
        ->check(not_empty())
        ->needs(sign);
    CLI::Option* file =
        verb.add_option("--sign-ed25519", keys.sign_ed25519,
                        "File with a secret ed25519 key that signs the same, for devices with "
                        "sign-verify: as of ostree sign, or PEM")
            ->type_name("FILE")
            ->check(not_empty());
    CLI::Option* command =
        verb.add_option("--sign-command", keys.sign_command,
                        "Program that signs instead of such a file: what is to be signed is its "
                        "standard input, the 64 bytes of the ed25519 signature its output")
            ->type_name("PROGRAM")
            ->check(not_empty())
            ->excludes(file);
    command->needs(verb.add_option("--sign-command-key", keys.sign_command_key,
                                   "File with the public key of --sign-command: base64, or PEM")
                       ->type_name("FILE")
                       ->check(not_empty())
                       ->needs(command));
}

void add_lock_wait(CLI::App& verb, std::string& wait) {
    verb.add_option("--lock-wait", wait,
                    "How long to wait while prune, fsck or ostree has locked the repository, such "
                    "as 10m; 0: not at all (default: lock-timeout-secs of the repository's config, "
                    "or 30s)")
        ->type_name("TIME")
        ->check(duration_or_zero());
}

void add_publish(CLI::App& app, PublishCommand& publish) {
    CLI::App* verb = app.add_subcommand(
        "publish", "Copy refs to the repository that devices pull from, and sign its summary");
    verb->add_option("REF", publish.refs, "Ref of the repository that was built into")
        ->required()
        ->type_name("COMMIT");
    verb->add_option("--from", publish.from,
                     "Repository with the refs (default: repo, in the working directory)")
        ->type_name("DIR");
    verb->add_option("--to", publish.to,
                     "Repository that devices pull from, which a web server serves; created if it "
                     "is absent")
        ->required()
        ->type_name("DIR")
        ->check(not_empty());
    add_delta_options(*verb, publish.deltas, " of --to");
    CLI::Option* keep =
        verb->add_option("--keep", publish.keep,
                         "Then remove what is older than this number of versions of each ref from "
                         "the repository of --to, as edgegpu prune does (default: all are kept)")
            ->type_name("N")
            ->check(number_in(1, most_versions));
    add_grace(*verb, publish.grace)->needs(keep);
    add_lock_wait(*verb, publish.lock_wait);
    add_signing_options(*verb, publish.keys, summary_key);
}

void add_promote(CLI::App& app, PromoteCommand& promote) {
    CLI::App* verb = app.add_subcommand(
        "promote", "Give the devices of one ref what another ref has, or had: a new commit of it");
    verb->add_option("SOURCE", promote.source,
                     "Ref, checksum or abbreviated checksum of the commit that they are to get; a "
                     "trailing ^ selects the parent")
        ->required()
        ->type_name("COMMIT");
    verb->add_option("--to", promote.to, "Ref that the devices follow; created if it is absent")
        ->required()
        ->type_name("REF")
        ->check(not_empty());
    verb->add_option("--repo", promote.repo,
                     "Repository of both, from which devices pull (default: repo, in the working "
                     "directory)")
        ->type_name("DIR");
    CLI::Option* also =
        verb->add_option("--also", promote.also,
                         "Another promotion, at the same time: no ref gets its commit unless all "
                         "can; can be given several times")
            ->type_name("SOURCE:REF")
            ->allow_extra_args(false)
            ->check(not_empty());
    verb->add_option("--expect-before", promote.expect_before,
                     "Change nothing unless the ref of --to has this commit, in full, or \"none\": "
                     "is not there yet; of a ref of --also: REF=CHECKSUM")
        ->type_name("CHECKSUM")
        ->allow_extra_args(false)
        ->check(not_empty());
    add_delta_options(*verb, promote.deltas, "");
    add_signing_options(*verb, promote.keys,
                        "GPG key that signs commit and summary (default: neither is signed)");
    add_lock_wait(*verb, promote.lock_wait);
    verb->add_option("--by", promote.by,
                     "Who promotes, for the history (default: $GITLAB_USER_LOGIN, $GITHUB_ACTOR, "
                     "$SUDO_USER, or the user)")
        ->type_name("NAME")
        ->check(not_empty());
    verb->add_option("--reason", promote.reason, "Why, for the history")->type_name("TEXT");
    CLI::Option* end =
        verb->add_option("--end-of-life", promote.end_of_life,
                         "The ref ends with this commit: what devices are to show of that")
            ->type_name("TEXT")
            ->check(not_empty())
            ->excludes(also);
    verb->add_option("--rebase-to", promote.rebase_to,
                     "Ref of the repository that `ostree admin upgrade` goes on with by itself; "
                     "rpm-ostree shows the text only")
        ->type_name("REF")
        ->check(not_empty())
        ->needs(end);
    verb->add_flag("--dry-run", promote.dry_run, "Change nothing, only show what would change");
}

void add_channels(CLI::App& app, ChannelsCommand& channels) {
    CLI::App* verb = app.add_subcommand(
        "channels", "Show what each ref has and where that comes from, or what one ref has had");
    verb->add_option("REF", channels.ref, "The ref whose history is shown (default: all refs)")
        ->type_name("COMMIT");
    verb->add_option("--repo", channels.repo,
                     "ostree repository (default: repo, in the working directory)")
        ->type_name("DIR");
}

void add_fsck(CLI::App& app, FsckCommand& fsck) {
    CLI::App* verb = app.add_subcommand(
        "fsck", "Check the repository that devices pull from, and mend it from another one");
    verb->add_option("REF", fsck.refs, "Ref of the repository (default: all)")->type_name("COMMIT");
    verb->add_option("--repo", fsck.repo, "Repository that devices pull from")
        ->required()
        ->type_name("DIR")
        ->check(not_empty());
    verb->add_option("--repair-from", fsck.repair_from,
                     "Repository to copy from what is damaged or missing (default: nothing is "
                     "changed)")
        ->type_name("DIR")
        ->check(not_empty());
}

void add_prune(CLI::App& app, PruneCommand& prune) {
    CLI::App* verb = app.add_subcommand(
        "prune", "Remove old versions and their deltas from the repository that devices pull from");
    verb->add_option("--repo", prune.repo, "Repository that devices pull from")
        ->required()
        ->type_name("DIR")
        ->check(not_empty());
    CLI::Option* keep =
        verb->add_option("--keep", prune.keep, "Versions of each ref that stay (default: 2)")
            ->type_name("N")
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
        verb->add_option(name, *commits, text)
            ->type_name("COMMIT")
            ->allow_extra_args(false)
            ->check(not_empty())
            ->excludes(keep, grace, dry);
    }
    add_lock_wait(*verb, prune.lock_wait);
    add_signing_options(*verb, prune.keys, summary_key);
}

void add_upload(CLI::App& app, UploadCommand& upload) {
    CLI::App* verb = app.add_subcommand(
        "upload", "Copy a published repository to an object store or another server, with rclone");
    verb->add_option("--repo", upload.repo, "The repository that edgegpu publish made")
        ->required()
        ->type_name("DIR")
        ->check(not_empty());
    verb->add_option("--to", upload.to,
                     "Where devices pull from, as rclone names it: NAME:BUCKET/PATH, or a "
                     "connection string; nothing else may be there")
        ->required()
        ->type_name("REMOTE")
        ->check(not_empty());
    verb->add_option("--bandwidth", upload.bandwidth,
                     "Most that is sent per second, as rclone takes it (bwlimit): 10M, or a "
                     "timetable (default: no limit)")
        ->type_name("LIMIT")
        ->check(not_empty());
    verb->add_flag("--verify", upload.verify,
                   "Compare everything that is there, and mend it: by hashes, or, where the server "
                   "has none, by reading it");
    verb->add_flag("--overwrite", upload.overwrite,
                   "Replace refs of commits that the repository never had, or that are newer");
    verb->add_option("--delete-after", upload.delete_after,
                     "Remove what the repository has no more, if refs and summary there have been "
                     "the same for this long, such as 1d; 0s: at once (default: it is kept)")
        ->type_name("TIME")
        ->check(duration_text());
    verb->add_option("--lock-wait", upload.lock_wait,
                     "How long to wait for another upload, or for what publishes or prunes the "
                     "repository, such as 1h; 0: not at all (default: 10m for another upload, "
                     "else lock-timeout-secs of the repository's config, or 30s)")
        ->type_name("TIME")
        ->check(duration_or_zero());
}

void add_export(CLI::App& app, ExportCommand& exported) {
    CLI::App* verb = app.add_subcommand(
        "export", "Write refs to a file, from which devices without a network pull");
    verb->add_option("REF", exported.refs, "Ref of the repository")
        ->required()
        ->type_name("COMMIT");
    verb->add_option("--repo", exported.repo,
                     "Repository with the refs (default: repo, in the working directory)")
        ->type_name("DIR");
    verb->add_option("--output", exported.output, "Tar archive that is written")
        ->required()
        ->type_name("FILE")
        ->check(not_empty());
    verb->add_option("--since", exported.since,
                     "What all devices have, of which the file has nothing again: a number of "
                     "versions (1: the one before), or a commit or ref of the repository; can be "
                     "given several times (default: the file has everything)")
        ->type_name("N|COMMIT")
        ->allow_extra_args(false)
        ->check(not_empty());
    add_signing_options(*verb, exported.keys, archive_key);
    verb->add_flag("--force", exported.force, "Replace a file that exists");
}

}  // namespace edgegpu
