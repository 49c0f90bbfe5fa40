#include "customise/initramfs/initramfs_contents.hpp"

#include <cstdint>
#include <set>

#include <fmt/format.h>

#include "customise/initramfs/cpio_input.hpp"
#include "support/error.hpp"
#include "support/text/number.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

constexpr std::size_t header_size = 110;
constexpr std::size_t max_path = 4096;
constexpr std::size_t max_paths = 1'000'000;
/// below /usr, or not
constexpr std::string_view module_list = "/lib/dracut/modules.txt";
constexpr std::size_t max_module_list = 1U << 16U;

std::string absolute(std::string_view path) {
    while (path.starts_with("./")) {
        path.remove_prefix(2);
    }
    while (path.starts_with('/')) {
        path.remove_prefix(1);
    }
    return fmt::format("/{}", path);
}

Error too_many() {
    return error("it has more than {} paths, or one of more than {} bytes", max_paths, max_path);
}

/// What has been read so far.
struct Found {
    std::set<std::string> paths;
    std::set<std::string> modules;
};

/// Passes over the content of the file at `path`, but for dracut's list of its modules. False if
/// the input ends before.
bool read_content(CpioInput& input, const std::string& path, std::size_t size, Found& found) {
    if (size > max_module_list || !path.ends_with(module_list)) {
        return input.skip(size);
    }
    const std::string_view text = input.take(size);
    for (const std::string_view name : words_of(text, "\n")) {
        found.modules.emplace(name);
    }
    return text.size() == size;
}

/// Field `index` (of 13) of a newc header: 8 hexadecimal digits after the magic.
std::size_t header_field(std::string_view header, std::size_t index) {
    const auto value = whole_number<std::uint32_t>(header.substr(6 + 8 * index, 8), 16);
    if (!value) {
        throw error("malformed cpio header");
    }
    return *value;
}

std::uint64_t aligned(std::uint64_t offset) {
    return (offset + 3) & ~std::uint64_t{3};
}

/// Reads the cpio archive that `input` continues with.
void read_archive(CpioInput& input, Found& found) {
    const std::uint64_t begin = input.position();
    const auto padding = [&] {
        const std::uint64_t offset = input.position() - begin;
        return aligned(offset) - offset;
    };
    while (true) {
        const std::string_view header = input.take(header_size);
        if (header.size() < header_size || !header.starts_with("07070")) {
            throw error("cut short inside a cpio archive");
        }
        const std::size_t size = header_field(header, 6);
        const std::size_t name_size = header_field(header, 11);
        // The name ends with a NUL.
        if (name_size > max_path + 1) {
            throw too_many();
        }
        const std::string name(input.take(name_size));
        if (name.empty() || name.size() < name_size) {
            throw error("malformed cpio header");
        }
        const std::string path = absolute(std::string_view(name).substr(0, name_size - 1));
        const bool whole = input.skip(padding()) && read_content(input, path, size, found) &&
                           input.skip(padding());
        if (path == "/TRAILER!!!") {
            return;
        }
        if (found.paths.size() == max_paths) {
            throw too_many();
        }
        found.paths.insert(path);
        if (!whole) {
            throw error("cut short inside a cpio archive");
        }
    }
}

}  // namespace

InitramfsContents read_initramfs(std::string_view image, const std::string& name) {
    Found found;
    try {
        std::string_view rest = image;
        while (!rest.empty()) {
            CpioInput input(rest);
            do {
                read_archive(input, found);
            } while (input.skip_zeros() && input.is_compressed());
            rest = input.is_compressed() ? std::string_view{} : rest.substr(input.position());
        }
    } catch (const Error& cause) {
        throw error("{}: not a readable initramfs: {}", name, cause.message());
    }
    return {{found.paths.begin(), found.paths.end()}, {found.modules.begin(), found.modules.end()}};
}

}  // namespace edgegpu
