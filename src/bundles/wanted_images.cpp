#include "bundles/wanted_images.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fnmatch.h>

#include "bundles/pods.hpp"
#include "oci/reference.hpp"
#include "support/error.hpp"
#include "support/ranges.hpp"

namespace edgegpu {

namespace {

bool matches(const ImagePattern& pattern, const WantedImage& image) {
    return ::fnmatch(pattern.glob.c_str(), image.name.c_str(), 0) == 0;
}

/// Names like the pattern's, else what there is.
std::string hint_for_pattern(const std::string& glob, const std::vector<WantedImage>& wanted) {
    constexpr std::size_t most_shown = 5;
    if (wanted.empty()) {
        return "neither a bundle nor microshift-release-info names an image: remove embed_images";
    }
    std::vector<std::string> repositories = mapped(wanted, [](const WantedImage& image) {
        return std::string(parts_of_image_name(image.name).repository);
    });
    repositories.erase(std::unique(repositories.begin(), repositories.end()), repositories.end());
    std::string plain(parts_of_image_name(glob).repository);
    std::erase(plain, '*');
    if (std::string near = near_names_hint(plain, repositories); !near.empty()) {
        return near + " A pattern is compared with the complete name, with its tag or digest";
    }
    std::vector<std::string> shown;
    for (const WantedImage& image : wanted) {
        if (shown.size() < most_shown) {
            shown.push_back(image.name);
        }
    }
    return fmt::format(
        "the images are: {}{}", fmt::join(shown, ", "),
        wanted.size() > most_shown ? fmt::format(", and {} more", wanted.size() - most_shown) : "");
}

}  // namespace

bool is_chosen(const std::vector<ImagePattern>& patterns, const std::string& name) {
    return std::ranges::any_of(patterns, [&](const ImagePattern& pattern) {
        return ::fnmatch(pattern.glob.c_str(), name.c_str(), 0) == 0;
    });
}

std::string wanted_name(const std::string& reference) {
    return complete_image_name(reference, true).value_or(reference);
}

std::vector<WantedImage> images_wanted_by(const std::vector<RenderedBundle>& bundles) {
    std::vector<WantedImage> wanted;
    for (const RenderedBundle& bundle : bundles) {
        for (const KubeObject& object : bundle.objects) {
            for (const std::string& reference : images_of({object})) {
                add_wanted(wanted,
                           {{wanted_name(reference),
                             {fmt::format("bundle \"{}\": {}", bundle.name, object.title())}}});
            }
        }
    }
    return wanted;
}

void add_wanted(std::vector<WantedImage>& images, const std::vector<WantedImage>& more) {
    for (const WantedImage& image : more) {
        const auto at = std::ranges::lower_bound(images, image.name, {}, &WantedImage::name);
        if (at == images.end() || at->name != image.name) {
            images.insert(at, image);
        } else {
            at->wanted_by.insert(at->wanted_by.end(), image.wanted_by.begin(),
                                 image.wanted_by.end());
        }
    }
}

std::vector<WantedImage> choose_images(const std::vector<ImagePattern>& patterns,
                                       const std::vector<WantedImage>& wanted) {
    for (const ImagePattern& pattern : patterns) {
        const bool any = std::ranges::any_of(
            wanted, [&](const WantedImage& image) { return matches(pattern, image); });
        // `true` asks for whatever there is.
        if (!any && pattern.glob != "*") {
            throw error_at(pattern.location, "embed_images: no image matches \"{}\"", pattern.glob)
                .hinted(hint_for_pattern(pattern.glob, wanted));
        }
    }
    std::vector<WantedImage> chosen;
    for (const WantedImage& image : wanted) {
        const auto pattern = std::ranges::find_if(
            patterns, [&](const ImagePattern& one) { return matches(one, image); });
        if (pattern == patterns.end()) {
            continue;
        }
        if (!complete_image_name(image.name)) {
            throw error_at(pattern->location,
                           "embed_images: \"{}\" is not the name of a container image", image.name)
                .traced(fmt::format("in {}", image.wanted_by.front()))
                .hinted("as in \"quay.io/organization/image:tag\", in lower case");
        }
        chosen.push_back(image);
    }
    return chosen;
}

std::vector<ContainerRequest> embedding_requests(const std::vector<WantedImage>& chosen,
                                                 const std::vector<ContainerRequest>& containers,
                                                 const SourceLocation& location) {
    std::vector<ContainerRequest> requests;
    for (const WantedImage& image : chosen) {
        const bool provided = std::ranges::any_of(
            containers, [&](const ContainerRequest& one) { return one.name == image.name; });
        if (!provided) {
            const std::string source = ImagePlace{ImageTransport::docker, image.name}.text();
            requests.push_back({source, source, image.name, true, location});
        }
    }
    return requests;
}

}  // namespace edgegpu
