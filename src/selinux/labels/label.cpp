#include "selinux/labels/label.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "execution/parallel.hpp"
#include "selinux/labels/file_contexts.hpp"
#include "selinux/store/store.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace fs = std::filesystem;
using namespace selinux;

namespace {

/// Suffixes of the files that FileContexts reads.
constexpr std::array<std::string_view, 5> context_suffixes{"", ".homedirs", ".local", ".subs",
                                                           ".subs_dist"};

FileContexts read_contexts(const Context& ctx, const Tree& tree, const PolicyPaths& paths) {
    const std::string source = paths.policy + "/contexts/files/file_contexts";
    if (find_entry(tree, source) == nullptr) {
        throw error("the image's SELinux policy has no {}", source);
    }
    const fs::path directory = ctx.work() / "contexts";
    remove_tree(directory);
    make_directories(directory);
    for (const std::string_view suffix : context_suffixes) {
        const std::string path = source + std::string(suffix);
        if (find_entry(tree, path) != nullptr) {
            write_file(directory / ("file_contexts" + std::string(suffix)), read_entry(tree, path),
                       0644);
        }
    }
    FileContexts contexts(directory / "file_contexts");
    remove_tree(directory);
    return contexts;
}

/// The label in the policy; empty for "<<none>>".
std::string look_up(const FileContexts& contexts, const std::string& path, EntryType type) {
    std::string label = contexts.look_up(path, type);
    if (label.find_first_of("\t\n ") != std::string::npos) {
        throw error("the policy's label '{}' of {} is not a security context", label, path);
    }
    return label;
}

/// The path for which the policy has a context: on a device, /usr/etc/x is /etc/x.
std::string policy_path(std::string_view path) {
    constexpr std::string_view prefix = "/usr/etc";
    if (path == prefix || path.starts_with("/usr/etc/")) {
        return std::string(path.substr(std::string_view("/usr").size()));
    }
    return std::string(path);
}

void look_up_all(const Context& ctx, const FileContexts& contexts, Tree& tree) {
    constexpr std::size_t batch = 1024;
    std::vector<std::pair<const std::string*, Entry*>> all;
    all.reserve(tree.entries.size());
    for (auto& [path, entry] : tree.entries) {
        all.emplace_back(&path, &entry);
    }
    parallel_for(ctx, (all.size() + batch - 1) / batch, [&](std::size_t number) {
        const std::size_t end = std::min(all.size(), (number + 1) * batch);
        for (std::size_t i = number * batch; i < end; ++i) {
            const auto [path, entry] = all[i];
            entry->label = look_up(contexts, policy_path(*path), entry->type);
        }
    });
}

/// Whether it is a link in the root directory to /var or /run, which the policy expects to be a
/// directory with a private type (user_home_dir_t, …). It gets the type of the root directory, so
/// that all domains may read the link.
bool is_root_link(std::string_view path, const Entry& entry) {
    const std::string_view target = entry.target;
    return entry.type == EntryType::symlink && path.rfind('/') == 0 &&
           (target.starts_with("var/") || target.starts_with("/var/") ||
            target.starts_with("run/") || target.starts_with("/run/"));
}

/// A path without a label in the policy, and the type of its directory.
struct Inherited {
    std::string path;
    std::string type;
};

/// The type in a label "user:role:type:level".
std::string_view type_in(std::string_view label) {
    const std::vector<std::string_view> parts = split(label, ':');
    return parts.size() > 2 ? parts[2] : label;
}

/// Labels entries without a label in the policy like their directory; returns them. One pass is
/// enough: parents come first.
std::vector<Inherited> inherit_labels(Tree& tree) {
    const auto root = tree.entries.find("/");
    if (root == tree.entries.end() || root->second.label.empty()) {
        throw error("the image's SELinux policy has no label for /")
            .hinted(
                "its file_contexts is incomplete: are all packages of selinux-policy installed?");
    }
    std::vector<Inherited> inherited;
    for (auto& [path, entry] : tree.entries) {
        if (is_root_link(path, entry)) {
            entry.label = root->second.label;
        }
        std::string_view parent = path;
        while (entry.label.empty()) {
            parent = parent.substr(0, parent.rfind('/'));
            const auto found = tree.entries.find(parent.empty() ? std::string_view("/") : parent);
            if (found != tree.entries.end() && !found->second.label.empty()) {
                entry.label = found->second.label;
                inherited.push_back({path, std::string(type_in(entry.label))});
            }
        }
    }
    return inherited;
}

std::string inherited_text(const std::vector<Inherited>& all) {
    if (all.size() == 1) {
        return fmt::format("the policy has no label for {}: it gets its directory's, {}",
                           all.front().path, all.front().type);
    }
    constexpr std::size_t most = 5;
    std::vector<std::string> shown;
    for (const Inherited& one : all) {
        if (shown.size() < most) {
            shown.push_back(fmt::format("{} ({})", one.path, one.type));
        }
    }
    return fmt::format("the policy has no label for {} paths: each gets its directory's: {}{}",
                       all.size(), fmt::join(shown, ", "),
                       all.size() > most ? fmt::format(" and {} more", all.size() - most) : "");
}

}  // namespace

void label_tree(const Context& ctx, Tree& tree) {
    const std::optional<PolicyPaths> paths = find_policy(tree);
    if (!paths) {
        if (ctx.console != nullptr) {
            ctx.console->warn("the image has no SELinux policy: nothing is labelled");
        }
        return;
    }
    look_up_all(ctx, read_contexts(ctx, tree, *paths), tree);
    const std::vector<Inherited> inherited = inherit_labels(tree);
    if (!inherited.empty() && ctx.console != nullptr) {
        ctx.console->note(inherited_text(inherited));
    }
}

}  // namespace edgegpu
