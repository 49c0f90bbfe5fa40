#include "disk/deployment.hpp"

#include <cstddef>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "disk/boot_files.hpp"
#include "disk/commit_objects.hpp"
#include "disk/file_tree.hpp"
#include "disk/kernel_layout.hpp"
#include "execution/parallel.hpp"
#include "support/error.hpp"
#include "support/ranges.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

/// Objects that are read at a time, in parallel, hold at most this much memory; larger ones are
/// read while they are written.
constexpr std::uint64_t batch_bytes = 64U << 20U;
constexpr std::uint64_t largest_in_memory = 32U << 20U;

/// Writes the root file system. Paths are those of the physical root, which the running system has
/// at /sysroot.
class SysrootWriter {
public:
    SysrootWriter(const Context& ctx, const CommitObjects& objects, const DeploymentPlan& plan,
                  const ImageLabels& labels, Ext4Writer& writer)
        : ctx_(ctx), objects_(objects), plan_(plan), labels_(labels), writer_(writer) {}

    void write(const DeploymentTarget& target, const FileTree& etc, const FileTree& var);

private:
    Inode directory(Inode parent, const std::string& path);
    /// "a/b/c" below `parent`, whose path is `above`.
    Inode directories(Inode parent, std::string above, const std::vector<std::string>& names);
    void file(Inode parent, const std::string& path, std::string_view content,
              unsigned mode = 0644);
    void link(Inode parent, const std::string& path, std::string_view target);
    void write_repository(Inode ostree, const DeploymentTarget& target);
    void write_refs(Inode repo);
    void write_objects(Inode repo);
    void write_file_objects();
    void write_file_object(std::size_t index, std::string_view content);
    Inode object_directory(const std::string& checksum);
    void write_deployment_tree(Inode inode, const CommitTree& tree);
    void write_stateroot(Inode ostree, const FileTree& etc, const FileTree& var);
    void write_boot_links(Inode ostree);

    const Context& ctx_;
    const CommitObjects& objects_;
    const DeploymentPlan& plan_;
    const ImageLabels& labels_;
    Ext4Writer& writer_;
    Inode objects_directory_ = 0;
    std::unordered_map<std::string, Inode> object_directories_;
    /// by position in CommitObjects::files
    std::vector<Inode> written_;
};

std::string name_of(const std::string& path) {
    return path.substr(path.rfind('/') + 1);
}

Inode SysrootWriter::directory(Inode parent, const std::string& path) {
    return writer_.add_directory(parent, name_of(path),
                                 labels_.attributes(path, EntryType::directory, 0755, plan_.time));
}

Inode SysrootWriter::directories(Inode parent, std::string above,
                                 const std::vector<std::string>& names) {
    for (const std::string& name : names) {
        above += "/" + name;
        parent = directory(parent, above);
    }
    return parent;
}

void SysrootWriter::file(Inode parent, const std::string& path, std::string_view content,
                         unsigned mode) {
    writer_.add_file(parent, name_of(path), content.size(), reader_of(content),
                     labels_.attributes(path, EntryType::file, mode, plan_.time));
}

void SysrootWriter::link(Inode parent, const std::string& path, std::string_view target) {
    writer_.add_symlink(parent, name_of(path), target,
                        labels_.attributes(path, EntryType::symlink, 0777, plan_.time));
}

void SysrootWriter::write_refs(Inode repo) {
    const std::string content = plan_.commit + "\n";
    const Inode refs = directory(repo, "/ostree/repo/refs");
    const std::string heads_path = "/ostree/repo/refs/heads";
    const Inode heads = directory(refs, heads_path);
    directory(refs, "/ostree/repo/refs/mirrors");
    const Inode remotes = directory(refs, "/ostree/repo/refs/remotes");
    // What ostree keeps of the deployments with boot.1.1, so that they are not pruned.
    const Inode kept = directories(heads, heads_path, {"ostree", "1", "1"});
    file(kept, heads_path + "/ostree/1/1/0", content);
    if (plan_.refspec.empty()) {
        return;
    }
    const std::size_t colon = plan_.refspec.find(':');
    const bool remote = colon != std::string::npos;
    const std::string above = remote ? "/ostree/repo/refs/remotes" : heads_path;
    std::string path = plan_.refspec;
    if (remote) {
        path[colon] = '/';
    }
    std::vector<std::string> names;
    std::size_t begin = 0;
    for (std::size_t slash = path.find('/'); slash != std::string::npos;
         slash = path.find('/', begin)) {
        names.push_back(path.substr(begin, slash - begin));
        begin = slash + 1;
    }
    const Inode place = directories(remote ? remotes : heads, above, names);
    file(place, above + "/" + path, content);
}

Inode SysrootWriter::object_directory(const std::string& checksum) {
    const std::string name = checksum.substr(0, 2);
    const auto [found, added] = object_directories_.try_emplace(name, 0);
    if (added) {
        found->second = directory(objects_directory_, "/ostree/repo/objects/" + name);
    }
    return found->second;
}

void SysrootWriter::write_file_object(std::size_t index, std::string_view content) {
    const CommitFile& object = objects_.files()[index];
    const Inode parent = object_directory(object.checksum);
    const std::string name = object.checksum.substr(2) + ".file";
    if (object.symlink) {
        written_[index] = writer_.add_symlink(parent, name, object.target, object.attributes);
    } else if (object.size > largest_in_memory) {
        written_[index] =
            writer_.add_file(parent, name, object.size, objects_.open(object), object.attributes);
    } else {
        written_[index] =
            writer_.add_file(parent, name, object.size, reader_of(content), object.attributes);
    }
}

void SysrootWriter::write_file_objects() {
    const std::vector<CommitFile>& files = objects_.files();
    written_.resize(files.size());
    std::size_t begin = 0;
    std::vector<std::string> contents;
    while (begin < files.size()) {
        std::size_t end = begin;
        std::uint64_t bytes = 0;
        while (end < files.size() && (end == begin || bytes + files[end].size <= batch_bytes)) {
            bytes += files[end].size <= largest_in_memory ? files[end].size : 0;
            ++end;
        }
        contents.assign(end - begin, {});
        parallel_for(ctx_, end - begin, [&](std::size_t i) {
            const CommitFile& object = files[begin + i];
            if (!object.symlink && object.size <= largest_in_memory) {
                contents[i] = objects_.read(object);
            }
        });
        for (std::size_t i = begin; i < end; ++i) {
            write_file_object(i, contents[i - begin]);
        }
        begin = end;
    }
}

void SysrootWriter::write_objects(Inode repo) {
    objects_directory_ = directory(repo, "/ostree/repo/objects");
    write_file_objects();
    for (const MetadataObject& object : objects_.metadata()) {
        file(object_directory(object.checksum),
             fmt::format("/ostree/repo/objects/{}/{}.{}", object.checksum.substr(0, 2),
                         object.checksum.substr(2), object.extension),
             object.content);
    }
}

void SysrootWriter::write_repository(Inode ostree, const DeploymentTarget& target) {
    const Inode repo = directory(ostree, "/ostree/repo");
    file(repo, "/ostree/repo/config",
         fmt::format("[core]\nrepo_version=1\nmode=bare\n\n[sysroot]\nreadonly=true\n"
                     "bootloader={}\n",
                     target.bootloader));
    file(repo, "/ostree/repo/.lock", "", 0640);
    directory(repo, "/ostree/repo/extensions");
    directory(repo, "/ostree/repo/state");
    directory(directory(repo, "/ostree/repo/tmp"), "/ostree/repo/tmp/cache");
    write_refs(repo);
    write_objects(repo);
}

void SysrootWriter::write_deployment_tree(Inode inode, const CommitTree& tree) {
    for (const auto& [name, below] : tree.directories) {
        write_deployment_tree(writer_.add_directory(inode, name, below.attributes), below);
    }
    for (const auto& [name, index] : tree.files) {
        const CommitFile& object = objects_.files()[index];
        // ostree links no empty files, of which there may be more than a file can have names.
        if (!object.symlink && object.size == 0) {
            writer_.add_file(inode, name, 0, reader_of(""), object.attributes);
        } else {
            writer_.add_link(inode, name, written_[index]);
        }
    }
}

void SysrootWriter::write_stateroot(Inode ostree, const FileTree& etc, const FileTree& var) {
    const std::string place = "/ostree/deploy/" + plan_.stateroot;
    const Inode stateroot = directory(directory(ostree, "/ostree/deploy"), place);
    const Inode deployments = directory(stateroot, place + "/deploy");
    const std::string name = plan_.commit + ".0";
    const CommitTree& tree = objects_.root();
    NodeAttributes attributes = tree.attributes;
    attributes.modified = plan_.time;
    const Inode deployment = writer_.add_directory(deployments, name, attributes);
    write_deployment_tree(deployment, tree);
    write_tree(writer_, writer_.add_directory(deployment, "etc", etc.attributes), etc, objects_);
    writer_.set_immutable(deployment);
    const std::string origin =
        fmt::format("[origin]\nrefspec={}\n", plan_.refspec.empty() ? plan_.commit : plan_.refspec);
    writer_.add_file(
        deployments, name + ".origin", origin.size(), reader_of(origin),
        labels_.attributes("/etc/ostree/remotes.d/dummy.conf", EntryType::file, 0644, plan_.time));
    write_tree(writer_, writer_.add_directory(stateroot, "var", var.attributes), var, objects_);
}

void SysrootWriter::write_boot_links(Inode ostree) {
    link(ostree, "/ostree/boot.1", "boot.1.1");
    const Inode place =
        directories(ostree, "/ostree", {"boot.1.1", plan_.stateroot, plan_.boot_checksum});
    link(place, fmt::format("/ostree/boot.1.1/{}/{}/0", plan_.stateroot, plan_.boot_checksum),
         fmt::format("../../../deploy/{}/deploy/{}.0", plan_.stateroot, plan_.commit));
}

void SysrootWriter::write(const DeploymentTarget& target, const FileTree& etc,
                          const FileTree& var) {
    writer_.set_attributes(writer_.root(),
                           labels_.attributes("/", EntryType::directory, 0755, plan_.time));
    writer_.set_attributes(
        writer_.lost_and_found(),
        labels_.attributes("/lost+found", EntryType::directory, 0700, plan_.time));
    directory(writer_.root(), "/boot");
    const Inode ostree = directory(writer_.root(), "/ostree");
    write_repository(ostree, target);
    write_stateroot(ostree, etc, var);
    write_boot_links(ostree);
}

/// Throws if the image's line for `place` names another file system than that of the disk (`own`,
/// a line): devices would wait for it, and stop in emergency mode.
void require_own_device(std::string_view place, const std::vector<std::string_view>& present,
                        std::string_view own) {
    const std::string_view device = own.substr(0, own.find(' '));
    const bool optional = present.size() > 3 && (present[3].find("nofail") != std::string::npos ||
                                                 present[3].find("noauto") != std::string::npos);
    if (present[0].starts_with("UUID=") && present[0] != device && !optional) {
        throw error(
            "the image's /etc/fstab mounts {} at {}, and on the disk that is {}: devices "
            "would not boot",
            present[0], place, device)
            .hinted("remove the line from the file that brings it: edgegpu image adds its own");
    }
}

/// The lines of /etc/fstab for file systems that the image does not mount by itself.
std::string fstab_with(std::string fstab, const DeploymentTarget& target) {
    const auto add = [&](std::string_view place, const std::string& line) {
        for (const std::string_view present : lines_of(fstab)) {
            const std::vector<std::string_view> words = words_of(present, " \t");
            if (place != "none" && words.size() > 1 && !present.starts_with('#') &&
                words[1] == place) {
                require_own_device(place, words, line);
                return;
            }
        }
        fstab += (fstab.empty() || fstab.ends_with('\n') ? "" : "\n") + line;
    };
    add("/boot", fmt::format("UUID={} /boot ext4 defaults 0 2\n", target.boot_uuid));
    if (!target.esp_uuid.empty()) {
        add("/boot/efi", fmt::format("UUID={} /boot/efi vfat umask=0077,shortname=winnt 0 2\n",
                                     target.esp_uuid));
    }
    for (const FstabLine& line : target.volumes) {
        add(line.point, line.text);
    }
    return fstab;
}

FileTree make_etc(const CommitObjects& objects, const DeploymentPlan& plan,
                  const DeploymentTarget& target, const ImageLabels& labels) {
    if (objects.root().directories.contains("etc") || objects.root().files.contains("etc")) {
        throw error("the commit has /etc, which is where a deployment has its own")
            .hinted("the configuration of an ostree commit is in /usr/etc");
    }
    const CommitTree* tree = objects.root().find("usr/etc");
    if (tree == nullptr) {
        throw error("the commit has no /usr/etc, of which a deployment's /etc is made");
    }
    FileTree etc = copy_of(objects, *tree, plan.time);
    std::string fstab;
    if (const auto found = etc.files.find("fstab"); found != etc.files.end()) {
        fstab = found->second.source != nullptr ? objects.read(*found->second.source) : "";
    }
    etc.files["fstab"] = {labels.attributes("/etc/fstab", EntryType::file, 0644, plan.time), false,
                          fstab_with(std::move(fstab), target), nullptr};
    return etc;
}

/// Before anything is written, if it can be known.
void check_room(const Ext4Writer& writer, std::uint64_t needed, std::string_view what) {
    if (writer.free_bytes() < needed) {
        throw error("the disk is too small: {} needs {} bytes, and there are {}: {} are missing",
                    what, needed, writer.free_bytes(), needed - writer.free_bytes());
    }
}

void write_volume(Ext4Writer& writer, const FileTree& tree, const ImageLabels& labels,
                  std::int64_t time, const CommitObjects& objects) {
    writer.set_attributes(writer.root(), tree.attributes);
    writer.set_attributes(writer.lost_and_found(),
                          labels.attributes("/lost+found", EntryType::directory, 0700, time));
    write_tree(writer, writer.root(), tree, objects);
}

std::uint64_t bytes_of(const CommitObjects& objects) {
    constexpr std::uint64_t unit = 4096;
    std::uint64_t blocks = sum_of(
        objects.files(), [&](const CommitFile& file) { return (file.size + unit - 1) / unit; });
    for (const MetadataObject& object : objects.metadata()) {
        blocks += (object.content.size() + unit - 1) / unit;
    }
    return blocks * unit;
}

}  // namespace

WrittenDeployment write_deployment(const Context& ctx, const RepositoryView& repository,
                                   const CommitView& commit, const DeploymentPlan& plan,
                                   const DiskRequest& request, const DeploymentTarget& target,
                                   const ImageLabels& labels, DeploymentFileSystems& disk) {
    try {
        const CommitObjects objects(ctx, repository, commit);
        check_room(disk.sysroot, bytes_of(objects), "the root file system");
        FileTree etc = make_etc(objects, plan, target, labels);
        FileTree var = initial_var(labels, plan.time);
        inject(request.injection, labels, plan.time, etc, var);
        const std::vector<FileTree> volumes =
            take_volume_trees(request.volumes, labels, plan.time, var);
        SysrootWriter(ctx, objects, plan, labels, disk.sysroot).write(target, etc, var);
        for (std::size_t i = 0; i < volumes.size(); ++i) {
            if (disk.volumes[i]) {
                write_volume(*disk.volumes[i], volumes[i], labels, plan.time, objects);
            }
        }
        return write_boot_files(objects, read_kernel_layout(objects), plan, target, labels,
                                disk.boot);
    } catch (Error& failure) {
        throw failure.traced(fmt::format("while deploying commit {}", plan.commit));
    }
}

}  // namespace edgegpu
