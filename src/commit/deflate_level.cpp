#include "commit/deflate_level.hpp"

#include <cstdint>
#include <string>

#include "execution/context.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/glib.hpp"
#include "support/text/number.hpp"

namespace edgegpu {

namespace {

using KeyFileHandle = Handle<GKeyFile, g_key_file_unref>;

constexpr int fastest_level = 1;
constexpr int best_level = 12;
constexpr int best_level_of_ostree = 9;
constexpr std::uint64_t largest_config = 1U << 20U;

/// The level in the repository's configuration, or the default.
int level_of(const std::filesystem::path& repository) {
    const std::filesystem::path path = repository / "config";
    const KeyFileHandle config(g_key_file_new());
    std::string content;
    try {
        content = read_file(path, largest_config);
    } catch (const Error&) {
        // A missing or malformed file is reported when the repository is opened.
    }
    if (g_key_file_load_from_data(config.get(), content.data(), content.size(), G_KEY_FILE_NONE,
                                  nullptr) == FALSE) {
        return default_deflate_level;
    }
    const TextHandle value(g_key_file_get_string(config.get(), "archive", "zlib-level", nullptr));
    if (!value) {
        return default_deflate_level;
    }
    const std::string text = value.get();
    const int level = whole_number<int>(text).value_or(0);
    if (level < fastest_level || level > best_level_of_ostree) {
        throw error("{}: zlib-level in [archive] is \"{}\"", path.string(), text)
            .hinted("write a number from 1 (fast) to 9 (small), or remove it for 6");
    }
    return level;
}

}  // namespace

std::optional<Compression> parse_compression(std::string_view name) {
    if (name == "fast") {
        return Compression::fast;
    }
    if (name == "default") {
        return Compression::usual;
    }
    return name == "best" ? std::optional(Compression::best) : std::nullopt;
}

int deflate_level(const std::filesystem::path& repository, Compression wanted) {
    switch (wanted) {
        case Compression::fast:
            return fastest_level;
        case Compression::best:
            return best_level;
        case Compression::usual:
            break;
    }
    return level_of(repository);
}

}  // namespace edgegpu
