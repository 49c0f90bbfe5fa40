#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "commands/commands.hpp"

namespace edgegpu {

/// What the command line says, for all commands.
struct CommandLine {
    GlobalOptions global;
    InitCommand init;
    BuildCommand build;
    ResolveCommand resolve;
    WhyCommand why;
    DiffCommand diff;
    TestCommand test;
    ImageCommand image;
    CheckCommand check;
    OpenshiftCommand openshift;
    PublishCommand publish;
    PromoteCommand promote;
    ChannelsCommand channels;
    FsckCommand fsck;
    PruneCommand prune;
    UploadCommand upload;
    RolloutCommand rollout;
    ExportCommand exported;
    CacheCommand cache;
    PackageDriverCommand package_driver;
    /// of `doctor`
    std::filesystem::path doctor_cache_dir;
    std::string gpu;
    std::string bundle;
    /// of `completion`: a shell, or a kind of words
    std::string completed;
    std::filesystem::path completed_repo = "repo";
    /// of `help`; empty: edgegpu itself
    std::string explained;
};

/// Declares the whole command line to the parser, which then writes what it reads to `arguments`:
/// the global options, and each command with its own. `arguments` must live as long as `app`.
void add_options(CLI::App& app, CommandLine& arguments);

/// The same for commands that read a blueprint, each added to `app` (blueprint_options.cpp).
void add_build(CLI::App& app, BuildCommand& build);
void add_resolve(CLI::App& app, ResolveCommand& resolve);
void add_why(CLI::App& app, WhyCommand& why);
void add_check(CLI::App& app, CheckCommand& check);
void add_openshift(CLI::App& app, OpenshiftCommand& openshift);

/// The same for `test` (test_options.cpp).
void add_test(CLI::App& app, TestCommand& test);
/// The same for `image` (image_options.cpp).
void add_image(CLI::App& app, ImageCommand& image);

/// The same for what repositories of devices are for (publish_options.cpp).
void add_publish(CLI::App& app, PublishCommand& publish);
void add_promote(CLI::App& app, PromoteCommand& promote);
void add_channels(CLI::App& app, ChannelsCommand& channels);
void add_fsck(CLI::App& app, FsckCommand& fsck);
void add_prune(CLI::App& app, PruneCommand& prune);
void add_upload(CLI::App& app, UploadCommand& upload);
void add_export(CLI::App& app, ExportCommand& exported);
/// The same for `rollout` (rollout_options.cpp).
void add_rollout(CLI::App& app, RolloutCommand& rollout);

/// The options of SigningOptions, of a command that makes a summary; `description` is that of
/// `--sign`.
void add_signing_options(CLI::App& verb, SigningOptions& keys, const std::string& description);

/// `--lock-wait` of a command that writes to the published repository (publish_options.cpp).
void add_lock_wait(CLI::App& verb, std::string& wait);

/// `--set` and `--parameters` of a command (blueprint_options.cpp). `blueprint`: the option that
/// names the blueprint, without which they are an error; null if the command always has one.
void add_parameter_options(CLI::App& verb, GivenParameters& parameters,
                           CLI::Option* blueprint = nullptr);

/// `--cache-dir` of a command.
void add_cache_dir(CLI::App& verb, std::filesystem::path& cache_dir);

}  // namespace edgegpu
