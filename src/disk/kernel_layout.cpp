#include "disk/kernel_layout.hpp"

#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/error.hpp"
#include "support/files/digest.hpp"

namespace edgegpu {

namespace {

/// A regular file of a directory, or nullptr.
const CommitFile* file_in(const CommitObjects& objects, const CommitTree& tree,
                          std::string_view name) {
    const auto found = tree.files.find(name);
    if (found == tree.files.end() || objects.files()[found->second].symlink) {
        return nullptr;
    }
    return &objects.files()[found->second];
}

void digest_file(const CommitObjects& objects, const CommitFile& file, Sha256& digest) {
    // An object may be as large as anybody likes.
    const ContentReader reader = objects.open(file);
    std::string piece(64U << 10U, '\0');
    while (const std::size_t size = reader(piece.data(), piece.size())) {
        digest.update(piece.data(), size);
    }
}

/// All files below a directory, by name in every directory.
void digest_tree(const CommitObjects& objects, const CommitTree& tree, Sha256& digest) {
    std::map<std::string_view, const CommitTree*> names;
    for (const auto& [name, directory] : tree.directories) {
        names.emplace(name, &directory);
    }
    for (const auto& [name, index] : tree.files) {
        names.emplace(name, nullptr);
    }
    for (const auto& [name, directory] : names) {
        if (directory != nullptr) {
            digest_tree(objects, *directory, digest);
        } else if (const CommitFile* file = file_in(objects, tree, name); file != nullptr) {
            digest_file(objects, *file, digest);
        }
    }
}

/// The only directory in /usr/lib/modules that has a kernel.
const CommitTree& kernel_directory(const CommitObjects& objects, std::string& version) {
    const CommitTree* modules = objects.root().find("usr/lib/modules");
    std::vector<std::string> versions;
    const CommitTree* found = nullptr;
    if (modules != nullptr) {
        for (const auto& [name, directory] : modules->directories) {
            if (file_in(objects, directory, "vmlinuz") != nullptr) {
                versions.push_back(name);
                found = &directory;
            }
        }
    }
    if (found == nullptr) {
        throw error("the commit has no kernel: there is no /usr/lib/modules/VERSION/vmlinuz")
            .hinted("a container or a tree without an operating system cannot be started");
    }
    if (versions.size() > 1) {
        throw error("the commit has {} kernels, and ostree starts only one: {}", versions.size(),
                    fmt::join(versions, ", "));
    }
    version = versions.front();
    // Part of file names, and of lines that boot loaders read.
    if (version.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "-_.+~^:") != std::string::npos) {
        throw error("\"{}\" in /usr/lib/modules cannot be the version of a kernel", version)
            .hinted("it is what uname -r prints: letters, digits, '-', '_', '.', '+', '~'");
    }
    return *found;
}

}  // namespace

KernelLayout read_kernel_layout(const CommitObjects& objects) {
    KernelLayout layout;
    const CommitTree& directory = kernel_directory(objects, layout.version);
    Sha256 digest;
    const CommitFile* kernel = file_in(objects, directory, "vmlinuz");
    digest_file(objects, *kernel, digest);
    layout.files.emplace_back("vmlinuz-" + layout.version, kernel);
    const CommitFile* initramfs = file_in(objects, directory, "initramfs.img");
    if (initramfs == nullptr) {
        initramfs = file_in(objects, directory, "initramfs");
    }
    if (initramfs != nullptr) {
        digest_file(objects, *initramfs, digest);
        layout.files.emplace_back(fmt::format("initramfs-{}.img", layout.version), initramfs);
        layout.initramfs = true;
    }
    if (const CommitFile* tree = file_in(objects, directory, "devicetree"); tree != nullptr) {
        digest_file(objects, *tree, digest);
        layout.files.emplace_back("devicetree-" + layout.version, tree);
        layout.device_tree = true;
    } else if (const CommitTree* trees = directory.find("dtb"); trees != nullptr) {
        digest_tree(objects, *trees, digest);
        layout.device_trees = trees;
    }
    if (const CommitFile* hmac = file_in(objects, directory, ".vmlinuz.hmac"); hmac != nullptr) {
        // dracut's name for it; not part of the checksum.
        layout.files.emplace_back(fmt::format(".vmlinuz-{}.hmac", layout.version), hmac);
    }
    layout.checksum = digest.hex();
    return layout;
}

}  // namespace edgegpu
