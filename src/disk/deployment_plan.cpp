#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <glib.h>

#include "blueprint/volume_mounts.hpp"
#include "disk/commit_objects.hpp"
#include "disk/deployment.hpp"
#include "disk/grub.hpp"
#include "disk/kernel_layout.hpp"
#include "image/kernel_arguments.hpp"
#include "repository/remote_config.hpp"
#include "support/assignments.hpp"
#include "support/error.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

constexpr std::uint64_t plan_block = 4096;
constexpr std::uint64_t largest_text = 1U << 20U;
/// ostree's directories, the journal's log of the first boot and the like.
constexpr std::uint64_t spare_blocks = 256;

using KeyFileHandle = Handle<GKeyFile, g_key_file_unref>;

std::uint64_t blocks_of(std::uint64_t bytes) {
    return (bytes + plan_block - 1) / plan_block;
}

/// Blocks of a file or symlink with its attributes, which go into a block of their own unless the
/// inode has room for them.
std::uint64_t blocks_of(const NodeAttributes& attributes, bool symlink, std::uint64_t size) {
    constexpr std::size_t in_inode = 92;
    constexpr std::uint64_t short_target = 60;
    std::size_t bytes = 0;
    for (const auto& [name, value] : attributes.attributes) {
        bytes += 16 + (name.size() + 3) / 4 * 4 + (value.size() + 3) / 4 * 4;
    }
    const std::uint64_t content = symlink && size < short_target ? 0 : blocks_of(size);
    // Content in pieces needs blocks that list them.
    return content + content / 1024 + (bytes > in_inode ? 1 : 0);
}

/// What a tree of directories needs: their own blocks and inodes.
struct TreeRoom {
    std::uint64_t blocks = 0;
    std::uint64_t inodes = 0;
};

void add_directories(const CommitTree& tree, TreeRoom& room) {
    std::uint64_t bytes = 24;
    for (const auto& [name, directory] : tree.directories) {
        bytes += 12 + name.size();
        add_directories(directory, room);
    }
    for (const auto& [name, index] : tree.files) {
        bytes += 12 + name.size();
    }
    // Names do not go across blocks.
    room.blocks += blocks_of(bytes + bytes / 8) + blocks_of(tree.attributes, true, 0);
    room.inodes += 1;
}

void add_copies(const CommitObjects& objects, const CommitTree& tree, TreeRoom& room) {
    for (const auto& [name, directory] : tree.directories) {
        add_copies(objects, directory, room);
    }
    for (const auto& [name, index] : tree.files) {
        const CommitFile& file = objects.files()[index];
        room.blocks +=
            blocks_of(file.attributes, file.symlink, file.symlink ? file.target.size() : file.size);
        room.inodes += 1;
    }
}

/// Every empty file of a deployment is a file of its own.
std::uint64_t empty_files(const CommitObjects& objects, const CommitTree& tree) {
    std::uint64_t count = 0;
    for (const auto& [name, directory] : tree.directories) {
        count += empty_files(objects, directory);
    }
    for (const auto& [name, index] : tree.files) {
        const CommitFile& file = objects.files()[index];
        count += !file.symlink && file.size == 0 ? 1 : 0;
    }
    return count;
}

std::uint64_t root_size(const CommitObjects& objects, const DiskRequest& request) {
    TreeRoom room{spare_blocks, 1024};
    for (const CommitFile& file : objects.files()) {
        room.blocks +=
            blocks_of(file.attributes, file.symlink, file.symlink ? file.target.size() : file.size);
        room.inodes += 1;
    }
    for (const MetadataObject& object : objects.metadata()) {
        room.blocks += blocks_of(object.content.size());
        room.inodes += 1;
    }
    // Names of objects, in at most 256 directories.
    room.blocks += 512 + (objects.files().size() + objects.metadata().size()) / 32;
    add_directories(objects.root(), room);
    const std::uint64_t empty = empty_files(objects, objects.root());
    room.inodes += empty;
    room.blocks += empty;
    if (const CommitTree* etc = objects.root().find("usr/etc"); etc != nullptr) {
        add_directories(*etc, room);
        add_copies(objects, *etc, room);
    }
    for (const Injected& injected : request.injection) {
        // With parents.
        const auto depth = static_cast<std::uint64_t>(std::ranges::count(injected.path, '/'));
        room.blocks += blocks_of(injected.content.size()) + depth + 1;
        room.inodes += depth;
    }
    return ext4_size_for(room.blocks, room.inodes);
}

void tree_content(const CommitObjects& objects, const CommitTree& tree, TreeRoom& room) {
    add_directories(tree, room);
    add_copies(objects, tree, room);
}

/// Blocks that one deployment needs in /boot.
TreeRoom boot_room(const CommitObjects& objects, const KernelLayout& layout) {
    TreeRoom room{8, 16};
    for (const auto& [name, file] : layout.files) {
        room.blocks += blocks_of(file->attributes, false, file->size);
        room.inodes += 1;
    }
    if (layout.device_trees != nullptr) {
        tree_content(objects, *layout.device_trees, room);
    }
    return room;
}

/// The text of the image's os-release.
std::string os_release_of(const CommitView& commit) {
    for (const char* path : {"/usr/lib/os-release", "/usr/etc/os-release"}) {
        if (std::optional<std::string> content = commit.read(path, largest_text)) {
            return *std::move(content);
        }
    }
    return {};
}

void read_os_release(const CommitView& commit, DeploymentPlan& plan) {
    const auto values = read_assignments(os_release_of(commit));
    const auto value = [&](const char* key) {
        const auto found = values.find(key);
        return found == values.end() ? std::string() : found->second;
    };
    plan.os_id = value("ID").empty() ? "linux" : value("ID");
    for (const char* key : {"PRETTY_NAME", "NAME", "ID"}) {
        if (plan.os_name.empty()) {
            plan.os_name = value(key);
        }
    }
    if (plan.os_name.empty()) {
        plan.os_name = plan.os_id;
    }
    plan.title = plan.os_name;
    const std::string& version = commit.info().version;
    if (!version.empty() && plan.os_name.find(version) == std::string::npos) {
        plan.title += " " + version;
    }
    plan.title += " (ostree:0)";
    if (std::ranges::any_of(plan.title, [](unsigned char c) { return c < ' ' || c == 0x7f; })) {
        throw error("the name of the system, \"{}\", has control characters", plan.title)
            .hinted("it is PRETTY_NAME in the image's os-release, and the commit's version");
    }
}

std::set<std::string> remotes_of(const CommitView& commit, const CommitObjects& objects,
                                 const DiskRequest& request) {
    constexpr std::string_view place = "/etc/ostree/remotes.d/";
    std::set<std::string> remotes;
    std::map<std::string, std::string> files;
    if (const CommitTree* tree = objects.root().find("usr/etc/ostree/remotes.d"); tree != nullptr) {
        for (const auto& [name, index] : tree->files) {
            files[std::string(place) + name] =
                commit.read("/usr" + std::string(place) + name, largest_text).value_or("");
        }
    }
    for (const Injected& injected : request.injection) {
        if (injected.type == Injected::Type::file && injected.path.starts_with(place)) {
            files[injected.path] = injected.content;
        }
    }
    for (const auto& [path, content] : files) {
        if (path.ends_with(".conf")) {
            for (RemoteConfig& remote : read_remotes(content)) {
                remotes.insert(std::move(remote.name));
            }
        }
    }
    return remotes;
}

std::string choose_refspec(const DiskRequest& request, const std::set<std::string>& remotes) {
    if (request.ref.empty()) {
        return {};
    }
    GError* problem = nullptr;
    if (ostree_validate_rev(request.ref.c_str(), &problem) == FALSE) {
        g_clear_error(&problem);
        throw error(ErrorKind::usage, "\"{}\" is not a valid ref", request.ref);
    }
    std::string remote = request.remote;
    if (!remote.empty() && !remotes.contains(remote)) {
        throw error(ErrorKind::usage, "the image configures no remote \"{}\" in {}", remote,
                    "/etc/ostree/remotes.d")
            .hinted(remotes.empty() ? "it configures none: inject a file into /etc/ostree/remotes.d"
                                    : fmt::format("it has: {}", fmt::join(remotes, ", ")));
    }
    if (remote.empty() && remotes.size() > 1) {
        throw error(ErrorKind::usage, "the image configures several remotes: {}",
                    fmt::join(remotes, ", "))
            .hinted("say which one the device upgrades from");
    }
    if (remote.empty() && remotes.size() == 1) {
        remote = *remotes.begin();
    }
    return remote.empty() ? request.ref : remote + ":" + request.ref;
}

/// ostree's directory below /ostree/deploy, part of file names and of a kernel argument.
void check_stateroot(const std::string& name) {
    constexpr std::string_view allowed =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.+";
    constexpr std::size_t longest = 64;
    if (name.empty() || name.size() > longest || name.starts_with('.') || name.starts_with('-') ||
        name.find_first_not_of(allowed) != std::string::npos) {
        throw error(ErrorKind::usage, "\"{}\" cannot be the name of a stateroot", name)
            .hinted("letters, digits, '-', '_', '.' and '+', at most 64; --stateroot sets it");
    }
}

/// Commits may be made for installers with another file system for /.
void check_root_mount(const std::vector<std::string>& arguments) {
    constexpr std::string_view type_argument = "rootfstype=";
    constexpr std::string_view options_argument = "rootflags=";
    const auto refuse = [](const std::string& argument, const std::string& how) {
        throw error(ErrorKind::usage,
                    "kernel argument {}: / would be mounted {}, but it is ext4: devices would not "
                    "start",
                    argument, how)
            .hinted("remove it where it is given: --karg, [image] or [customizations.kernel]");
    };
    for (const std::string& argument : arguments) {
        if (argument.starts_with(type_argument)) {
            const std::string_view types = std::string_view(argument).substr(type_argument.size());
            if (std::ranges::none_of(split(types, ','), [](std::string_view type) {
                    return !ext4_refusal(type, "");
                })) {
                refuse(argument, fmt::format("as {}", types));
            }
        } else if (argument.starts_with(options_argument)) {
            if (const auto how = ext4_refusal("", argument.substr(options_argument.size()))) {
                refuse(argument, *how);
            }
        }
    }
}

std::vector<std::string> kernel_arguments_of(const CommitView& commit, const DiskRequest& request) {
    std::vector<std::string> arguments;
    if (commit.info().kernel_arguments) {
        arguments = *commit.info().kernel_arguments;
    }
    if (const std::string problem = kernel_arguments_problem(arguments); !problem.empty()) {
        throw error("commit {}: {}", commit.info().name, problem)
            .hinted("its boot entry would be another one: where does this commit come from?");
    }
    add_kernel_arguments(request.kernel_arguments, arguments);
    if (const std::string problem = kernel_arguments_problem(arguments); !problem.empty()) {
        throw error(ErrorKind::usage, "{}", problem)
            .hinted(
                "each boot entry has its own root=, ostree= and initrd; blanks are in double "
                "quotes, as the kernel reads them");
    }
    check_root_mount(arguments);
    for (const std::string& argument : arguments) {
        // Every boot entry is started by GRUB.
        static_cast<void>(grub_argument(argument));
    }
    return arguments;
}

}  // namespace

DeploymentPlan plan_deployment(const Context& ctx, const RepositoryView& repository,
                               const CommitView& commit, const DiskRequest& request) {
    const CommitObjects objects(ctx, repository, commit);
    const KernelLayout layout = read_kernel_layout(objects);
    DeploymentPlan plan;
    plan.commit = commit.info().checksum;
    plan.kernel = layout.version;
    plan.initramfs = layout.initramfs;
    plan.boot_checksum = layout.checksum;
    plan.time = commit.info().time;
    read_os_release(commit, plan);
    plan.stateroot = request.stateroot.empty() ? plan.os_id : request.stateroot;
    check_stateroot(plan.stateroot);
    plan.refspec = choose_refspec(request, remotes_of(commit, objects, request));
    plan.kernel_arguments = kernel_arguments_of(commit, request);
    plan.root_bytes = root_size(objects, request);
    const TreeRoom room = boot_room(objects, layout);
    plan.boot_bytes = ext4_size_for(room.blocks, room.inodes);
    plan.boot_deployment_bytes = room.blocks * plan_block;
    return plan;
}

}  // namespace edgegpu
