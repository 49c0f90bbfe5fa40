#include "rootfs/tool_root.hpp"

#include <cerrno>
#include <filesystem>
#include <set>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rootfs/scriptlets.hpp"
#include "rootfs/unpack.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/handles.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

using Package = PackageGraph::Package;

/// "#!" lines are no longer.
constexpr std::uint64_t head_size = 256;

/// "libz.so.1", "libcrypt.so"
bool is_library(std::string_view path) {
    const std::string_view name = path.substr(path.rfind('/') + 1);
    return name.ends_with(".so") || name.find(".so.") != std::string_view::npos;
}

/// Whether a file is as its package brought it.
bool is_packaged(const Entry& entry) {
    struct stat status {};
    return ::stat(entry.content.c_str(), &status) == 0 && is_as_unpacked(status);
}

/// The first bytes of a file's content.
std::string head_of(const Entry& entry) {
    const Fd file(::open(entry.content.c_str(), O_RDONLY | O_CLOEXEC));
    std::string head(head_size, '\0');
    const ssize_t got = file ? ::pread(file.get(), head.data(), head.size(), 0) : -1;
    if (got < 0) {
        throw errno_error(entry.content.string(), errno);
    }
    head.resize(static_cast<std::size_t>(got));
    return head;
}

/// "/usr/bin/sh" of "#! /usr/bin/sh -e"; empty for what is no script.
std::string interpreter_of(std::string_view head) {
    if (!head.starts_with("#!")) {
        return {};
    }
    const std::vector<std::string_view> words =
        words_of(head.substr(2, head.find('\n') - 2), " \t");
    return words.empty() ? std::string() : std::string(words.front());
}

/// The part of an image that ToolNeeds describes.
class Choice {
public:
    Choice(const Tree& image, const PackageGraph& graph, const ToolNeeds& needs)
        : image_(image), graph_(graph), needs_(needs), chosen_(needs.instead) {
        std::set<Package> running;
        std::set<Package> used;
        std::vector<std::string> single;
        for (const auto& [path, entry] : image.entries) {
            if (entry.type == EntryType::directory) {
                continue;
            }
            const auto owners = graph.owners(path);
            if (needs.runs(path)) {
                running.insert(owners.begin(), owners.end());
            } else if (needs.uses(path)) {
                used.insert(owners.begin(), owners.end());
            } else if (!needs.reads(path)) {
                continue;
            }
            single.push_back(path);
        }
        used.merge(graph.with_requirements(std::move(running)));
        for (const Package package : used) {
            for (const std::string& path : graph.files(package)) {
                add(path);
            }
            add_needs(package);
        }
        packages_ = used.size();
        for (const std::string& path : single) {
            add(path);
        }
    }

    [[nodiscard]] Entries take(Log& log) {
        if (!strange_.empty()) {
            for (const auto& [path, entry] : image_.entries) {
                if (!is_hidden(path)) {
                    chosen_.emplace(path, entry);
                }
            }
        }
        add_links();
        add_parents();
        log.debug("files for tools of the image", {{"name", needs_.name},
                                                   {"packages", packages_},
                                                   {"files", chosen_.size()},
                                                   {"all_because_of", strange_}});
        return std::move(chosen_);
    }

private:
    [[nodiscard]] bool is_hidden(std::string_view path) const {
        return needs_.hidden(path) || needs_.instead.contains(path);
    }

    /// Adds what is at the path, if anything, and what it leads to.
    void add(std::string_view path) {
        const auto found = image_.entries.find(path);
        if (found == image_.entries.end() || is_hidden(path) || !chosen_.insert(*found).second ||
            found->second.type == EntryType::directory) {
            return;
        }
        const auto& [name, entry] = *found;
        if (entry.type == EntryType::symlink) {
            add(target_of(name, entry));
        }
        const bool executed = entry.type == EntryType::file && (entry.mode & 0111U) != 0;
        if (!executed && !is_library(name)) {
            return;
        }
        const auto owners = graph_.owners(name);
        for (const Package owner : owners) {
            add_needs(owner);
        }
        if (executed && owners.empty()) {
            add_needs_of_unowned(name, entry);
        } else if (executed && !is_packaged(entry) && !graph_.has_digest(name, entry.digest)) {
            strange_ = name;
        }
    }

    /// Adds the libraries and interpreters that a package requires.
    void add_needs(Package package) {
        if (!supplied_.insert(package).second) {
            return;
        }
        for (const std::string& path : graph_.required_paths(package)) {
            add(path);
        }
        for (const Package other : graph_.libraries(package)) {
            for (const std::string& path : graph_.files(other)) {
                if (is_library(path)) {
                    add(path);
                }
            }
            add_needs(other);
        }
    }

    /// For a program that no package brings.
    void add_needs_of_unowned(const std::string& path, const Entry& entry) {
        const std::string head = head_of(entry);
        if (head.starts_with("\x7f"
                             "ELF")) {
            strange_ = path;
        } else if (const std::string interpreter = interpreter_of(head);
                   interpreter.starts_with('/')) {
            add(resolve_in_tree(image_, interpreter, false));
        }
    }

    /// Adds links that scriptlets made (ldconfig, alternatives), if what they lead to is there.
    void add_links() {
        std::vector<const Entries::value_type*> links;
        for (const auto& item : image_.entries) {
            if (item.second.type == EntryType::symlink && !is_hidden(item.first) &&
                graph_.owners(item.first).empty() && !chosen_.contains(item.first)) {
                links.push_back(&item);
            }
        }
        // A link may lead to another one.
        for (std::size_t before = links.size() + 1; links.size() < before;) {
            before = links.size();
            std::erase_if(links, [&](const Entries::value_type* link) {
                const auto target = chosen_.find(target_of(link->first, link->second));
                return target != chosen_.end() && target->second.type != EntryType::directory &&
                       chosen_.insert(*link).second;
            });
        }
    }

    /// Where a link leads, without following another one there.
    [[nodiscard]] std::string target_of(const std::string& path, const Entry& link) const {
        const fs::path target = fs::path(path).parent_path() / link.target;
        return resolve_in_tree(image_, target.lexically_normal().string(), false);
    }

    void add_parents() {
        Entry missing;
        missing.type = EntryType::directory;
        missing.mode = 0755;
        Entries parents{{"/", missing}};
        for (const auto& [path, entry] : chosen_) {
            for (std::size_t slash = path.rfind('/'); slash > 0;
                 slash = path.rfind('/', slash - 1)) {
                const std::string parent = path.substr(0, slash);
                const auto found = image_.entries.find(parent);
                if (!parents
                         .emplace(parent, found != image_.entries.end() ? found->second : missing)
                         .second) {
                    break;
                }
            }
        }
        chosen_.merge(parents);
    }

    const Tree& image_;
    const PackageGraph& graph_;
    const ToolNeeds& needs_;
    Entries chosen_;
    std::size_t packages_ = 0;
    /// packages whose libraries and interpreters were added
    std::set<Package> supplied_;
    /// a program because of which everything is there, or empty
    std::string strange_;
};

std::string digest_of(const Entries& entries) {
    Sha256 digest;
    for (const auto& [path, entry] : entries) {
        digest.update_field(path);
        digest.update_field(fmt::format("{} {:o} {} {}", static_cast<int>(entry.type), entry.mode,
                                        entry.uid, entry.gid));
        digest.update_field(entry.digest);
        digest.update_field(entry.target);
        digest.update_field(entry.capabilities);
    }
    return digest.hex();
}

}  // namespace

ToolRoot::ToolRoot(const Context& ctx, const Tree& image, const PackageGraph& graph,
                   const ToolNeeds& needs)
    // The time of all files, because programs compare it with theirs.
    : ctx_(ctx.at(unpacked_time)), name_(needs.name) {
    tree_.entries = Choice(image, graph, needs).take(ctx_.log);
    digest_ = digest_of(tree_.entries);
}

void ToolRoot::add(std::string_view path, const Entry& entry) {
    put_entry(tree_, path, entry);
}

void ToolRoot::mount() {
    const std::lock_guard lock(mutex_);
    if (place_) {
        return;
    }
    Workplace& place = place_.emplace(ctx_, name_);
    try {
        place.mount(ctx_, tree_.entries);
        tree_.root = place.root();
        tree_.upper = place.upper();
        // The image's own ld.so.cache has the libraries of all packages.
        if (find_entry(tree_, "/sbin/ldconfig") != nullptr) {
            run_ldconfig(ctx_, tree_);
        }
    } catch (...) {
        tree_.root.clear();
        place_.reset();
        throw;
    }
}

ProcessResult ToolRoot::run(SandboxCommand command) {
    mount();
    command.root = tree_.root;
    return run_in_sandbox(ctx_, command);
}

void ToolRoot::sync() {
    sync_tree(ctx_, tree_);
}

}  // namespace edgegpu
