#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "gpu_health/observe/steps.hpp"
#include "gpu_health/observe/tree.hpp"
#include "support/text/text.hpp"

namespace edgegpu::gpu_health {

namespace {

/// Absolute directories of ld.so.conf(5) files.
void read_library_directories(const Places& places, const std::string& file,
                              std::vector<std::string>& directories) {
    const Reading reading = read_file(places.root, file);
    for (const std::string_view line : lines_of(reading.content)) {
        const std::string_view directory = trim(line.substr(0, line.find('#')));
        if (directory.starts_with('/')) {
            directories.emplace_back(directory);
        }
    }
}

/// In the order in which ldconfig takes the first of a name: what is configured, then its own.
std::vector<std::string> library_directories(const Places& places) {
    std::vector<std::string> directories;
    for (const std::string& name : names_in(places.root, "etc/ld.so.conf.d")) {
        if (name.ends_with(".conf")) {
            read_library_directories(places, "etc/ld.so.conf.d/" + name, directories);
        }
    }
    read_library_directories(places, "etc/ld.so.conf", directories);
    for (const char* own :
         {"/usr/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib"}) {
        directories.emplace_back(own);
    }
    return directories;
}

/// A library of 32 bits, which may lie in /usr/lib: no program here loads it.
bool is_for_32_bits(const std::string& start) {
    return start.size() >= 5 &&
           start.starts_with(
               "\x7f"
               "ELF") &&
           start[4] == 1;
}

Library find_library(const Places& places, const std::string& name,
                     const std::vector<std::string>& directories) {
    constexpr std::string_view suffix = ".so.";
    for (const std::string& directory : directories) {
        const std::string inside = directory + "/" + name;
        const Reading start = read_start(places.root, inside, 5);
        if (!start.good() || is_for_32_bits(start.content)) {
            continue;
        }
        const std::filesystem::path path = resolve(places.root, inside);
        const std::string file = path.filename();
        const std::size_t at = file.find(suffix);
        return {name, "/" + path.lexically_relative(places.root).native(),
                at == std::string::npos ? "" : file.substr(at + suffix.size())};
    }
    return {name, "", ""};
}

}  // namespace

void observe_library(const Places& places, Facts& facts) {
    const std::vector<std::string> directories = library_directories(places);
    facts.libraries.clear();
    for (const char* name : {"libnvidia-ml.so.1", "libcuda.so.1"}) {
        facts.libraries.push_back(find_library(places, name, directories));
    }
}

}  // namespace edgegpu::gpu_health
