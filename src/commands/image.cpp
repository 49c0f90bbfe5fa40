#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "commands/commands.hpp"
#include "commands/image_oci.hpp"
#include "execution/context.hpp"
#include "execution/interrupt.hpp"
#include "execution/processors.hpp"
#include "execution/stage.hpp"
#include "image_file/image.hpp"
#include "image_file/injection_file.hpp"
#include "report/commit_view.hpp"
#include "support/error.hpp"
#include "support/quantity.hpp"
#include "support/terminal_text.hpp"

namespace edgegpu {

namespace {

/// The ref that a device follows: the one that the commit was named by, with or without ^, or the
/// only one that has it. A remote's name is not part of it.
std::string followed_ref(const RepositoryView& repository, const CommitView& commit) {
    std::string name = commit.info().name;
    while (name.ends_with('^')) {
        name.pop_back();
    }
    const std::map<std::string, std::string> refs = repository.refs();
    if (!refs.contains(name)) {
        name.clear();
        for (const auto& [ref, checksum] : refs) {
            if (checksum == commit.info().checksum) {
                if (!name.empty()) {
                    throw error(ErrorKind::usage, "commit {} has several refs: {}, {}",
                                commit.info().checksum, name, ref)
                        .hinted("name it by the ref that the device is to follow");
                }
                name = ref;
            }
        }
    }
    const std::size_t remote = name.find(':');
    return remote == std::string::npos ? name : name.substr(remote + 1);
}

/// What applies to installation media.
void set_installer(ImageRequest& request, const ImageCommand& command) {
    if (request.type != ImageType::installer_iso) {
        if (!command.target_rule.empty() || command.allow_unsigned) {
            throw error(ErrorKind::usage, "{} applies to --type installer-iso only",
                        command.target_rule.empty() ? "--allow-unsigned" : "--target-rule");
        }
        return;
    }
    if (command.target_rule.empty()) {
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
    request.target = parse_target_rule(command.target_rule);
    request.unsigned_commit = command.allow_unsigned;
}

ImageRequest request_of(const ImageCommand& command, const RepositoryView& repository,
                        const CommitView& commit) {
    ImageRequest request;
    request.type = value_named<ImageType>(command.type).value();
    request.zstd = command.compress == "zstd";
    request.replace = command.force;
    request.disk.ref = followed_ref(repository, commit);
    request.disk.remote = command.remote;
    request.disk.stateroot = command.stateroot;
    request.disk.kernel_arguments = command.kernel_arguments;
    request.disk.encryption = command.encrypt == "tpm2" ? Encryption::tpm2 : Encryption::none;
    set_installer(request, command);
    if (!command.size.empty()) {
        request.disk.size = parse_size(command.size).value();
    }
    if (!command.injection.empty()) {
        request.disk.injection = read_injection_file(command.injection, commit);
    }
    request.output = command.output.empty()
                         ? std::filesystem::path(image_file_name(request, commit.info()))
                         : command.output;
    request.output = std::filesystem::absolute(request.output).lexically_normal();
    if (!request.output.has_filename()) {
        throw error(ErrorKind::usage, "{}: names no file", request.output.string());
    }
    return request;
}

std::string image_row(std::string_view name, std::string_view value) {
    return fmt::format("  {:<11}{}\n", name, printable_line(value));
}

std::string image_summary(const Image& image, const CommitInfo& commit,
                          const ImageRequest& request) {
    std::vector<std::string> firmware;
    for (const Firmware one : image.disk.firmware) {
        firmware.emplace_back(one == Firmware::uefi ? "UEFI" : "BIOS");
    }
    std::string text = "\n";
    text += image_row("image", request.output.string());
    text += image_row(
        "type", fmt::format("{}{}, {} of a disk of {}", request.type, request.zstd ? ", zstd" : "",
                            human_size(image.size), human_size(image.disk.size)));
    text += image_row("sha256", image.sha256);
    text += image_row("commit", image.disk.commit);
    if (!commit.version.empty()) {
        text += image_row("version", commit.version);
    }
    text += image_row("follows", image.disk.refspec.empty() ? "nothing" : image.disk.refspec);
    text += image_row("starts by", fmt::format("{}", fmt::join(firmware, ", ")));
    text += image_row("arguments", fmt::format("{}", fmt::join(image.disk.kernel_arguments, " ")));
    if (request.disk.encryption != Encryption::none) {
        text += image_row("encryption",
                          "not protected yet: at its first boot the device makes the key and gives "
                          "it to its TPM");
    }
    if (!request.disk.injection.empty()) {
        std::vector<std::string> paths;
        for (const Injected& injected : request.disk.injection) {
            paths.push_back(injected.path);
        }
        text += image_row("injected", fmt::format("{}", fmt::join(paths, ", ")));
    }
    return text;
}

}  // namespace

int run_image(const GlobalOptions& global, const ImageCommand& command) {
    if (command.type == oci_type) {
        return run_oci_image(global, command);
    }
    if (!command.previous.empty() || command.no_tls_verify) {
        throw error(ErrorKind::usage, "{} applies to --type oci only",
                    command.previous.empty() ? "--no-tls-verify" : "--previous");
    }
    Console console(console_output(global));
    Context ctx;
    ctx.cache = cache_directory({});
    ctx.log = global.log;
    ctx.console = &console;
    ctx.cancelled = &interrupted();
    ctx.jobs = available_processors();
    const RepositoryView repository(command.repo);
    const CommitView commit = repository.open(command.commit);
    const ImageRequest request = request_of(command, repository, commit);
    Stages stages(ctx, commit.info().name);
    const Image image =
        stages.run([&] { return write_image(ctx, stages, repository, commit, request); });
    print_result(global.json ? image.provenance : image_summary(image, commit.info(), request));
    return 0;
}

}  // namespace edgegpu
