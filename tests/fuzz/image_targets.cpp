#include <cstdlib>
#include <optional>
#include <string>

#include "fuzz/targets.hpp"
#include "oci/manifest.hpp"
#include "oci/reference.hpp"

namespace edgegpu::fuzz {

/// A manifest, an index and a configuration are all JSON objects: each input is read as all of
/// them.
void read_image_manifest(std::string_view data) {
    read_or_refuse([&] { static_cast<void>(parse_manifest(data, "fuzz")); });
    read_or_refuse([&] {
        ImageDocument document;
        document.config.size = data.size();
        document.layers.resize(1);
        static_cast<void>(parse_image_config(data, document, "fuzz"));
    });
}

void read_image_name(std::string_view data) {
    for (const bool by_digest : {false, true}) {
        const std::optional<std::string> complete = complete_image_name(data, by_digest);
        // What engines are given has to be a name that means the same again.
        if (complete && complete_image_name(*complete, by_digest) != complete) {
            std::abort();
        }
    }
    if (const std::optional<ImagePlace> place = image_place(data)) {
        static_cast<void>(shown_image(place->text()));
        static_cast<void>(place->digest());
        static_cast<void>(place->pinned(std::string(64, 'a')).text());
    }
}

}  // namespace edgegpu::fuzz
