#include "encapsulate/encapsulate.hpp"

#include <algorithm>
#include <cerrno>
#include <map>
#include <numeric>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "encapsulate/blob_writer.hpp"
#include "encapsulate/components.hpp"
#include "encapsulate/container_tree.hpp"
#include "encapsulate/file_owners.hpp"
#include "encapsulate/layer_content.hpp"
#include "encapsulate/layer_plan.hpp"
#include "execution/parallel.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/files/file_content.hpp"
#include "support/files/tar_writer.hpp"
#include "support/glib.hpp"
#include "support/handles.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

using Components = std::map<std::string, Component>;

/// A new directory or file, which is removed unless it is kept.
class NewPath {
public:
    explicit NewPath(fs::path path) : path_(std::move(path)) {}
    NewPath(const NewPath&) = delete;
    NewPath& operator=(const NewPath&) = delete;
    ~NewPath() {
        if (!kept_) {
            std::error_code ignored;
            fs::remove_all(path_, ignored);
        }
    }
    void keep() noexcept { kept_ = true; }

private:
    fs::path path_;
    bool kept_ = false;
};

/// The file objects of a layer, ascending.
std::vector<std::string> objects_of(const PlannedLayer& layer, const Components& components) {
    std::vector<std::string> objects;
    for (const std::string& name : layer.components) {
        const std::vector<std::string>& some = components.at(name).objects;
        objects.insert(objects.end(), some.begin(), some.end());
    }
    std::sort(objects.begin(), objects.end());
    return objects;
}

std::uint64_t bytes_of(const PlannedLayer& layer, const Components& components) {
    return std::accumulate(
        layer.components.begin(), layer.components.end(), std::uint64_t{0},
        [&](std::uint64_t sum, const std::string& name) { return sum + components.at(name).size; });
}

/// Positions of the layers, the largest first: what takes longest begins first.
std::vector<std::size_t> by_size(const std::vector<PlannedLayer>& plan,
                                 const Components& components) {
    std::vector<std::size_t> order(plan.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t one, std::size_t two) {
        return bytes_of(plan[one], components) > bytes_of(plan[two], components);
    });
    return order;
}

std::vector<NamedLayer> write_layers(const Context& ctx, const CommitView& commit,
                                     const EncapsulateRequest& request, const fs::path& layout) {
    const ContainerTree tree = read_container_tree(ctx, commit);
    const Components components = divide(tree, read_file_owners(ctx, commit));
    std::map<std::string, std::uint64_t> sizes;
    for (const auto& [name, component] : components) {
        sizes[name] = component.size;
    }
    const std::vector<PlannedLayer> plan = plan_layers(sizes, request.earlier);
    const std::vector<std::size_t> order = by_size(plan, components);
    std::vector<NamedLayer> layers(plan.size());
    const LayerSource source{ctx, commit, tree};
    parallel_for(ctx, plan.size(), [&](std::size_t i) {
        const std::size_t at = order[i];
        BlobWriter blob(layout / "blobs/sha256", fmt::format("layer-{}", at));
        const bool plain = commit.info().update_system == UpdateSystem::snapshots;
        TarWriter tar([&](std::string_view bytes) { blob.write(bytes); },
                      plain ? TarFormat::pax : TarFormat::gnu);
        const std::vector<std::string> objects = objects_of(plan[at], components);
        if (plain) {
            write_plain_layer(source, at == 0, objects, tar);
        } else if (at == 0) {
            write_commit_layer(source, objects, tar);
        } else {
            write_chunk_layer(source, objects, tar);
        }
        tar.finish();
        layers[at] = {plan[at], blob.finish()};
    });
    return layers;
}

}  // namespace

std::uint64_t EncapsulatedImage::size() const {
    return std::accumulate(
        layers.begin(), layers.end(), std::uint64_t{0},
        [](std::uint64_t sum, const NamedLayer& layer) { return sum + layer.blob.size; });
}

EncapsulatedImage write_oci_layout(const Context& ctx, const CommitView& commit,
                                   const EncapsulateRequest& request, const fs::path& layout) {
    const ContainerFacts facts = read_container_facts(commit);
    if (::mkdir(layout.c_str(), 0755) != 0) {
        throw write_error(layout.parent_path().string(), layout.string(), errno);
    }
    NewPath made(layout);
    const fs::path blobs = layout / "blobs/sha256";
    make_directories(blobs);
    EncapsulatedImage image;
    image.layers = write_layers(ctx, commit, request, layout);
    const std::string config = image_config_json(facts, image.layers);
    static_cast<void>(write_blob(blobs, config));
    image.manifest = image_manifest_json(facts, config, image.layers);
    image.digest = write_blob(blobs, image.manifest);
    write_file(layout / "oci-layout", R"({"imageLayoutVersion":"1.0.0"})");
    write_file(layout / "index.json", image_index_json(facts, image.manifest, request.tag));
    made.keep();
    return image;
}

void write_oci_archive(const Context& ctx, const fs::path& layout, const fs::path& file) {
    const Fd output(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    if (!output) {
        throw write_error(file.parent_path().string(), file.string(), errno);
    }
    NewPath made(file);
    TarWriter tar([&](std::string_view bytes) {
        ctx.check_cancelled();
        if (!write_all(output.get(), bytes)) {
            throw write_error(file.parent_path().string(), file.string(), errno);
        }
    });
    std::vector<std::string> names{"oci-layout", "index.json"};
    for (const auto& blob : fs::directory_iterator(layout / "blobs/sha256")) {
        names.push_back("blobs/sha256/" + blob.path().filename().string());
    }
    std::sort(names.begin() + 2, names.end());
    for (const char* directory : {"blobs", "blobs/sha256"}) {
        tar.directory(directory, {0755, 0, 0});
    }
    for (const std::string& name : names) {
        const fs::path path = layout / name;
        const Fd input = open_to_read(path);
        tar.begin_file(name, {0644, 0, 0}, state_of(input.get(), path.string()).size);
        each_piece(input.get(), path.string(), [&](std::string_view piece) { tar.data(piece); });
    }
    tar.finish();
    made.keep();
}

}  // namespace edgegpu
