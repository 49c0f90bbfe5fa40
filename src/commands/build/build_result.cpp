#include "commands/build/build_result.hpp"

#include <filesystem>
#include <vector>

#include <fmt/format.h>
#include <sys/resource.h>
#include <nlohmann/json.hpp>

#include "blueprint/distro/distro.hpp"
#include "blueprint/distro/edge_package_set.hpp"
#include "commands/commands.hpp"
#include "pipeline/inputs.hpp"
#include "support/text/shell_text.hpp"
#include "support/text/terminal_text.hpp"

namespace edgegpu {

namespace {

/// Values that both the document and the summary show.
struct Totals {
    /// of the image
    std::size_t packages = 0;
    /// bytes of those that were not made by this build
    std::uint64_t download = 0;
    double seconds = 0;
    /// of edgegpu itself, not of the programs it runs
    long peak_rss_mib = 0;
};

Totals totals_of(const BuildResult& result, const Console& console) {
    Totals totals;
    // Compiled kernel modules are a package of the image, too.
    totals.packages = result.resolution.packages.size() + (result.resolution.dkms_source ? 1 : 0);
    for (const ResolvedPackage& package : result.resolution.packages) {
        totals.download += package.size;
    }
    totals.seconds = console.seconds();
    struct rusage usage {};
    if (getrusage(RUSAGE_SELF, &usage) == 0) {
        totals.peak_rss_mib = usage.ru_maxrss / 1024;
    }
    return totals;
}

nlohmann::ordered_json images_document(const Resolution& resolution) {
    nlohmann::ordered_json images = nlohmann::ordered_json::array();
    for (const ResolvedImage& image : resolution.images) {
        images.push_back({{"name", image.name},
                          {"source", image.source},
                          {"digest", "sha256:" + image.digest},
                          {"bytes", image.size}});
    }
    return images;
}

}  // namespace

std::string build_document(const BuildResult& result, const Blueprint& blueprint,
                           const BuildOptions& options, const Console& console) {
    using nlohmann::ordered_json;
    const Totals totals = totals_of(result, console);
    ordered_json stages = ordered_json::array();
    for (const StageTime& stage : console.stage_times()) {
        stages.push_back({{"name", stage.name}, {"seconds", stage.seconds}});
    }
    const Commit& commit = result.commit;
    ordered_json document = {
        {"format", "edgegpu-build/1"},
        {"unchanged", result.commit.unchanged},
        {"repository", options.repo.string()},
        {"lockfile", options.lockfile.string()},
        {"ref", commit.ref},
        {"commit", commit.checksum},
        {"version", commit.version},
        {"kernel", result.resolution.kernel_uname},
        {"driver", result.resolution.driver_version},
        {"package_set", describe_package_set(blueprint.package_set)},
        {"layered_on", result.resolution.parent ? result.resolution.parent->commit : ""},
        {"packages", totals.packages},
        {"package_bytes", totals.download},
        {"unverified_repositories", unverified_repositories(blueprint.repositories, false)},
        {"images", images_document(result.resolution)},
        {"image_bytes", total_bytes(result.resolution.images)}};
    // What is only known from writing a commit is left out if none was written.
    if (!commit.unchanged) {
        document.update({{"parent", commit.parent},
                         {"signed", commit.is_signed},
                         {"files", commit.files},
                         {"bytes", commit.size},
                         {"new_objects", commit.new_objects},
                         {"new_bytes", commit.new_bytes}});
    }
    document.update({{"seconds", totals.seconds},
                     {"peak_rss_mib", totals.peak_rss_mib},
                     {"stages", stages},
                     {"warnings", console.warnings()}});
    return document_text(document);
}

namespace {

std::string stage_list(const Console& console) {
    std::vector<std::string> parts;
    for (const StageTime& stage : console.stage_times()) {
        parts.push_back(fmt::format("{} {:.1f}", stage.name, stage.seconds));
    }
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::string kernel_and_driver(const Resolution& resolution) {
    return resolution.driver_version.empty()
               ? resolution.kernel_uname + ", no NVIDIA driver"
               : fmt::format("{} with NVIDIA driver {}", resolution.kernel_uname,
                             resolution.driver_version);
}

/// The path as one would type it here: relative if that is shorter.
std::string typed(const std::filesystem::path& path) {
    const std::string relative = path.lexically_relative(std::filesystem::current_path()).string();
    return relative.empty() || relative.size() >= path.string().size() ? path.string() : relative;
}

/// One line for each container image, and one for all.
std::string image_rows(const Resolution& resolution) {
    constexpr std::size_t shown_digits = 12;
    std::string rows;
    if (resolution.images.size() > 1) {
        rows = result_row("containers",
                          fmt::format("{}, {} in all", counted(resolution.images.size(), "image"),
                                      human_size(total_bytes(resolution.images))));
    }
    for (const ResolvedImage& image : resolution.images) {
        rows += result_row(rows.empty() ? "containers" : "",
                           fmt::format("{}, {}, sha256:{}", image.name, human_size(image.size),
                                       image.digest.substr(0, shown_digits)));
    }
    return rows;
}

/// Whose packages nobody has verified; empty if there are none.
std::string unverified_row(const Blueprint& blueprint) {
    const std::vector<std::string> ids = unverified_repositories(blueprint.repositories, false);
    return ids.empty()
               ? ""
               : result_row("unverified",
                            fmt::format("packages of {}: gpgcheck and repo_gpgcheck are off",
                                        fmt::join(ids, ", ")));
}

/// What comes after a build, as commands that can be typed. `repo` is a word of the shell.
std::string next_steps(const std::string& ref, const std::string& repo, const std::string& url,
                       UpdateSystem system) {
    const std::string name = ref.substr(ref.rfind('/') + 1);
    if (system == UpdateSystem::snapshots) {
        return fmt::format(
            "\nNext:\n"
            "  edgegpu image {0} --repo {1} --type oci --output docker://HOST/{2}:TAG\n"
            "  transactional-update apply-oci --image HOST/{2}:TAG  # on a device\n",
            ref, repo, name);
    }
    const std::string place = url.empty() ? "at the [ostree] url of the devices" : "at " + url;
    return fmt::format(
        "\nNext:\n"
        "  edgegpu test {0} --repo {1}  # boots it in QEMU and checks it\n"
        "  edgegpu image {0} --repo {1} --type qcow2 --output {2}.qcow2  # a disk that boots\n"
        "  python3 -m http.server --directory {1}  # publish: any web server with these files, "
        "{3}\n",
        ref, repo, name, printable_line(place));
}

}  // namespace

std::string build_summary(const BuildResult& result, const Blueprint& blueprint,
                          const BuildOptions& options, const Console& console) {
    const Commit& commit = result.commit;
    const Totals totals = totals_of(result, console);
    const std::string repo = typed(options.repo);
    std::string text = "\n";
    text += result_row("ref", commit.ref);
    text += result_row("commit", commit.checksum);
    if (commit.unchanged) {
        text += result_row("version", commit.version);
        text += result_row("kernel", kernel_and_driver(result.resolution));
        text += unverified_row(blueprint);
        text += result_row("time", fmt::format("{:.2f} s", totals.seconds));
        return text +
               fmt::format("\nNo change: {} has this image already, as this commit.\n", repo);
    }
    text += result_row("signed by", commit.is_signed ? blueprint.ostree.sign : "nobody");
    text +=
        result_row("parent", commit.parent.empty() ? "none, the first of its ref" : commit.parent);
    text += result_row("version", commit.version);
    text += result_row("kernel", kernel_and_driver(result.resolution));
    const std::string set = blueprint.package_set.name.empty()
                                ? ""
                                : "; package set " + describe_package_set(blueprint.package_set);
    const std::optional<ResolvedParent>& layer = result.resolution.parent;
    text += layer ? result_row("layer on", layer->commit) : "";
    text +=
        result_row("packages", fmt::format("{}{}, {} of RPMs{}", totals.packages,
                                           layer ? " more" : "", human_size(totals.download), set));
    text += unverified_row(blueprint);
    text += image_rows(result.resolution);
    text += result_row(
        "image", fmt::format("{}, {}", counted(commit.files, "file"), human_size(commit.size)));
    text += result_row("written",
                       fmt::format("{}, {}, to {}", counted(commit.new_objects, "new object"),
                                   human_size(commit.new_bytes), repo));
    if (!options.lockfile.empty()) {
        text += result_row("lockfile", typed(options.lockfile));
    }
    text += result_row("time", fmt::format("{:.1f} s ({})", totals.seconds, stage_list(console)));
    text += result_row("memory", fmt::format("{} MiB at most", totals.peak_rss_mib));
    if (const std::size_t count = console.warnings().size(); count > 0) {
        text += result_row("warnings", fmt::format("{}, above", count));
    }
    return text + next_steps(commit.ref, shell_word(repo), blueprint.ostree.url,
                             update_system(blueprint.distro));
}

}  // namespace edgegpu
