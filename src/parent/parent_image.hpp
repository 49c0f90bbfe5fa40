#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "blueprint/image_settings.hpp"
#include "execution/context.hpp"
#include "repository/commit_view.hpp"
#include "rootfs/import.hpp"

namespace edgegpu {

/// The commit that an image is a layer on (`[parent]`), as far as packages are resolved with it.
class ParentImage {
public:
    /// Opens the commit, compares it with its checksum, and reads its package database with the
    /// builder's rpm, in a sandbox. Throws ErrorKind::usage, with the line of `[parent]`, for a
    /// repository or commit that there is not, one that is not bootable, or of another
    /// architecture than `architecture`; Error for objects that are missing or damaged.
    ParentImage(const Context& ctx, const ParentRequest& request, const std::string& architecture);

    [[nodiscard]] const CommitInfo& info() const noexcept { return commit_.info(); }
    /// For messages: "parent REF (CHECKSUM)".
    [[nodiscard]] std::string name() const;
    /// "uname -r" of its only kernel
    [[nodiscard]] const std::string& kernel() const noexcept { return kernel_; }
    /// Its packages in the order of their installation, without the content of their files and
    /// without keys of rpm.
    [[nodiscard]] const std::vector<ImportedPackage>& packages() const noexcept {
        return packages_;
    }
    /// The same, moved; to be called once.
    [[nodiscard]] std::vector<ImportedPackage> take_packages() { return std::move(packages_); }
    /// The headers of everything in its package database, as in an rpmdb, keys of rpm included.
    [[nodiscard]] const std::vector<std::string>& headers() const noexcept { return headers_; }

    /// The contents of the files of a directory whose names `wanted` takes; none if there is no
    /// such directory. Throws Error for a file of more than 1 MiB.
    [[nodiscard]] std::map<std::string, std::string> read_texts(
        const std::string& directory, const std::function<bool(const std::string&)>& wanted) const;

    /// All of its files, at the paths that they have in the commit. Each object is compared with
    /// its checksum, and contents are stored in the cache, which knows them when another image is
    /// made on the same commit. Throws Error naming the path for what is
    /// missing or damaged, and for extended attributes that an image of edgegpu cannot have.
    [[nodiscard]] Entries read_files(const Context& ctx) const;

private:
    RepositoryView repository_;
    CommitView commit_;
    /// What helps if an object is damaged.
    std::string remedy_;
    std::string kernel_;
    std::vector<std::string> headers_;
    std::vector<ImportedPackage> packages_;
};

}  // namespace edgegpu
