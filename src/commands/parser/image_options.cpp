#include <string>

#include <fmt/format.h>

#include "commands/image/image_oci.hpp"
#include "commands/parser/option_values.hpp"
#include "commands/parser/options.hpp"
#include "image_file/disk_format.hpp"
#include "support/text/enum_names.hpp"

namespace edgegpu {

namespace {

std::string image_types() {
    std::string names;
    each_value<ImageType>([&](ImageType type) { names += fmt::format("{}|", type); });
    return names + oci_type;
}

void add_source_options(CLI::App& verb, ImageCommand& image) {
    CLI::Option* const blueprint =
        add_nonempty(verb, "--blueprint", image.blueprint, "FILE",
                     "Blueprint of the commit: its [image], customizations.filesystem and "
                     "customizations.disk apply where no option does, and FILE.json names it");
    add_parameter_options(verb, image.parameters, blueprint);
    add_nonempty(verb, "--lock", image.lockfile, "FILE",
                 "Lockfile of the commit, which FILE.json names (default: the lockfile that build "
                 "writes, beside the blueprint, if it exists)");
}

void add_signing_options(CLI::App& verb, ImageCommand& image) {
    add_nonempty(verb, "--sign", image.sign, "KEY",
                 "GPG key that signs the image; FILE.asc is the detached signature (default: "
                 "sign in the blueprint's [ostree], if its [image] has sign = true). With --type "
                 "oci, the image in its registry");
    add_nonempty(verb, "--signatures", image.signatures, "DIR",
                 "--type oci: directory that gets the signature, as it is published for "
                 "containers-registries.d(5)");
    add_nonempty(verb, "--gpg-homedir", image.gpg_homedir, "DIR",
                 "GPG home with the secret key (default: the user's)");
}

void add_disk_options(CLI::App& verb, ImageCommand& image) {
    add_size(verb, "--size", image.size,
             "Size of the disk, such as 16G (default: room for the image and an update)");
    add_nonempty(verb, "--stateroot", image.stateroot, "NAME",
                 "Name of ostree's stateroot (default: ID of the image's os-release)");
    add_nonempty(verb, "--remote", image.remote, "NAME",
                 "Remote that the device upgrades from (default: the image's, if it has one)");
    add_value(verb, "--karg", image.kernel_arguments, "ARGUMENT",
              "Add a kernel argument to the commit's; can be given several times")
        ->expected(1)
        ->take_all();
    add_nonempty(verb, "--inject", image.injection, "FILE",
                 "TOML file with what belongs to one machine: host name, SSH keys, network, "
                 "files of /etc and /var");
    add_choice(verb, "--encrypt", image.encrypt, "none|tpm2",
               "Encrypt the root partition with LUKS2; tpm2: at its first boot the device "
               "makes the key and gives it to its TPM (default: none)");
}

void add_installer_options(CLI::App& verb, ImageCommand& image) {
    add_nonempty(verb, "--target-rule", image.target_rule, "RULE",
                 "installer-iso: the disk to overwrite, as conditions with commas between them, "
                 "which exactly one disk has to meet: size>=100G,model=Samsung*; or any, for "
                 "the only disk");
    verb.add_flag("--allow-unsigned", image.allow_unsigned,
                  "installer-iso: install a commit whose signature cannot be verified");
}

void add_machine_options(CLI::App& verb, ImageCommand& image) {
    add_nonempty(verb, "--domain", image.domain, "FILE",
                 "Write a libvirt domain of a virtual machine that starts the image with GPUs of a "
                 "host: UEFI, an expander bridge for each of their NUMA nodes");
    add_nonempty(
        verb, "--vmx", image.vmx, "FILE",
        "Write lines for a VMware machine's configuration: EFI, memory reserved, addresses "
        "for the BARs of the blueprint's GPUs");
    add_nonempty(
        verb, "--gpu", image.host_gpus, "ADDRESS",
        "--domain: a GPU of the host, by PCI address and NUMA node (0000:3b:00.0@1), or the "
        "UUID of a mediated device; can be given several times")
        ->expected(1)
        ->take_all();
    add_size(verb, "--memory", image.machine_memory,
             "--domain, --vmx: memory of the machine (default: 16G)");
    add_value(verb, "--cpus", image.machine_cpus, "N",
              "--domain, --vmx: processors of the machine (default: 4)")
        ->check(number_in(1, 1024));
}

void add_oci_options(CLI::App& verb, ImageCommand& image) {
    add_nonempty(verb, "--previous", image.previous, "IMAGE",
                 "oci: an earlier version of the image (oci:DIR[:TAG] or "
                 "docker://HOST/NAME[:TAG]), whose layers keep their packages");
    verb.add_flag("--no-tls-verify", image.no_tls_verify,
                  "oci: use a registry without a certificate that is trusted");
}

}  // namespace

void add_image(CLI::App& app, ImageCommand& image) {
    CLI::App* verb = app.add_subcommand(
        "image", "Write a disk image of a commit that boots by itself, through UEFI and BIOS");
    add_value(*verb, "COMMIT", image.commit, "COMMIT",
              "Ref, checksum or abbreviated checksum of a commit; a trailing ^ selects the parent")
        ->required();
    add_nonempty(*verb, "--repo", image.repo, "DIR",
                 "ostree repository of the commit (default: repo, in the working directory)");
    add_choice(*verb, "--type", image.type, image_types(),
               "Form of the image; ami: raw, checked for Amazon EC2; "
               "installer-iso: a medium that installs the commit; oci: a container image, from "
               "which rpm-ostree and bootc take the commit (default: raw)");
    add_nonempty(*verb, "--output", image.output, "FILE",
                 "File to write (default: from ref, version and type, in the working "
                 "directory); FILE.sha256 and FILE.json are written beside it, of raw images "
                 "FILE.bmap. oci: "
                 "oci:DIR[:TAG], oci-archive:FILE[:TAG] or docker://HOST/NAME[:TAG]");
    add_source_options(*verb, image);
    add_disk_options(*verb, image);
    add_installer_options(*verb, image);
    add_machine_options(*verb, image);
    add_oci_options(*verb, image);
    add_choice(*verb, "--compress", image.compress, "none|zstd|clusters",
               "Compress the image: zstd, the whole file; clusters, those of a qcow2 image, which "
               "QEMU starts as it is (default: none)");
    add_signing_options(*verb, image);
    verb->add_flag("--force", image.force, "Replace files that exist");
}

}  // namespace edgegpu
