#pragma once

#include <initializer_list>
#include <string>

#include <fmt/format.h>

#include "customise_fixture.hpp"
#include "oci/blobs.hpp"
#include "support/files/digest.hpp"
#include "tar_fixture.hpp"

namespace edgegpu::test {

/// Container images whose layers are in the cache, as `fetch_images` leaves them.
class ImageTest : public TreeTest {
protected:
    /// An image of layers, each a tar archive.
    [[nodiscard]] StoredImage image(std::initializer_list<std::string> layers,
                                    const std::string& name = "quay.io/x/app:1",
                                    const std::string& created = "2024-01-01T00:00:00Z") const {
        StoredImage result;
        result.called = "docker://" + name;
        result.names = {name};
        std::string descriptors;
        std::string diff_ids;
        for (const std::string& layer : layers) {
            const Entry stored = make_file_entry(ctx, layer, 0644);
            result.diff_ids.push_back(stored.digest);
            diff_ids += fmt::format(R"({}"sha256:{}")", diff_ids.empty() ? "" : ",", stored.digest);
            result.layers.push_back({stored.content, stored.digest, stored.size});
            descriptors += fmt::format(R"({}{{"digest": "sha256:{}", "size": {}}})",
                                       descriptors.empty() ? "" : ",", stored.digest, stored.size);
        }
        result.config = fmt::format(R"({{"architecture": "amd64", "os": "linux", "created": "{}",
                             "rootfs": {{"type": "layers", "diff_ids": [{}]}}}})",
                                    created, diff_ids);
        result.manifest = fmt::format(
            R"({{"schemaVersion": 2, "config": {{"digest": "sha256:{}", "size": {}}}, "layers": [{}]}})",
            sha256_hex(result.config), result.config.size(), descriptors);
        result.digest = sha256_hex(result.manifest);
        result.document = parse_manifest(result.manifest, name);
        return result;
    }
};

}  // namespace edgegpu::test
