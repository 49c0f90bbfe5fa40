#include "customise/images/crio_conf.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "customise/images/image_toml.hpp"
#include "support/error.hpp"
#include "support/text/terminal_text.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

constexpr const char* configuration = "/etc/crio/crio.conf";
constexpr const char* configuration_directory = "/etc/crio/crio.conf.d/";
/// A list in a later file takes the place of ours.
constexpr const char* own_drop_in = "/etc/crio/crio.conf.d/zz-edgegpu-images.conf";

/// What the configuration of the image says, each from the last file that says it.
struct CrioSettings {
    std::string storage_driver;
    /// "FILE:LINE" of storage_driver
    std::string place;
    std::set<std::string> pinned;
};

void read_crio_conf(const Tree& tree, const std::string& path, CrioSettings& settings) {
    const std::string name = printable_line(path);
    const toml::table document = parse_image_toml(read_entry(tree, path), name);
    if (const auto driver = document.at_path("crio.storage_driver"); driver.is_string()) {
        settings.storage_driver = driver.value_or<std::string>("");
        settings.place = fmt::format("{}:{}", name, driver.node()->source().begin.line);
    }
    if (const toml::array* pinned = document.at_path("crio.image.pinned_images").as_array()) {
        settings.pinned.clear();
        for (const toml::node& one : *pinned) {
            if (const auto pattern = one.value<std::string>()) {
                settings.pinned.insert(*pattern);
            }
        }
    }
}

CrioSettings read_settings(const Tree& tree) {
    CrioSettings settings;
    if (find_entry(tree, configuration) != nullptr) {
        read_crio_conf(tree, configuration, settings);
    }
    // In the order of their names, like CRI-O, which reads files with any ending.
    for (const auto& [path, entry] : entries_below(tree.entries, configuration_directory)) {
        if (entry.type == EntryType::file) {
            read_crio_conf(tree, path, settings);
        }
    }
    return settings;
}

/// crio.service takes options from these files.
void check_command_line(const Tree& tree, const std::string& store) {
    for (const std::string path : {"/etc/sysconfig/crio", "/etc/sysconfig/crio-storage"}) {
        if (find_entry(tree, path) == nullptr) {
            continue;
        }
        const std::string text = read_entry(tree, path);
        int number = 0;
        for (const std::string_view line : lines_of(text)) {
            ++number;
            const bool options = line.find("--storage-opt") != std::string_view::npos ||
                                 line.starts_with("CONTAINER_STORAGE_OPT=");
            if (options && !line.starts_with('#') &&
                line.find("imagestore=" + store) == std::string_view::npos) {
                throw error(ErrorKind::usage,
                            "{}:{}: storage options on CRI-O's command line take the place of "
                            "storage.conf's",
                            path, number)
                    .hinted(fmt::format("add overlay.imagestore={} to them, or write them to "
                                        "/etc/crio/crio.conf.d as storage_option",
                                        store));
            }
        }
    }
}

}  // namespace

void configure_crio(const Context& ctx, const std::vector<std::string>& names,
                    const std::string& store, Tree& tree) {
    if (names.empty() || find_entry(tree, "/usr/bin/crio") == nullptr) {
        return;
    }
    CrioSettings settings = read_settings(tree);
    if (const std::string& driver = settings.storage_driver;
        !driver.empty() && driver != "overlay" && driver != "overlay2") {
        throw error(ErrorKind::usage,
                    "{}: CRI-O's storage_driver is \"{}\": it would not start with an additional "
                    "image store",
                    settings.place, printable_line(driver))
            .hinted("set storage_driver = \"overlay\" in this file of the image, or leave it out");
    }
    check_command_line(tree, store);
    settings.pinned.insert(names.begin(), names.end());
    std::string text =
        "# Images of this system: in a store that is only read, where nothing is gained by "
        "removing them.\n[crio.image]\npinned_images = [\n";
    for (const std::string& name : settings.pinned) {
        text += fmt::format("  {},\n", toml_string(name));
    }
    put_entry(tree, own_drop_in, make_file_entry(ctx, text + "]\n", 0644));
}

}  // namespace edgegpu
