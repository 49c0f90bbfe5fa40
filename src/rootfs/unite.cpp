#include "rootfs/unite.hpp"

#include <algorithm>
#include <unordered_map>

#include "support/error.hpp"

namespace edgegpu {

namespace {

constexpr int max_links = 40;

/// The indexes of the package and file that a path is from; for missing parents that were added,
/// `package` is the number of packages.
struct Origin {
    std::size_t package = 0;
    std::size_t file = 0;
};

class Union {
public:
    Union(const std::vector<ImportedPackage>& packages, const Entries& parent)
        : packages_(packages), parent_(parent) {
        result_.entries = parent;
        for (const auto& [path, entry] : parent) {
            origins_[path] = {packages.size(), 0};
        }
        Entry root;
        root.type = EntryType::directory;
        root.mode = 0755;
        result_.entries.emplace("/", root);
        origins_["/"] = {packages.size(), 0};
        plan_links();
    }

    void add(std::size_t package, std::size_t number) {
        const ImportedFile& file = packages_[package].files[number];
        if (file.is_ghost()) {
            return;
        }
        const std::string path = place_of(file.path);
        if (file.entry.type == EntryType::directory && links_.contains(path)) {
            // Like rpm, which keeps an existing link to a directory.
            static_cast<void>(directory_at(path, 0));
            return;
        }
        if (const auto old = parent_.find(path); old != parent_.end()) {
            check_parent(path, old->second, {package, number});
            return;
        }
        const auto [origin, fresh] = origins_.try_emplace(path, Origin{package, number});
        if (!fresh) {
            check_same(path, origin->second, {package, number});
            origin->second = {package, number};
        }
        result_.entries[path] = file.entry;
        if (file.user != "root" || file.group != "root") {
            result_.owners.push_back(
                {path, file.user, file.group, packages_[package].nevra.text()});
        } else if (!fresh) {
            std::erase_if(result_.owners,
                          [&](const NamedOwner& owner) { return owner.path == path; });
        }
    }

    [[nodiscard]] United take() { return std::move(result_); }

private:
    /// Collects the links of all packages before the first file is placed, so that /bin/x becomes
    /// /usr/bin/x whichever package comes first. Links with few components first, since a link may
    /// be behind another one.
    void plan_links() {
        for (const auto& [path, entry] : parent_) {
            if (entry.type == EntryType::symlink) {
                links_.emplace(path, &entry.target);
            }
        }
        std::vector<const ImportedFile*> links;
        for (const ImportedPackage& package : packages_) {
            for (const ImportedFile& file : package.files) {
                if (file.entry.type == EntryType::symlink && !file.is_ghost()) {
                    links.push_back(&file);
                }
            }
        }
        const auto depth = [](const ImportedFile* file) {
            return std::count(file->path.begin(), file->path.end(), '/');
        };
        std::stable_sort(links.begin(), links.end(),
                         [&](const auto* a, const auto* b) { return depth(a) < depth(b); });
        for (const ImportedFile* link : links) {
            links_.emplace(place_of(link->path), &link->entry.target);
        }
    }

    /// The path with the links in its directory part resolved; adds missing parents.
    std::string place_of(const std::string& path) {
        const std::size_t slash = path.rfind('/');
        if (path == "/" || slash == 0) {
            return path;
        }
        const std::string& directory = directory_at(path.substr(0, slash), 0);
        return (directory == "/" ? "" : directory) + path.substr(slash);
    }

    /// The directory that `path` resolves to, added if missing.
    const std::string& directory_at(const std::string& path, int depth) {
        if (const auto known = directories_.find(path); known != directories_.end()) {
            return known->second;
        }
        if (depth > max_links) {
            throw error("{}: too many levels of symbolic links in the packages", path);
        }
        const std::size_t slash = path.rfind('/');
        std::string real;
        if (path.empty() || path == "/") {
            real = "/";
        } else {
            const std::string parent = directory_at(path.substr(0, slash), depth + 1);
            const std::string here = (parent == "/" ? "" : parent) + path.substr(slash);
            const auto link = links_.find(here);
            real = link == links_.end() ? make_directory(here)
                                        : follow(parent, *link->second, depth + 1);
        }
        return directories_.emplace(path, std::move(real)).first->second;
    }

    /// Where a link in the directory `from` leads; never above the root.
    std::string follow(const std::string& from, const std::string& target, int depth) {
        std::string at = target.starts_with('/') ? "/" : from;
        for (std::size_t begin = 0; begin < target.size();) {
            const std::size_t end = std::min(target.find('/', begin), target.size());
            const std::string part = target.substr(begin, end - begin);
            begin = end + 1;
            if (part == "..") {
                at = at.substr(0, std::max<std::size_t>(at.rfind('/'), 1));
            } else if (!part.empty() && part != ".") {
                at = directory_at((at == "/" ? "" : at) + "/" + part, depth + 1);
            }
        }
        return at;
    }

    std::string make_directory(const std::string& path) {
        const auto [origin, fresh] = origins_.try_emplace(path, Origin{packages_.size(), 0});
        if (fresh) {
            Entry directory;
            directory.type = EntryType::directory;
            directory.mode = 0755;
            result_.entries.emplace(path, directory);
        } else if (result_.entries.at(path).type != EntryType::directory) {
            if (origin->second.package == packages_.size()) {
                throw error("{} of the parent is needed as a directory", path);
            }
            throw error("{} of package {} is needed as a directory", path,
                        packages_.at(origin->second.package).nevra.text());
        }
        return path;
    }

    /// What the parent has stays as it is: a package may have the same there.
    void check_parent(const std::string& path, const Entry& old, Origin origin) const {
        const ImportedPackage& package = packages_[origin.package];
        const Entry& entry = package.files[origin.file].entry;
        const char* difference = nullptr;
        if (old.type != entry.type) {
            difference = "type";
        } else if (old.type == EntryType::file && old.digest != entry.digest) {
            difference = "content";
        } else if (old.type == EntryType::symlink && old.target != entry.target) {
            difference = "link target";
        }
        if (difference != nullptr) {
            throw error("package {} and the parent both have {}, with different {}",
                        package.nevra.text(), path, difference)
                .hinted(
                    "no file of the parent is replaced by a package: leave it out with "
                    "excludes, or use another version");
        }
    }

    void check_same(const std::string& path, Origin first, Origin second) const {
        const ImportedFile& b = packages_[second.package].files[second.file];
        if (first.package == packages_.size()) {
            if (b.entry.type != EntryType::directory) {
                throw error("package {}: {} is a directory of other packages",
                            packages_[second.package].nevra.text(), path);
            }
            return;
        }
        const ImportedFile& a = packages_[first.package].files[first.file];
        const char* difference = nullptr;
        if (a.entry.type != b.entry.type) {
            difference = "type";
        } else if (a.entry.mode != b.entry.mode) {
            difference = "mode";
        } else if (a.entry.type == EntryType::directory) {
            return;
        } else if (a.user != b.user || a.group != b.group) {
            difference = "owner";
        } else if (a.entry.target != b.entry.target) {
            difference = "link target";
        } else if (a.entry.digest != b.entry.digest) {
            difference = "content";
        } else if (a.entry.capabilities != b.entry.capabilities) {
            difference = "capabilities";
        }
        if (difference != nullptr) {
            throw error("packages {} and {} both ship {}, with different {}",
                        packages_[first.package].nevra.text(),
                        packages_[second.package].nevra.text(), path, difference)
                .hinted("leave one of them out with excludes, or use another version");
        }
    }

    const std::vector<ImportedPackage>& packages_;
    const Entries& parent_;
    United result_;
    std::unordered_map<std::string, Origin> origins_;
    std::unordered_map<std::string, const std::string*> links_;
    std::unordered_map<std::string, std::string> directories_;
};

}  // namespace

United unite(const std::vector<ImportedPackage>& packages, const Entries& parent) {
    Union all(packages, parent);
    for (std::size_t package = 0; package < packages.size(); ++package) {
        for (std::size_t file = 0; file < packages[package].files.size(); ++file) {
            all.add(package, file);
        }
    }
    return all.take();
}

}  // namespace edgegpu
