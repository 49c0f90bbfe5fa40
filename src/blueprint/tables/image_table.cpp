#include "blueprint/tables/tables.hpp"
#include "blueprint/toml/validate.hpp"
#include "support/text/quantity.hpp"

namespace edgegpu {

namespace {

/// The name of a directory or remote; its other rules are those of the image.
std::string read_plain_name(const TableReader& image, std::string_view key) {
    std::string name = image.string(key);
    if (!name.empty() && !is_plain_name(name, "_.-+")) {
        image.note(error_at(image, key, "invalid \"{}\": \"{}\"", image.full_name(key), name));
    }
    return name;
}

}  // namespace

std::uint64_t read_size(const TableReader& table, std::string_view key) {
    if (!table.has(key)) {
        return 0;
    }
    const std::string text = table.string_or_integer(key, "0", largest_disk);
    const std::optional<std::uint64_t> size = parse_size(text);
    if (!size || *size > largest_disk) {
        table.note(
            error_at(table, key, "\"{}\" must be a size, not \"{}\"", table.full_name(key), text)
                .hinted(fmt::format("bytes, or {}; at most 16T", size_forms)));
    }
    return size.value_or(0);
}

void read_image_table(const TableReader& root, const ParseScope& scope, Blueprint& blueprint) {
    const std::optional<TableReader> image = root.table("image");
    if (!image) {
        return;
    }
    ImageSettings& settings = blueprint.image;
    static_cast<void>(image->has("package_set"));  // of read_package_set
    settings.size = read_size(*image, "size");
    settings.stateroot = read_plain_name(*image, "stateroot");
    settings.remote = read_plain_name(*image, "remote");
    settings.kernel_arguments = read_kernel_arguments(*image, "append");
    settings.target_rule = image->string("target_rule");
    settings.target_rule_location = image->location("target_rule");
    settings.compress = image->choice("compress", "none", {"none", "zstd", "clusters"});
    const std::string injection = image->string("inject");
    if (!injection.empty()) {
        settings.injection = path_at(scope, image->location("inject"), injection);
    }
    settings.sign = image->boolean("sign", false);
    settings.sign_location = image->location("sign");
    image->finish();
}

}  // namespace edgegpu
