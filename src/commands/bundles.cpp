#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bundles/bundle_files.hpp"
#include "bundles/checks/checks.hpp"
#include "bundles/description.hpp"
#include "bundles/objects.hpp"
#include "bundles/pods.hpp"
#include "bundles/render.hpp"
#include "commands/commands.hpp"
#include "support/error.hpp"
#include "support/files/data_directory.hpp"
#include "support/files/directory.hpp"

namespace edgegpu {

namespace {

namespace fs = std::filesystem;

/// What a listed bundle consists of.
struct BundleSummary {
    RenderedBundle bundle;
    fs::path path;
    std::vector<std::string> images;
    std::map<std::string, std::uint64_t> resources;
    std::vector<std::string> versions;
    std::vector<std::string> privileges;
};

BundleSummary summarise(RenderedBundle bundle, fs::path path) {
    BundleSummary summary;
    summary.path = std::move(path);
    summary.images = images_of(bundle.objects);
    summary.resources = extended_resources_of(bundle.objects);
    summary.versions = versions_of(bundle.objects);
    summary.privileges = privileges_of(bundle.objects);
    summary.bundle = std::move(bundle);
    return summary;
}

/// The directories to render: all shipped bundles, or the one that is wanted.
std::vector<fs::path> chosen_bundles(const std::string& wanted) {
    const fs::path top = data_directory() / "manifests";
    std::vector<fs::path> chosen;
    if (wanted.find('/') != std::string::npos) {
        chosen.emplace_back(wanted);
        return chosen;
    }
    const std::vector<std::string> names = shipped_bundles();
    for (const std::string& name : names) {
        if (wanted.empty() || name == wanted) {
            chosen.push_back(top / name);
        }
    }
    if (names.empty()) {
        throw error("there are no bundles in {}", top.string())
            .hinted("edgegpu's data files are incomplete: install it again");
    }
    if (chosen.empty()) {
        const std::string near = near_names_hint(wanted, names);
        throw error(ErrorKind::usage, "no bundle \"{}\" in {}", wanted, top.string())
            .hinted(!near.empty() ? near
                                  : "edgegpu bundles lists them; the path of another directory has "
                                    "a slash: ./" +
                                        wanted);
    }
    return chosen;
}

/// docs/schemas/bundles.json
std::string json_document(const Renderer& renderer, const std::vector<BundleSummary>& bundles,
                          bool whole) {
    using nlohmann::ordered_json;
    ordered_json list = ordered_json::array();
    for (const BundleSummary& summary : bundles) {
        ordered_json objects = ordered_json::array();
        for (const KubeObject& object : summary.bundle.objects) {
            ordered_json entry = {{"apiVersion", object.api_version},
                                  {"kind", object.kind},
                                  {"namespace", object.name_space},
                                  {"name", object.name}};
            if (whole) {
                entry["yaml"] = object.text;
            }
            objects.push_back(std::move(entry));
        }
        list.push_back({{"name", summary.bundle.name},
                        {"path", summary.path.string()},
                        {"versions", summary.versions},
                        {"images", summary.images},
                        {"resources", summary.resources},
                        {"privileges", summary.privileges},
                        {"objects", std::move(objects)}});
    }
    const ordered_json document = {
        {"format", "edgegpu-bundles/1"},
        {"renderer", {{"program", name_of(renderer.kind)}, {"version", renderer.version}}},
        {"bundles", std::move(list)}};
    return document_text(document);
}

std::string list_text(const std::vector<std::string>& list) {
    return list.empty() ? "-" : fmt::format("{}", fmt::join(list, ", "));
}

/// "2", or "1 mig-1g.10gb" for a resource other than whole GPUs.
std::string gpus_of(const BundleSummary& summary) {
    constexpr std::string_view vendor = "nvidia.com/";
    std::vector<std::string> parts;
    for (const auto& [resource, count] : summary.resources) {
        if (resource == "nvidia.com/gpu") {
            parts.push_back(std::to_string(count));
        } else if (resource.starts_with(vendor)) {
            parts.push_back(fmt::format("{} {}", count, resource.substr(vendor.size())));
        }
    }
    return list_text(parts);
}

/// "v1.2", "v1.2, v1.3", "v1.2 and 3 others"
std::string text_of_versions(const std::vector<std::string>& versions) {
    constexpr std::size_t most = 2;
    if (versions.size() <= most) {
        return list_text(versions);
    }
    return fmt::format("{} and {} others", versions.front(), versions.size() - 1);
}

/// A line for each bundle, and one for each of its images.
std::string text_table(const std::vector<BundleSummary>& bundles) {
    std::vector<std::vector<std::string>> rows{{"BUNDLE", "VERSION", "GPU", "PRIVILEGES"}};
    for (const BundleSummary& summary : bundles) {
        rows.push_back({summary.bundle.name, text_of_versions(summary.versions), gpus_of(summary),
                        list_text(summary.privileges)});
    }
    const std::vector<std::string> lines = aligned_lines(rows);
    std::string text = lines.front() + '\n';
    for (std::size_t i = 0; i < bundles.size(); ++i) {
        text += lines[i + 1] + '\n';
        for (const std::string& image : bundles[i].images) {
            text += fmt::format("  {}\n", image);
        }
    }
    return text;
}

}  // namespace

std::vector<std::string> shipped_bundles() {
    const fs::path top = data_directory() / "manifests";
    std::vector<std::string> names;
    for (const fs::directory_entry& entry : children_of(top)) {
        std::error_code code;
        if (entry.is_directory(code)) {
            names.push_back(entry.path().filename().string());
        }
    }
    std::ranges::sort(names);
    return names;
}

int run_bundles(const GlobalOptions& global, const std::string& wanted) {
    Console console(console_output(global));
    const Context ctx = command_context(global, console);
    const std::vector<fs::path> chosen = chosen_bundles(wanted);
    const Renderer renderer = find_renderer(ctx);
    std::vector<RenderedBundle> rendered;
    for (const fs::path& path : chosen) {
        const fs::path whole = fs::absolute(path).lexically_normal();
        const std::string name =
            (whole.has_filename() ? whole : whole.parent_path()).filename().string();
        rendered.push_back(render_bundle(ctx, renderer, read_bundle_files(name, path)));
    }
    for (const RenderedBundle& bundle : rendered) {
        // Each by itself: a blueprint need not have all of them.
        check_bundles({bundle}, facts_without_blueprint());
    }
    std::vector<BundleSummary> bundles;
    for (std::size_t i = 0; i < rendered.size(); ++i) {
        bundles.push_back(summarise(std::move(rendered[i]), chosen[i]));
    }
    if (global.json) {
        print_result(json_document(renderer, bundles, !wanted.empty()));
    } else {
        print_result(wanted.empty() ? text_table(bundles) : bundles.front().bundle.text);
    }
    return 0;
}

}  // namespace edgegpu
