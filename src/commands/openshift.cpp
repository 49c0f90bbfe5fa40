#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands/commands.hpp"
#include "execution/context.hpp"
#include "execution/stage.hpp"
#include "openshift/node_image.hpp"
#include "openshift/node_objects.hpp"
#include "openshift/operator_objects.hpp"
#include "repository/commit_view.hpp"
#include "support/error.hpp"
#include "support/text/shell_text.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

using nlohmann::ordered_json;

constexpr std::string_view digest_prefix = "sha256:";

/// "sha256:…" without the prefix.
std::string digest_of(const OpenshiftCommand& command) {
    const std::string& digest = command.digest;
    std::string hex =
        digest.starts_with(digest_prefix) ? digest.substr(digest_prefix.size()) : digest;
    if (!is_sha256(hex)) {
        throw error(ErrorKind::usage, "--digest {} is not the digest of an image", digest)
            .hinted("\"sha256:\" and 64 digits, which edgegpu image --type oci prints");
    }
    return hex;
}

/// The files with their names in the output directory.
NamedObjects all_files(const NodeObjects& objects) {
    NamedObjects all = objects.files;
    for (const auto& [name, object] : objects.operands) {
        all.emplace_back(fmt::format("{}/{}", operands_directory, name), object);
    }
    return all;
}

std::string openshift_text(const NodeObjects& objects, const std::string& image,
                           const OpenshiftRequest& request, const std::string& output) {
    std::string text = "\n" + result_row("image", image) + result_row("pool", request.pool) +
                       result_row("in", output);
    for (const auto& [name, object] : all_files(objects)) {
        text += result_row("", fmt::format("{}  {}", name, object.at("kind").get<std::string>()));
    }
    text += fmt::format("\nNext:\n  oc apply -k {}\n", shell_word(output));
    if (!objects.operands.empty()) {
        if (request.operators && request.operators->manual_approval) {
            text += "  oc get installplan -A      (approve those of the operators)\n";
        }
        // Until the operators have defined these kinds, "oc apply" refuses them.
        text +=
            fmt::format("  until oc apply -k {}; do sleep 10; done\n",
                        shell_word((std::filesystem::path(output) / operands_directory).string()));
    }
    return text;
}

/// docs/schemas/openshift.json
std::string openshift_json(const NodeObjects& objects, const std::string& image,
                           const OpenshiftRequest& request, const CommitInfo& commit,
                           const std::string& output) {
    ordered_json files = ordered_json::array();
    for (const auto& [name, object] : all_files(objects)) {
        files.push_back({{"file", name},
                         {"kind", object.at("kind")},
                         {"name", object.at("metadata").at("name")}});
    }
    const ordered_json document{
        {"format", "edgegpu-openshift/1"}, {"edgegpu", EDGEGPU_VERSION}, {"image", image},
        {"commit", commit.checksum},       {"pool", request.pool},       {"output", output},
        {"objects", std::move(files)}};
    return document_text(document);
}

}  // namespace

int run_openshift(const GlobalOptions& global, const OpenshiftCommand& command) {
    const std::string digest = digest_of(command);
    const Blueprint blueprint = read_checked_blueprint(global, command.blueprint, command.inputs);
    if (!blueprint.openshift) {
        throw error(ErrorKind::usage, "{}: has no [openshift]", command.blueprint.string())
            .hinted("it names the pool whose nodes run the image, and where the image is");
    }
    const OpenshiftRequest& request = *blueprint.openshift;
    Console console(console_output(global));
    const Context ctx = command_context(global, console);
    const RepositoryView repository(command.repo);
    const CommitView view =
        repository.open(command.commit.empty() ? blueprint.ostree.ref : command.commit);
    const CommitInfo& commit = view.info();
    if (!commit.kernel_arguments) {
        throw error(ErrorKind::usage, "commit {} does not say its kernel arguments", commit.name)
            .hinted(
                "build it again with this edgegpu: the cluster takes them from the machine "
                "configuration, never from the image");
    }
    const std::string image = fmt::format("{}@sha256:{}", request.image, digest);
    const GpuImageFacts facts = gpu_image_facts(view);
    const NodeObjects objects =
        node_objects(request, image, blueprint.architecture, *commit.kernel_arguments, facts);
    if (!command.unchecked) {
        Stages stages(ctx, image);
        stages.run([&] {
            stages.begin("image", "checking");
            check_node_image(ctx, request, blueprint.architecture, digest, commit);
            stages.end("is of commit " + commit.checksum);
        });
    }
    for (const std::string& warning : objects.warnings) {
        console.warn(warning);
    }
    write_node_objects(objects, command.output);
    console.note(fmt::format(
        "While its MachineConfig exists, pool {} gets no operating system from the cluster's "
        "upgrades: build and push the image for each release, and apply what this writes then",
        request.pool));
    if (request.operators) {
        console.note(fmt::format(
            "The GPU operator brings no driver, and {}: also to nodes of other pools with GPUs, "
            "unless they have the label nvidia.com/gpu.deploy.operands=false",
            facts.runtime ? "no container toolkit, which the image has"
                          : "its own container toolkit, as the image has none that CRI-O uses"));
    }
    print_result(global.json
                     ? openshift_json(objects, image, request, commit, command.output.string())
                     : openshift_text(objects, image, request, command.output.string()));
    return 0;
}

}  // namespace edgegpu
