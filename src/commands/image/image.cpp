#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "commands/commands.hpp"
#include "commands/image/image_machine.hpp"
#include "commands/image/image_oci.hpp"
#include "commands/image_blueprint.hpp"
#include "execution/context.hpp"
#include "execution/interrupt.hpp"
#include "execution/stage.hpp"
#include "image_file/image.hpp"
#include "image_file/image_name.hpp"
#include "image_file/injection_file.hpp"
#include "repository/commit_view.hpp"
#include "repository/followed_ref.hpp"
#include "signing/signer.hpp"
#include "support/error.hpp"
#include "support/ranges.hpp"
#include "support/text/shell_text.hpp"
#include "support/text/terminal_text.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

/// The least size of the disk with these least sizes of its parts.
std::uint64_t least_disk(const ImageSettings& settings) {
    const DiskSizes& least = settings.least;
    std::uint64_t sum = least.rootfs + least.boot + least.esp;
    for (const Volume& volume : settings.volumes) {
        sum += volume.size;
    }
    return std::max(least.disk, sum);
}

/// The rule, for disks that are large enough for what the blueprint asks for: the root file system
/// gets what the disk has.
TargetRule sufficient_target(const std::string& rule, const ImageSettings& settings) {
    if (least_disk(settings) == 0) {
        return parse_target_rule(rule);
    }
    const std::string size = fmt::format("size>={}", least_disk(settings));
    return parse_target_rule(trim(rule) == "any" ? size : rule + ',' + size);
}

/// What applies to installation media.
void set_installer(ImageRequest& request, const ImageCommand& command,
                   const ImageSettings& settings) {
    if (request.type != ImageType::installer_iso) {
        if (!command.target_rule.empty() || command.allow_unsigned) {
            throw error(ErrorKind::usage, "{} applies to --type installer-iso only",
                        command.target_rule.empty() ? "--allow-unsigned" : "--target-rule");
        }
        return;
    }
    if (settings.target_rule.empty()) {
        throw error(ErrorKind::usage, "an installation medium needs --target-rule")
            .hinted(std::string(target_rule_forms));
    }
    if (!command.size.empty()) {
        throw error(ErrorKind::usage,
                    "--size does not apply to an installation medium: the disk grows to what the "
                    "machine has");
    }
    if (request.disk.encryption != Encryption::none) {
        throw error(ErrorKind::usage,
                    "--encrypt does not apply to an installation medium: it runs from the disk "
                    "that it writes, which it could not read")
            .hinted("write a disk image, such as --type raw");
    }
    request.target = sufficient_target(settings.target_rule, settings);
    request.disk.size = 0;
    request.disk.least.disk = request.disk.least.rootfs = 0;
    request.unsigned_commit = command.allow_unsigned;
}

/// The ref that the image follows; a device that follows none gets no upgrade.
std::string ref_of(const RepositoryView& repository, const CommitView& commit, Console& console) {
    std::string ref = followed_ref(repository, commit);
    if (ref.empty()) {
        const std::string& checksum = commit.info().checksum;
        console.warn(fmt::format(
            "{}: commit {} belongs to no ref: a device with this image follows nothing and gets no "
            "upgrade (\"Pinned to commit; no upgrade available\"); give it a ref and write the "
            "image "
            "again: ostree refs --repo={} --create=REF {}",
            repository.path(), checksum, shell_word(repository.path()), checksum));
    }
    return ref;
}

ImageRequest request_of(const ImageCommand& command, const RepositoryView& repository,
                        const CommitView& commit, const ImageChoices& choices, Console& console) {
    const ImageSettings& settings = choices.settings;
    ImageRequest request;
    request.type = value_named<ImageType>(command.type).value();
    request.compression = value_named<ImageCompression>(settings.compress).value();
    if (request.compression == ImageCompression::clusters && request.type != ImageType::qcow2) {
        throw error(ErrorKind::usage, "{} compresses clusters, and an image of type {} has none",
                    command.compress.empty() ? "the blueprint's [image]" : "--compress",
                    request.type)
            .hinted("--type qcow2, or --compress zstd or none");
    }
    request.sources = choices.sources;
    request.key = choices.key;
    request.replace = command.force;
    request.disk.ref = ref_of(repository, commit, console);
    request.disk.remote = settings.remote;
    request.disk.stateroot = settings.stateroot;
    request.disk.kernel_arguments = settings.kernel_arguments;
    request.disk.size = settings.size;
    request.disk.least = settings.least;
    request.disk.volumes = settings.volumes;
    request.disk.encryption = command.encrypt == "tpm2" ? Encryption::tpm2 : Encryption::none;
    if (request.disk.encryption != Encryption::none && !settings.volumes.empty()) {
        throw error(ErrorKind::usage,
                    "--encrypt encrypts the root file system alone: the blueprint has {} on a "
                    "partition of its own",
                    settings.volumes.front().name())
            .hinted("remove that file system, or --encrypt");
    }
    set_installer(request, command, settings);
    if (!settings.injection.empty()) {
        request.disk.injection = read_injection_file(settings.injection, commit);
    }
    request.output = command.output.empty()
                         ? std::filesystem::path(image_file_name(request, commit.info()))
                         : command.output;
    request.output = std::filesystem::absolute(request.output).lexically_normal();
    if (!request.output.has_filename()) {
        throw error(ErrorKind::usage, "{}: names no file", request.output.string());
    }
    check_image_name(request);
    return request;
}

/// Signs something with the key before the disk is written: a key that is missing, or an agent that
/// does not answer, ends the command at once, and not after minutes.
void try_key(Signer& signer, const ImageKey& key) {
    signer.allow({{}, key.id, key.homedir, {}});
    static_cast<void>(signer.sign_trial());
}

std::string image_summary(const Image& image, const CommitInfo& commit,
                          const ImageRequest& request) {
    const std::vector<std::string_view> firmware = mapped(
        image.disk.firmware,
        [](Firmware one) -> std::string_view { return one == Firmware::uefi ? "UEFI" : "BIOS"; });
    std::string text = "\n";
    text += result_row("image", request.output.string());
    text += result_row(
        "type", fmt::format("{}{}, {}; {} {}", request.type,
                            request.compression == ImageCompression::none
                                ? ""
                                : fmt::format(", {}", request.compression),
                            human_size(image.size),
                            request.type == ImageType::installer_iso ? "installs to disks from"
                                                                     : "the disk has",
                            human_size(image.disk.size)));
    text += result_row("sha256", image.sha256);
    text += result_row("commit", image.disk.commit);
    text += row_unless_empty("version", commit.version);
    text += result_row("follows", image.disk.refspec.empty() ? "nothing" : image.disk.refspec);
    text += result_row("starts by", fmt::format("{}", fmt::join(firmware, ", ")));
    text += result_row("arguments", fmt::format("{}", fmt::join(image.disk.kernel_arguments, " ")));
    if (!request.disk.volumes.empty()) {
        const std::vector<std::string> names =
            mapped(request.disk.volumes, [](const Volume& volume) {
                return fmt::format("{} {}", volume.name(), human_size(volume.size));
            });
        text += result_row("volumes", fmt::format("{}", fmt::join(names, ", ")));
    }
    if (request.key) {
        text += result_row("signed by", request.key->id);
    }
    if (request.disk.encryption != Encryption::none) {
        text +=
            result_row("encryption",
                       "not protected yet: at its first boot the device makes the key and gives "
                       "it to its TPM");
    }
    if (!request.disk.injection.empty()) {
        text += result_row(
            "injected",
            fmt::format("{}", fmt::join(mapped(request.disk.injection, &Injected::path), ", ")));
    }
    return text;
}

}  // namespace

int run_image(const GlobalOptions& global, const ImageCommand& command) {
    if (command.type == oci_type) {
        return run_oci_image(global, command);
    }
    if (!command.signatures.empty()) {
        throw error(ErrorKind::usage, "--signatures is for --type oci")
            .hinted("of other images, FILE.asc is the signature");
    }
    if (!command.previous.empty() || command.no_tls_verify) {
        throw error(ErrorKind::usage, "{} applies to --type oci only",
                    command.previous.empty() ? "--no-tls-verify" : "--previous");
    }
    // First of all: it forks, and reading a repository starts threads.
    Signer signer(&interrupted());
    Console console(console_output(global));
    const Context ctx = context_with_cache(global, console);
    signer.log_to(ctx.log);
    const RepositoryView repository(command.repo);
    const CommitView commit = repository.open(command.commit);
    require_deployable(commit.info());
    const ImageChoices choices = choose_image(command, commit, console);
    const ImageRequest request = request_of(command, repository, commit, choices, console);
    const std::vector<MachineFile> machine = machine_files(command, request, choices, console);
    if (request.key) {
        try_key(signer, *request.key);
    }
    Stages stages(ctx, commit.info().name);
    const Image image =
        stages.run([&] { return write_image(ctx, stages, repository, commit, request); });
    write_machine_files(machine, request.replace);
    std::string summary = image_summary(image, commit.info(), request);
    for (const MachineFile& file : machine) {
        summary += result_row(file.kind, file.path.string());
    }
    print_result(global.json ? image.provenance : summary);
    return 0;
}

}  // namespace edgegpu
