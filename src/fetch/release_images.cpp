#include "fetch/release_images.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "fetch/fetch.hpp"
#include "fetch/package_payload.hpp"
#include "oci/reference.hpp"
#include "resolve/stage/plan.hpp"
#include "support/error.hpp"
#include "support/text/terminal_text.hpp"

namespace edgegpu {

namespace {

/// The real files have 1 KiB.
constexpr std::size_t release_size_limit = 1U << 20U;
constexpr std::size_t most_release_files = 32;
constexpr std::size_t most_release_images = 4096;

Error bad_list(const std::string& called, std::string_view problem) {
    return error(ErrorKind::fetch, "{}: {}", called, problem)
        .hinted(
            "embed_images reads it as MicroShift's own packages have it; leave the package out, or "
            "name the images in [[containers]]");
}

}  // namespace

std::vector<std::string> parse_release_images(std::string_view text, const std::string& called) {
    const nlohmann::json document = nlohmann::json::parse(text, nullptr, false);
    if (document.is_discarded()) {
        throw bad_list(called, "is not JSON");
    }
    const auto images = document.is_object() ? document.find("images") : document.end();
    if (images == document.end() || !images->is_object()) {
        throw bad_list(called, "has no \"images\" with names and references");
    }
    if (images->size() > most_release_images) {
        throw bad_list(called, fmt::format("lists more than {} images", most_release_images));
    }
    std::set<std::string> references;
    for (const auto& [component, value] : images->items()) {
        const std::string* reference = value.get_ptr<const std::string*>();
        const std::optional<std::string> name =
            reference != nullptr ? complete_image_name(*reference, true) : std::nullopt;
        if (!name || name->find('@') == std::string::npos) {
            throw bad_list(called,
                           fmt::format("the image of \"{}\" is not a reference by digest: {}",
                                       shortened(printable_line(component)),
                                       reference != nullptr ? shortened(printable_line(*reference))
                                                            : std::string(value.type_name())));
        }
        references.insert(*name);
    }
    return {references.begin(), references.end()};
}

bool is_release_info(std::string_view package) {
    return package.starts_with("microshift-") && package.ends_with("release-info");
}

bool is_release_list(std::string_view file, std::string_view architecture) {
    return file.starts_with("release-") && file.ends_with(fmt::format("-{}.json", architecture));
}

std::vector<ReleaseImage> release_images(const Context& ctx, const Resolution& resolution,
                                         const std::vector<Repository>& repositories,
                                         const std::string& architecture) {
    Resolution lists;
    lists.repositories = resolution.repositories;
    std::ranges::copy_if(
        resolution.packages, std::back_inserter(lists.packages),
        [](const ResolvedPackage& package) { return is_release_info(package.nevra.name); });
    std::vector<ReleaseImage> images;
    if (lists.packages.empty()) {
        return images;
    }
    const auto is_list = [&](std::string_view path) {
        const std::size_t slash = path.rfind('/');
        return slash != std::string_view::npos &&
               path.substr(0, slash).ends_with(release_directory) &&
               is_release_list(path.substr(slash + 1), architecture);
    };
    const FetchedPackages fetched = fetch_packages(ctx, make_plan(lists, repositories));
    for (const PackageFile& package : fetched.image) {
        const Nevra& nevra = package.package.nevra;
        const std::vector<PayloadFile> files =
            read_payload_files(ctx, package, is_list, release_size_limit, most_release_files);
        for (const PayloadFile& file : files) {
            const std::string called =
                fmt::format("{}: {}", nevra.text(), file.path.substr(file.path.rfind('/') + 1));
            for (std::string& reference : parse_release_images(file.content, called)) {
                images.push_back({nevra.name, std::move(reference)});
            }
        }
        if (files.empty()) {
            ctx.console->warn(fmt::format("{} lists no images for {}", nevra.text(), architecture));
        }
    }
    return images;
}

}  // namespace edgegpu
