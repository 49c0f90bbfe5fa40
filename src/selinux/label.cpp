#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <selinux/label.h>
#include <selinux/selinux.h>
#include <sys/stat.h>

#include "selinux/label_cache.hpp"
#include "selinux/selinux.hpp"
#include "selinux/store.hpp"
#include "support/digest.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/handles.hpp"
#include "support/parallel.hpp"
#include "support/terminal_text.hpp"

namespace edgegpu {

namespace fs = std::filesystem;
using namespace selinux;

namespace {

/// What libselinux reads besides the file it is given, with the same beginning. Compiled ".bin"
/// files are left out on purpose: the text is what everybody agrees on.
constexpr std::array<std::string_view, 5> context_suffixes{"", ".homedirs", ".local", ".subs",
                                                           ".subs_dist"};

/// The tree's file contexts as files for libselinux.
struct FileContexts {
    fs::path file;
    std::string digest;
};

FileContexts extract_contexts(const Context& ctx, const Tree& tree, const PolicyPaths& paths) {
    const std::string source = paths.policy + "/contexts/files/file_contexts";
    if (find_entry(tree, source) == nullptr) {
        throw error("the image's SELinux policy has no {}", source);
    }
    Sha256 digest;
    digest.update_field("labels 1");
    for (const std::string_view suffix : context_suffixes) {
        const Entry* entry = find_entry(tree, source + std::string(suffix));
        digest.update_field(entry == nullptr ? "" : entry->digest);
    }
    FileContexts result;
    result.digest = digest.hex();
    const fs::path directory = ctx.cache / "work" / ("contexts-" + result.digest);
    result.file = directory / "file_contexts";
    remove_tree(directory);
    make_directories(directory);
    for (const std::string_view suffix : context_suffixes) {
        const std::string path = source + std::string(suffix);
        if (find_entry(tree, path) != nullptr) {
            write_file(result.file.string() + std::string(suffix), read_entry(tree, path), 0644);
        }
    }
    return result;
}

using LabelHandle = Handle<selabel_handle, selabel_close>;

LabelHandle open_labels(const fs::path& file) {
    const std::string path = file.string();
    const selinux_opt option{SELABEL_OPT_PATH, path.c_str()};
    LabelHandle handle(selabel_open(SELABEL_CTX_FILE, &option, 1));
    if (!handle) {
        throw errno_error("the image's file_contexts cannot be read by libselinux", errno);
    }
    return handle;
}

int file_type(EntryType type) {
    switch (type) {
        case EntryType::directory:
            return S_IFDIR;
        case EntryType::symlink:
            return S_IFLNK;
        case EntryType::file:
            break;
    }
    return S_IFREG;
}

/// What the policy says; empty for "<<none>>".
std::string look_up(selabel_handle* handle, const std::string& path, EntryType type) {
    char* raw = nullptr;
    if (selabel_lookup_raw(handle, &raw, path.c_str(), file_type(type)) != 0) {
        if (errno == ENOENT) {
            return {};
        }
        throw errno_error("SELinux label of " + path, errno);
    }
    const Handle<char, freecon> context(raw);
    std::string label(context.get());
    if (label.empty() || label.find_first_of("\t\n ") != std::string::npos) {
        throw error("the policy's label '{}' of {} is not a security context", label, path);
    }
    return label;
}

/// The path that the policy speaks of: a device sees /usr/etc/x as /etc/x.
std::string policy_path(std::string_view path) {
    constexpr std::string_view prefix = "/usr/etc";
    if (path == prefix || path.starts_with("/usr/etc/")) {
        return std::string(path.substr(std::string_view("/usr").size()));
    }
    return std::string(path);
}

/// One entry whose label the cache does not know.
struct Unknown {
    std::string path;
    EntryType type = EntryType::file;
    std::string label;
};

constexpr std::string_view none = "<<none>>";

void look_up_all(const Context& ctx, const fs::path& contexts, std::vector<Unknown>& unknown) {
    constexpr std::size_t batch = 256;
    const std::size_t batches = (unknown.size() + batch - 1) / batch;
    const std::size_t workers = std::min<std::size_t>(std::max(1U, ctx.jobs), batches);
    std::atomic<std::size_t> next{0};
    std::atomic<std::size_t> done{0};
    // A handle is not thread-safe, and opening one takes as long as hundreds of look-ups.
    parallel_for(ctx, workers, [&](std::size_t) {
        const LabelHandle handle = open_labels(contexts);
        for (std::size_t at = next++; at < batches; at = next++) {
            ctx.check_cancelled();
            const std::size_t end = std::min(unknown.size(), (at + 1) * batch);
            for (std::size_t i = at * batch; i < end; ++i) {
                Unknown& item = unknown[i];
                item.label = look_up(handle.get(), item.path, item.type);
                if (item.label.empty()) {
                    item.label = none;
                }
            }
            const std::size_t now = done += end - at * batch;
            if (ctx.console != nullptr) {
                ctx.console->progress(now, unknown.size(), "labels");
            }
        }
    });
}

/// Links of the root directory into /var stand where the policy expects directories with private
/// types (user_home_dir_t, …). Every domain may read a link of the root directory's own type.
bool is_root_link(std::string_view path, const Entry& entry) {
    const std::string_view target = entry.target;
    return entry.type == EntryType::symlink && path.rfind('/') == 0 &&
           (target.starts_with("var/") || target.starts_with("/var/") ||
            target.starts_with("run/") || target.starts_with("/run/"));
}

/// Gives entries without a label (none in the policy) that of their directory. Parents come
/// first in the map's order, so one pass is enough.
std::size_t inherit_labels(Tree& tree) {
    const auto root = tree.entries.find("/");
    if (root == tree.entries.end() || root->second.label.empty()) {
        throw error("the image's SELinux policy has no label for /")
            .hinted("its file_contexts is incomplete; was selinux-policy installed whole?");
    }
    std::size_t inherited = 0;
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
                ++inherited;
            }
        }
    }
    return inherited;
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
    const FileContexts contexts = extract_contexts(ctx, tree, *paths);
    LabelCache cache(ctx, contexts.digest);
    std::vector<Unknown> unknown;
    std::vector<Entry*> waiting;
    for (auto& [path, entry] : tree.entries) {
        std::string wanted = policy_path(path);
        const std::string_view known = cache.find(entry.type, wanted);
        if (!known.empty()) {
            entry.label = known == none ? std::string_view() : known;
            continue;
        }
        unknown.push_back({std::move(wanted), entry.type, {}});
        waiting.push_back(&entry);
    }
    if (!unknown.empty()) {
        look_up_all(ctx, contexts.file, unknown);
        std::map<std::string, std::string> fresh;
        for (std::size_t i = 0; i < unknown.size(); ++i) {
            const Unknown& item = unknown[i];
            waiting[i]->label = item.label == none ? std::string() : item.label;
            fresh.emplace(LabelCache::key(item.type, item.path), item.label);
        }
        cache.add(ctx, fresh);
    }
    remove_tree(contexts.file.parent_path());
    const std::size_t inherited = inherit_labels(tree);
    if (inherited != 0 && ctx.console != nullptr) {
        ctx.console->note(fmt::format("{} without a label in the policy got that of the directory",
                                      counted(inherited, "path")));
    }
}

}  // namespace edgegpu
