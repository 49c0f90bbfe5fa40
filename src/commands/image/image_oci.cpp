#include "commands/image/image_oci.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands/image_blueprint.hpp"
#include "encapsulate/destination.hpp"
#include "execution/context.hpp"
#include "execution/stage.hpp"
#include "image_file/image_name.hpp"
#include "image_file/provenance.hpp"
#include "repository/commit_view.hpp"
#include "repository/followed_ref.hpp"
#include "support/error.hpp"
#include "support/text/terminal_text.hpp"

namespace edgegpu {

namespace {

using nlohmann::ordered_json;

/// Options that are about disks.
void refuse_disk_options(const ImageCommand& command) {
    for (const auto& [given, name] : {std::pair{!command.size.empty(), "--size"},
                                      {!command.stateroot.empty(), "--stateroot"},
                                      {!command.remote.empty(), "--remote"},
                                      {!command.kernel_arguments.empty(), "--karg"},
                                      {!command.injection.empty(), "--inject"},
                                      {command.encrypt != "none", "--encrypt"},
                                      {!command.target_rule.empty(), "--target-rule"},
                                      {command.allow_unsigned, "--allow-unsigned"},
                                      {!command.compress.empty(), "--compress"},
                                      {!command.domain.empty(), "--domain"},
                                      {!command.vmx.empty(), "--vmx"},
                                      {!command.host_gpus.empty(), "--gpu"},
                                      {!command.machine_memory.empty(), "--memory"},
                                      {command.machine_cpus != 0, "--cpus"},
                                      {command.force, "--force"}}) {
        if (given) {
            throw error(ErrorKind::usage, "{} does not apply to --type oci", name);
        }
    }
}

/// What the image is signed with; the key is looked for before anything is written.
std::optional<ImageSigning> image_signing(const Context& ctx, const ImageCommand& command,
                                          const ImageDestination& destination) {
    const bool registry = destination.kind == ImageDestination::Kind::registry;
    for (const auto& [wrong, problem] :
         {std::pair{command.sign.empty() && !command.signatures.empty(),
                    "--signatures needs --sign"},
          {command.sign.empty() && !command.gpg_homedir.empty(), "--gpg-homedir needs --sign"},
          {!command.sign.empty() && command.signatures.empty(), "--sign needs --signatures"},
          {!command.sign.empty() && !registry, "--sign is for images that are pushed"}}) {
        if (wrong) {
            throw error(ErrorKind::usage, "{}", problem)
                .hinted(
                    "--output docker://… --sign KEY --signatures DIR: signatures of container "
                    "images lie beside their registry");
        }
    }
    if (command.sign.empty()) {
        return {};
    }
    return ImageSigning{find_image_key(ctx, command.sign, command.gpg_homedir),
                        command.gpg_homedir.empty()
                            ? std::filesystem::path{}
                            : std::filesystem::absolute(command.gpg_homedir),
                        std::filesystem::absolute(command.signatures)};
}

std::string oci_summary(const EncapsulatedImage& image, const CommitInfo& commit,
                        const std::optional<ImageSigning>& signing, const std::string& output) {
    std::string text = "\n" + result_row("image", output);
    text += result_row(
        "type", fmt::format("oci, {} in {} layers", human_size(image.size()), image.layers.size()));
    text += result_row("digest", "sha256:" + image.digest);
    if (signing) {
        text += result_row("signed by", signing->key);
    }
    text += result_row("commit", commit.checksum);
    text += row_unless_empty("version", commit.version);
    return text;
}

std::string oci_json(const EncapsulatedImage& image, const CommitInfo& commit,
                     const ImageSources& sources, const std::optional<ImageSigning>& signing,
                     const std::string& output) {
    ordered_json layers = ordered_json::array();
    for (const NamedLayer& layer : image.layers) {
        layers.push_back({{"name", layer.plan.name},
                          {"digest", "sha256:" + layer.blob.digest},
                          {"size", layer.blob.size},
                          {"unpacked", layer.blob.unpacked},
                          {"components", layer.plan.components}});
    }
    ordered_json document{{"format", "edgegpu-oci-image/1"},
                          {"edgegpu", EDGEGPU_VERSION},
                          {"output", output},
                          {"digest", "sha256:" + image.digest},
                          {"size", image.size()},
                          {"commit", commit.checksum}};
    add_text(document, "version", commit.version);
    if (signing) {
        document["signed_by"] = signing->key;
    }
    add_text(document, "inputs_digest", commit.inputs_digest);
    add_sources(document, sources);
    document["layers"] = std::move(layers);
    return document_text(document);
}

}  // namespace

int run_oci_image(const GlobalOptions& global, const ImageCommand& command) {
    refuse_disk_options(command);
    const RepositoryView repository(command.repo);
    const CommitView commit = repository.open(command.commit);
    const std::string output =
        command.output.empty()
            ? fmt::format("oci-archive:{}.ociarchive",
                          image_base_name(followed_ref(repository, commit), commit.info()))
            : command.output.string();
    ImageDestination destination = parse_destination(output);
    destination.tls_verify = !command.no_tls_verify;
    Console console(console_output(global));
    const Context ctx = command_context(global, console);
    destination.signing = image_signing(ctx, command, destination);
    const ImageSources sources = choose_image(command, commit, console).sources;
    Stages stages(ctx, commit.info().name);
    const EncapsulatedImage image = stages.run([&] {
        stages.begin("image", "writing the image of");
        EncapsulateRequest request;
        if (!command.previous.empty()) {
            request.earlier = read_earlier_layers(ctx, command.previous, destination.tls_verify);
        }
        EncapsulatedImage made = deliver_image(ctx, commit, std::move(request), destination);
        stages.end(fmt::format("{} layers, {}", made.layers.size(), human_size(made.size())));
        return made;
    });
    print_result(
        global.json
            ? oci_json(image, commit.info(), sources, destination.signing, shown_image(output))
            : oci_summary(image, commit.info(), destination.signing, shown_image(output)));
    return 0;
}

}  // namespace edgegpu
