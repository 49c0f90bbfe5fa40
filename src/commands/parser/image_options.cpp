#include <string>
#include <vector>

#include <fmt/format.h>

#include "commands/image_oci.hpp"
#include "commands/parser/option_values.hpp"
#include "commands/parser/options.hpp"
#include "image_file/disk_format.hpp"
#include "support/text/enum_names.hpp"

namespace edgegpu {

namespace {

std::vector<std::string> image_types() {
    std::vector<std::string> names;
    each_value<ImageType>([&](ImageType type) { names.emplace_back(enum_name(type)); });
    names.emplace_back(oci_type);
    return names;
}

void add_source_options(CLI::App& verb, ImageCommand& image) {
    CLI::Option* const blueprint =
        verb.add_option("--blueprint", image.blueprint,
                        "Blueprint of the commit: its [image], customizations.filesystem and "
                        "customizations.disk apply where no option does, and FILE.json names it")
            ->type_name("FILE")
            ->check(not_empty());
    add_parameter_options(verb, image.parameters, blueprint);
    verb.add_option(
            "--lock", image.lockfile,
            "Lockfile of the commit, which FILE.json names (default: the lockfile that build "
            "writes, beside the blueprint, if it exists)")
        ->type_name("FILE")
        ->check(not_empty());
}

void add_signing_options(CLI::App& verb, ImageCommand& image) {
    verb.add_option("--sign", image.sign,
                    "GPG key that signs the image; FILE.asc is the detached signature (default: "
                    "sign in the blueprint's [ostree], if its [image] has sign = true)")
        ->type_name("KEY")
        ->check(not_empty());
    verb.add_option("--gpg-homedir", image.gpg_homedir,
                    "GPG home with the secret key (default: the user's)")
        ->type_name("DIR")
        ->check(not_empty());
}

void add_disk_options(CLI::App& verb, ImageCommand& image) {
    verb.add_option("--size", image.size,
                    "Size of the disk, such as 16G (default: room for the image and an update)")
        ->type_name("SIZE")
        ->check(size_text());
    verb.add_option("--stateroot", image.stateroot,
                    "Name of ostree's stateroot (default: ID of the image's os-release)")
        ->type_name("NAME")
        ->check(not_empty());
    verb.add_option("--remote", image.remote,
                    "Remote that the device upgrades from (default: the image's, if it has one)")
        ->type_name("NAME")
        ->check(not_empty());
    verb.add_option("--karg", image.kernel_arguments,
                    "Add a kernel argument to the commit's; can be given several times")
        ->type_name("ARGUMENT")
        ->expected(1)
        ->take_all();
    verb.add_option("--inject", image.injection,
                    "TOML file with what belongs to one machine: host name, SSH keys, network, "
                    "files of /etc and /var")
        ->type_name("FILE")
        ->check(not_empty());
    verb.add_option("--encrypt", image.encrypt,
                    "Encrypt the root partition with LUKS2; tpm2: at its first boot the device "
                    "makes the key and gives it to its TPM (default: none)")
        ->check(one_of({"none", "tpm2"}))
        ->type_name("none|tpm2");
}

void add_installer_options(CLI::App& verb, ImageCommand& image) {
    verb.add_option("--target-rule", image.target_rule,
                    "installer-iso: the disk to overwrite, as conditions with commas between them, "
                    "which exactly one disk has to meet: size>=100G,model=Samsung*; or any, for "
                    "the only disk")
        ->type_name("RULE")
        ->check(not_empty());
    verb.add_flag("--allow-unsigned", image.allow_unsigned,
                  "installer-iso: install a commit whose signature cannot be verified");
}

void add_oci_options(CLI::App& verb, ImageCommand& image) {
    verb.add_option("--previous", image.previous,
                    "oci: an earlier version of the image (oci:DIR[:TAG] or "
                    "docker://HOST/NAME[:TAG]), whose layers keep their packages")
        ->type_name("IMAGE")
        ->check(not_empty());
    verb.add_flag("--no-tls-verify", image.no_tls_verify,
                  "oci: use a registry without a certificate that is trusted");
}

}  // namespace

void add_image(CLI::App& app, ImageCommand& image) {
    CLI::App* verb = app.add_subcommand(
        "image", "Write a disk image of a commit that boots by itself, through UEFI and BIOS");
    verb->add_option(
            "COMMIT", image.commit,
            "Ref, checksum or abbreviated checksum of a commit; a trailing ^ selects the parent")
        ->required()
        ->type_name("COMMIT");
    verb->add_option("--repo", image.repo,
                     "ostree repository of the commit (default: repo, in the working directory)")
        ->type_name("DIR")
        ->check(not_empty());
    const std::vector<std::string> types = image_types();
    verb->add_option(
            "--type", image.type,
            "Form of the image; ami: raw, checked for Amazon EC2; "
            "installer-iso: a medium that installs the commit; oci: a container image, from "
            "which rpm-ostree and bootc take the commit (default: raw)")
        ->check(one_of(types))
        ->type_name(fmt::format("{}", fmt::join(types, "|")));
    verb->add_option("--output", image.output,
                     "File to write (default: from ref, version and type, in the working "
                     "directory); FILE.sha256 and FILE.json are written beside it, of raw images "
                     "FILE.bmap. oci: "
                     "oci:DIR[:TAG], oci-archive:FILE[:TAG] or docker://HOST/NAME[:TAG]")
        ->type_name("FILE")
        ->check(not_empty());
    add_source_options(*verb, image);
    add_disk_options(*verb, image);
    add_installer_options(*verb, image);
    add_oci_options(*verb, image);
    verb->add_option(
            "--compress", image.compress,
            "Compress the image: zstd, the whole file; clusters, those of a qcow2 image, which "
            "QEMU starts as it is (default: none)")
        ->check(one_of({"none", "zstd", "clusters"}))
        ->type_name("none|zstd|clusters");
    add_signing_options(*verb, image);
    verb->add_flag("--force", image.force, "Replace files that exist");
}

}  // namespace edgegpu
