#include "customise/system/container_store.hpp"

#include <array>
#include <map>

#include <fmt/format.h>

#include "customise/images/storage_conf.hpp"
#include "embedded_container_store.hpp"
#include "support/text/terminal_text.hpp"
#include "support/tmpfiles_line.hpp"

namespace edgegpu {

namespace {

constexpr const char* device_configuration = "/etc/containers/storage.conf";

/// The defaults of containers-storage; any configuration file replaces all of them.
constexpr const char* minimal_configuration =
    "[storage]\n"
    "driver = \"overlay\"\n"
    "runroot = \"/run/containers/storage\"\n"
    "graphroot = \"/var/lib/containers/storage\"\n";

/// Read by podman 6 and later, which apply the files after storage.conf.
constexpr std::array drop_ins = {
    "/usr/share/containers/storage.conf.d/",          "/etc/containers/storage.conf.d/",
    "/usr/share/containers/storage.rootful.conf.d/",  "/etc/containers/storage.rootful.conf.d/",
    "/usr/share/containers/storage.rootless.conf.d/", "/etc/containers/storage.rootless.conf.d/",
};

constexpr const char* user_configuration = "/usr/share/edgegpu/user-storage.conf";

/// A drop-in's own list would take the place of the one in storage.conf.
void extend_drop_ins(const Context& ctx, const std::string& store, Tree& tree) {
    std::map<std::string, Entry> changed;
    for (const char* directory : drop_ins) {
        for (const auto& [path, entry] : entries_below(tree.entries, directory)) {
            if (entry.type != EntryType::file || !path.ends_with(".conf")) {
                continue;
            }
            const std::string text = read_entry(tree, path);
            const std::string name = printable_line(path);
            if (replaces_image_stores(text, name)) {
                changed.emplace(
                    path, make_file_entry(ctx, with_image_store(text, store, name), entry.mode));
            }
        }
    }
    for (const auto& [path, entry] : changed) {
        put_entry(tree, path, entry);
    }
}

/// podman of ordinary users takes no store from the system's storage.conf. They get a link to a
/// file of the commit in their home: a copy there would outlive an upgrade that has no store. The
/// user's own systemd makes it, when a session or a lingering user's services start, with the
/// user's rights.
void add_user_configuration(const Context& ctx, const std::string& text, const std::string& store,
                            Tree& tree) {
    put_entry(tree, user_configuration,
              make_file_entry(
                  ctx,
                  "# Additional image store of ordinary users, see containers-storage.conf(5)."
                  " ~/.config/containers/storage.conf\n# is a link to this file, unless the"
                  " user has one of their own.\n" +
                      user_storage_conf(text, store, device_configuration),
                  0644));
    put_entry(tree, "/usr/share/edgegpu/user-containers.conf",
              make_file_entry(ctx,
                              fmt::format("# for edgegpu-containers.service, see tmpfiles.d(5)\n"
                                          "L %h/.config/containers/storage.conf - - - - {}\n",
                                          user_configuration),
                              0644));
    const std::string units = "/usr/lib/systemd/user/";
    const std::string unit = "edgegpu-containers.service";
    put_entry(tree, units + unit, make_file_entry(ctx, embedded::edgegpu_containers_service, 0644));
    put_entry(tree, units + "basic.target.wants/" + unit, link_to("../" + unit));
}

}  // namespace

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
              make_file_entry(ctx, with_image_store(text, store, device_configuration), 0644));
    extend_drop_ins(ctx, store, tree);
    add_user_configuration(ctx, text, store, tree);

    const std::string images = store + "/overlay-images";
    const std::string layers = store + "/overlay-layers";
    if (store.starts_with("/var/")) {
        put_entry(tree, "/usr/lib/tmpfiles.d/edgegpu-containers.conf",
                  make_file_entry(
                      ctx,
                      fmt::format("d {} 0755 root root -\nd {} 0755 root root -\n"
                                  "d {} 0755 root root -\n"
                                  "f {} 0644 root root -\nf {} 0644 root root -\n",
                                  tmpfiles_path(store), tmpfiles_path(images),
                                  tmpfiles_path(layers), tmpfiles_path(images + "/images.lock"),
                                  tmpfiles_path(layers + "/layers.lock")),
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
