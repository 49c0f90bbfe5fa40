#include "customise/initramfs/initramfs.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cache/store.hpp"
#include "customise/initramfs/boot_link.hpp"
#include "customise/initramfs/initramfs_contents.hpp"
#include "customise/initramfs/parent_initramfs.hpp"
#include "customise/kernel/modprobe.hpp"
#include "customise/kernel/modprobe_check.hpp"
#include "image/image_root.hpp"
#include "image/kept_entries.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/files/file.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

/// Output directory in the sandbox; a mount on a temporary /run, so that the image is unchanged.
constexpr const char* out_directory = "/run/edgegpu-out";
/// Path of the image in that directory.
constexpr std::string_view made_image = "/initramfs.img";
/// An initramfs with all firmware takes a quarter of it.
constexpr std::uint64_t image_limit = 1ULL << 30U;

/// A compressor with reproducible output: one thread (with several, the output depends on their
/// number), no time stamp. zstd at a low level takes a seventh of gzip's time for the same size,
/// and unpacks several times faster at each boot; older kernels (4.18) do not support it.
std::string compressor(const Tree& tree, const Tree& tools) {
    const bool has_zstd = find_entry(tools, "/usr/bin/zstd") != nullptr;
    for (const std::string& path :
         {"/usr/lib/modules/" + tree.kernel + "/config", "/boot/config-" + tree.kernel,
          "/usr/lib/ostree-boot/config-" + tree.kernel}) {
        if (has_zstd && find_entry(tree, path) != nullptr) {
            return read_entry(tree, path).find("\nCONFIG_RD_ZSTD=y\n") != std::string::npos
                       ? "zstd -3 -q -T1"
                       : "gzip -n -6";
        }
    }
    return "gzip -n -6";
}

bool has_boot_link(const Tree& tree) {
    return find_entry(tree, fmt::format("{}/module-setup.sh", boot_link_module)) != nullptr;
}

/// What every initramfs is made with, on devices, too.
constexpr std::array<const char*, 3> common_arguments{"--no-hostonly", "--add", "ostree"};

/// The arguments of the parent that are not `common_arguments`.
std::vector<std::string> more_arguments(const std::vector<std::string>& of_parent) {
    std::vector<std::string> more;
    for (std::size_t i = 0; i < of_parent.size(); ++i) {
        if (of_parent[i] == "--add" && i + 1 < of_parent.size() && of_parent[i + 1] == "ostree") {
            ++i;
        } else if (of_parent[i] != "--no-hostonly") {
            more.push_back(of_parent[i]);
        }
    }
    return more;
}

std::vector<std::string> dracut_arguments(InitramfsCompression compression, const Tree& tree,
                                          const Tree& tools, const std::vector<std::string>& more) {
    // --nostrip: packages ship stripped programs and modules; stripping them again takes longer
    // than everything else and would break the signatures of modules.
    std::vector<std::string> argv{
        "dracut",    "--reproducible", "--no-hostonly", "--no-hostonly-cmdline",
        "--nostrip", "--add",          "ostree",        "--tmpdir",
        "/var/tmp",  "--force"};
    argv.insert(argv.end(), more.begin(), more.end());
    if (has_boot_link(tree)) {
        argv.insert(argv.end(), {"--add", "edgegpu-boot-link"});
    }
    if (compression == InitramfsCompression::none) {
        argv.emplace_back("--no-compress");
    } else {
        argv.insert(argv.end(), {"--compress", compressor(tree, tools)});
    }
    argv.insert(argv.end(), {fmt::format("{}{}", out_directory, made_image), tree.kernel});
    return argv;
}

bool contains(const std::vector<std::string>& paths, std::string_view path) {
    return std::ranges::binary_search(paths, path);
}

/// Throws if something that a boot needs is missing, whatever dracut's exit status.
void check_contents(const Tree& tree, const std::vector<std::string>& paths) {
    const auto has_name = [&](std::string_view name) {
        return std::ranges::any_of(paths,
                                   [&](const std::string& path) { return path.ends_with(name); });
    };
    if (!has_name("/ostree-prepare-root")) {
        throw error("dracut made an initramfs without ostree-prepare-root: it would not boot")
            .hinted("the image needs the package with dracut's ostree module (ostree)");
    }
    if (find_entry(tree, modprobe_path) != nullptr && !contains(paths, modprobe_path)) {
        throw error("dracut made an initramfs without {}: blacklisted drivers would be loaded",
                    modprobe_path);
    }
    if (has_boot_link(tree) && has_name("/ostree-prepare-root.service") &&
        !contains(paths, boot_link_program)) {
        throw error("dracut made an initramfs without {}", boot_link_program)
            .hinted("does a configuration of dracut omit the module edgegpu-boot-link?");
    }
}

/// Runs dracut and returns the initramfs, read once, so that what is checked is what is kept.
std::string run_dracut(const Context& ctx, const Tree& tree, ToolRoot& tools,
                       const std::vector<std::string>& argv) {
    const fs::path work = ctx.visible() / "initramfs";
    const fs::path out = work / "out";
    remove_tree(work);
    make_writable_directory(work);
    make_writable_directory(out);
    SandboxCommand command;
    command.kernel = tree.kernel;
    command.argv = argv;
    command.env = {"DRACUT_NO_MKNOD=1", "DRACUT_NO_XATTR=1"};
    command.writable_binds = {{out, out_directory}};
    command.read_only_root = true;
    const ProcessResult result = tools.run(std::move(command));
    // dracut exits with 0 after some failures: the file has to exist as well.
    const ImageRoot results(out);
    if (result.status != 0 || !results.status(made_image)) {
        throw error("the image's dracut failed with status {} for kernel {}", result.status,
                    tree.kernel)
            .traced(fmt::format("{}", fmt::join(last_lines(result.output, 20), "\n")))
            .hinted(result.output.find("module 'ostree' cannot be found") != std::string::npos
                        ? "add the package that contains dracut's ostree module (ostree-boot, or "
                          "rpm-ostree) to the blueprint"
                        : "");
    }
    std::string image = results.read(made_image, image_limit, LastLink::not_followed);
    remove_tree(work);
    return image;
}

/// Each has a file `image`: the initramfs as an entry (format_entries).
constexpr StoreKind kept_initramfs{"initramfs", EntryKind::initramfs};
constexpr const char* image_name = "image";

std::optional<Entry> kept_image(const Context& ctx, const StoredEntry& stored) {
    const std::string* text = stored.find(image_name);
    std::optional<Entries> entries =
        text != nullptr ? parse_entries(ctx, *text) : std::optional<Entries>();
    if (!entries || entries->size() != 1) {
        return std::nullopt;
    }
    return std::move(entries->begin()->second);
}

/// Digest of everything that dracut gets: the tools' root, the indexes that were added to it, and
/// its arguments.
std::string initramfs_key(const Tree& tree, const ToolRoot& tools,
                          const std::vector<std::string>& argv) {
    Sha256 key;
    key.update_field(tools.digest());
    const std::string modules = fmt::format("/usr/lib/modules/{}/", tree.kernel);
    for (const auto& [path, entry] : entries_with_prefix(tools.tree().entries, modules)) {
        key.update_field(path);
        key.update_field(entry.digest);
    }
    for (const std::string& word : argv) {
        key.update_field(word);
    }
    return key.hex();
}

/// The initramfs that dracut makes with these arguments, made once for all builds.
Entry make_initramfs(const Context& ctx, const ModprobeRequest& modprobe, const Tree& tree,
                     ToolRoot& tools, const std::vector<std::string>& argv) {
    return find_or_make(
        ctx, kept_initramfs, initramfs_key(tree, tools, argv), "is making the same initramfs",
        [&](const StoredEntry& stored) { return kept_image(ctx, stored); },
        [&](NewEntry& entry) {
            const std::string made = run_dracut(ctx, tree, tools, argv);
            const InitramfsContents contents = read_initramfs(made, "what the image's dracut made");
            check_contents(tree, contents.paths);
            // A cached one was checked with the same blacklist: the configuration is in its key.
            check_initramfs_modules(modprobe, contents.paths);
            Entry image = make_file_entry(ctx, made, 0644);
            entry.add(image_name, format_entries(ctx, {{"/initramfs.img", image}}).value());
            return image;
        });
}

}  // namespace

Initramfs build_initramfs(const Context& ctx, const Blueprint& blueprint, const Tree& tree,
                          ToolRoot& tools) {
    if (find_entry(tree, "/usr/bin/dracut") == nullptr &&
        find_entry(tree, "/usr/sbin/dracut") == nullptr) {
        throw error("the image has no dracut to build its initramfs with")
            .hinted("add the package dracut to the blueprint");
    }
    std::vector<std::string> more = more_arguments(tree.initramfs_arguments);
    const auto make = [&] {
        return make_initramfs(
            ctx, blueprint.modprobe, tree, tools,
            dracut_arguments(blueprint.initramfs_compression, tree, tools.tree(), more));
    };
    Entry file = make();
    if (tree.parent_initramfs) {
        const auto contents_of = [](const Entry& image, const std::string& name) {
            return read_initramfs(read_file(image.content, image_limit), name);
        };
        const InitramfsContents before =
            contents_of(*tree.parent_initramfs, "the parent's initramfs");
        const auto missing = [&] {
            return missing_of(before, contents_of(file, "the initramfs"),
                              blueprint.modprobe.blacklist);
        };
        if (const auto added = arguments_for(missing()); !added.empty()) {
            more.insert(more.end(), added.begin(), added.end());
            file = make();
        }
        require_nothing_missing(ctx, missing());
    }
    more.insert(more.begin(), common_arguments.begin(), common_arguments.end());
    return {std::move(file), std::move(more)};
}

}  // namespace edgegpu
