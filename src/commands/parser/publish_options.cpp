#include <filesystem>
#include <string>
#include <tuple>

#include "commands/parser/option_values.hpp"
#include "commands/parser/options.hpp"

namespace edgegpu {

namespace {

constexpr int most_versions = 10000;

/// `--grace` of a command that removes versions.
CLI::Option* add_grace(CLI::App& verb, std::string& grace) {
    return verb
        .add_option("--grace", grace,
                    "How long what is no longer needed stays, for clients and caches that are "
                    "reading it, such as 12h or 30d; 0: not at all (default: 7d)")
        ->type_name("TIME")
        ->check(duration_or_zero());
}

/// `--sign` and `--gpg-homedir` of a command that makes a summary.
void add_signing(CLI::App& verb, std::string& key, std::filesystem::path& home) {
    CLI::Option* sign = verb.add_option("--sign", key,
                                        "GPG key that signs the summary (default: it is not "
                                        "signed)")
                            ->type_name("KEY")
                            ->check(not_empty());
    verb.add_option("--gpg-homedir", home, "GPG home with the secret key (default: the user's)")
        ->type_name("DIR")
        ->check(not_empty())
        ->needs(sign);
}

}  // namespace

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
    verb->add_option("--delta-from", publish.delta_from,
                     "What devices have that are to download a static delta: a number of versions "
                     "(1: the published one), or a commit or ref of the repository of --to; can be "
                     "given several times")
        ->type_name("N|COMMIT")
        ->allow_extra_args(false)
        ->check(not_empty());
    verb->add_option("--delta-max-file", publish.delta_max_file,
                     "Largest file of which deltas have differences, up to 480M (default: 256M); a "
                     "device needs as much memory")
        ->type_name("SIZE")
        ->check(size_text());
    CLI::Option* keep =
        verb->add_option("--keep", publish.keep,
                         "Then remove what is older than this number of versions of each ref from "
                         "the repository of --to, as edgegpu prune does (default: all are kept)")
            ->type_name("N")
            ->check(number_in(1, most_versions));
    add_grace(*verb, publish.grace)->needs(keep);
    add_signing(*verb, publish.sign, publish.gpg_homedir);
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
    add_signing(*verb, prune.sign, prune.gpg_homedir);
}

}  // namespace edgegpu
