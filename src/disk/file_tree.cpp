#include "disk/file_tree.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "support/error.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

/// "/etc/a/b" → "etc", "a", "b". Throws for a path that is not absolute and normalised.
std::vector<std::string> components_of(const std::string& path) {
    std::vector<std::string> components;
    std::size_t begin = 1;
    while (begin <= path.size()) {
        const std::size_t end = std::min(path.find('/', begin), path.size());
        components.push_back(path.substr(begin, end - begin));
        const std::string& last = components.back();
        if (last.empty() || last == "." || last == "..") {
            components.clear();
            break;
        }
        begin = end + 1;
    }
    if (!path.starts_with('/') || components.size() < 2 ||
        (components.front() != "etc" && components.front() != "var") ||
        path.find('\0') != std::string::npos) {
        throw error(ErrorKind::usage, "cannot inject {}: it is not a path below /etc or /var", path)
            .hinted("all else of the system is in the commit: change it there");
    }
    return components;
}

unsigned mode_of(std::string_view directory) {
    if (directory == "/tmp" || directory == "/var/tmp") {
        return 01777;
    }
    return directory == "/var/roothome" ? 0700 : 0755;
}

void inject_one(const Injected& injected, const ImageLabels& labels, std::int64_t time,
                FileTree& etc, FileTree& var) {
    const std::vector<std::string> components = components_of(injected.path);
    const std::string top = '/' + components.front();
    FileTree& directory = directory_at(top == "/etc" ? etc : var, top,
                                       injected.path.substr(0, injected.path.rfind('/')),
                                       "cannot inject " + injected.path, labels, time);
    const std::string& name = components.back();
    if (injected.type == Injected::Type::directory) {
        if (directory.files.contains(name)) {
            throw error(ErrorKind::usage, "cannot inject directory {}: there is a file",
                        injected.path);
        }
        NodeAttributes attributes =
            labels.attributes(injected.path, EntryType::directory, injected.mode, time);
        attributes.uid = injected.uid;
        attributes.gid = injected.gid;
        directory.directories[name].attributes = std::move(attributes);
        return;
    }
    if (directory.directories.contains(name)) {
        throw error(ErrorKind::usage, "cannot inject file {}: there is a directory", injected.path);
    }
    const bool symlink = injected.type == Injected::Type::symlink;
    FileLeaf leaf;
    leaf.attributes =
        labels.attributes(injected.path, symlink ? EntryType::symlink : EntryType::file,
                          symlink ? 0777 : injected.mode, time);
    leaf.attributes.uid = injected.uid;
    leaf.attributes.gid = injected.gid;
    leaf.symlink = symlink;
    leaf.content = injected.content;
    directory.files[name] = std::move(leaf);
}

}  // namespace

FileTree& directory_at(FileTree& top, std::string_view top_path, std::string_view path,
                       std::string_view what, const ImageLabels& labels, std::int64_t time) {
    FileTree* directory = &top;
    std::string here(top_path);
    for (const std::string_view name : words_of(path.substr(top_path.size()), "/")) {
        here.append("/").append(name);
        if (const auto file = directory->files.find(name); file != directory->files.end()) {
            throw error(ErrorKind::usage, "{}: {} is a {}", what, here,
                        file->second.symlink ? "symbolic link to " + file->second.content : "file");
        }
        const auto [found, added] = directory->directories.try_emplace(std::string(name));
        if (added) {
            found->second.attributes =
                labels.attributes(here, EntryType::directory, mode_of(here), time);
        }
        directory = &found->second;
    }
    return *directory;
}

FileTree copy_of(const CommitObjects& objects, const CommitTree& tree, std::int64_t time) {
    FileTree copy;
    copy.attributes = tree.attributes;
    copy.attributes.modified = time;
    for (const auto& [name, directory] : tree.directories) {
        copy.directories.emplace(name, copy_of(objects, directory, time));
    }
    for (const auto& [name, index] : tree.files) {
        const CommitFile& file = objects.files()[index];
        FileLeaf leaf{file.attributes, file.symlink, file.target, file.symlink ? nullptr : &file};
        leaf.attributes.modified = time;
        copy.files.emplace(name, std::move(leaf));
    }
    return copy;
}

FileTree initial_var(const ImageLabels& labels, std::int64_t time) {
    FileTree var;
    var.attributes = labels.attributes("/var", EntryType::directory, 0755, time);
    for (const auto& [name, mode] : {std::pair{"lib", 0755U}, {"log", 0755U}, {"tmp", 01777U}}) {
        var.directories[name].attributes =
            labels.attributes(fmt::format("/var/{}", name), EntryType::directory, mode, time);
    }
    for (const auto& [name, target] : {std::pair{"lock", "../run/lock"}, {"run", "../run"}}) {
        var.files[name] = {
            labels.attributes(fmt::format("/var/{}", name), EntryType::symlink, 0777, time), true,
            target, nullptr};
    }
    var.files[".ostree-selabeled"] = {
        labels.attributes("/var/.ostree-selabeled", EntryType::file, 0644, time), false, "",
        nullptr};
    return var;
}

void inject(const Injection& injection, const ImageLabels& labels, std::int64_t time, FileTree& etc,
            FileTree& var) {
    for (const Injected& injected : injection) {
        inject_one(injected, labels, time, etc, var);
    }
}

ContentReader reader_of(std::string_view text) {
    return [text](char* buffer, std::size_t size) mutable {
        const std::size_t got = text.copy(buffer, size);
        text.remove_prefix(got);
        return got;
    };
}

void write_tree(Ext4Writer& writer, Inode directory, const FileTree& tree,
                const CommitObjects& objects) {
    for (const auto& [name, below] : tree.directories) {
        write_tree(writer, writer.add_directory(directory, name, below.attributes), below, objects);
    }
    for (const auto& [name, leaf] : tree.files) {
        if (leaf.symlink) {
            writer.add_symlink(directory, name, leaf.content, leaf.attributes);
        } else if (leaf.source != nullptr) {
            writer.add_file(directory, name, leaf.source->size, objects.open(*leaf.source),
                            leaf.attributes);
        } else {
            writer.add_file(directory, name, leaf.content.size(), reader_of(leaf.content),
                            leaf.attributes);
        }
    }
}

}  // namespace edgegpu
