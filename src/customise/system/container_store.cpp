#include "customise/system/container_store.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "support/error.hpp"

namespace edgegpu {

namespace {

constexpr const char* device_configuration = "/etc/containers/storage.conf";

/// The defaults of containers-storage; any configuration file replaces all of them.
constexpr const char* minimal_configuration =
    "[storage]\n"
    "driver = \"overlay\"\n"
    "runroot = \"/run/containers/storage\"\n"
    "graphroot = \"/var/lib/containers/storage\"\n";

/// The position of the first line that begins with `word` (after white space), or npos.
std::size_t find_line(const std::string& text, std::string_view word) {
    for (std::size_t at = 0; at < text.size();
         at = std::min(text.find('\n', at), text.size()) + 1) {
        const std::size_t first = text.find_first_not_of(" \t", at);
        if (first != std::string::npos && text.compare(first, word.size(), word) == 0) {
            return first;
        }
    }
    return std::string::npos;
}

}  // namespace

std::string with_image_store(const std::string& text, const std::string& path) {
    std::string result = text;
    const std::size_t list = find_line(text, "additionalimagestores");
    if (list != std::string::npos) {
        const std::size_t bracket = text.find('[', list);
        const std::size_t end = text.find(']', list);
        if (bracket == std::string::npos || end == std::string::npos) {
            throw error(ErrorKind::usage, "{}: additionalimagestores is not a list",
                        device_configuration);
        }
        if (text.substr(bracket, end - bracket).find('"' + path + '"') == std::string::npos) {
            result.insert(bracket + 1, fmt::format("\"{}\", ", path));
        }
        return result;
    }
    const std::string line = fmt::format("additionalimagestores = [\"{}\"]\n", path);
    const std::size_t section = find_line(text, "[storage.options]");
    if (section == std::string::npos) {
        if (!result.empty() && result.back() != '\n') {
            result += '\n';
        }
        return result + "\n[storage.options]\n" + line;
    }
    const std::size_t next = text.find('\n', section);
    if (next == std::string::npos) {
        return result + '\n' + line;
    }
    return result.insert(next + 1, line);
}

void add_container_store(const Context& ctx, const std::string& store, Tree& tree) {
    if (store.empty()) {
        return;
    }
    std::string text = minimal_configuration;
    for (const char* path : {device_configuration, "/usr/share/containers/storage.conf"}) {
        if (find_entry(tree, path) != nullptr) {
            text = read_entry(tree, path);
            break;
        }
    }
    put_entry(tree, device_configuration,
              make_file_entry(ctx, with_image_store(text, store), 0644));

    const std::string images = store + "/overlay-images";
    const std::string layers = store + "/overlay-layers";
    if (store.starts_with("/var/")) {
        put_entry(tree, "/usr/lib/tmpfiles.d/edgegpu-containers.conf",
                  make_file_entry(ctx,
                                  fmt::format("d {0} 0755 root root -\nd {1} 0755 root root -\n"
                                              "d {2} 0755 root root -\n"
                                              "f {1}/images.lock 0644 root root -\n"
                                              "f {2}/layers.lock 0644 root root -\n",
                                              store, images, layers),
                                  0644));
        return;
    }
    for (const std::string& lock : {images + "/images.lock", layers + "/layers.lock"}) {
        if (find_entry(tree, lock) == nullptr) {
            put_entry(tree, lock, make_file_entry(ctx, "", 0644));
        }
    }
}

}  // namespace edgegpu
