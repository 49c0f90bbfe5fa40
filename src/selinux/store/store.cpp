#include "selinux/store/store.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/assignments.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/handles.hpp"
#include "support/text/text.hpp"

namespace edgegpu::selinux {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view etc_selinux = "/etc/selinux";
/// Limit of the copy's size in bytes: about 20 times that of existing policies.
constexpr std::uint64_t store_limit = 1024U << 20U;
constexpr std::uint64_t largest_conf = 1U << 20U;

/// What a file of the image sets a key to, or else `otherwise`.
std::string setting_of(const Tree& tree, const std::string& path, std::string_view key,
                       const std::string& otherwise) {
    const auto values = read_assignments(read_entry(tree, path));
    const auto found = values.find(key);
    return found != values.end() ? found->second : otherwise;
}

bool is_plain_name(std::string_view name) {
    return !name.empty() && name.front() != '.' && std::ranges::all_of(name, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '-' || c == '.';
    });
}

fs::path new_directory(const fs::path& path) {
    make_directories(path);
    return path;
}

}  // namespace

std::string with_setting(const std::string& conf, std::string_view key, std::string_view value) {
    std::string result;
    for (const std::string_view line : lines_of(conf)) {
        if (trim(line.substr(0, std::min(line.find('='), line.size()))) != key) {
            result.append(line).append("\n");
        }
    }
    return result + fmt::format("{}={}\n", key, value);
}

std::optional<PolicyPaths> find_policy(const Tree& tree) {
    const std::string_view etc =
        find_entry(tree, "/etc/selinux/config") != nullptr ? "/etc" : "/usr/etc";
    const std::string config = fmt::format("{}/selinux/config", etc);
    if (find_entry(tree, config) == nullptr) {
        return std::nullopt;
    }
    PolicyPaths paths;
    paths.type = setting_of(tree, config, "SELINUXTYPE", "targeted");
    if (!is_plain_name(paths.type)) {
        throw error("/etc/selinux/config: SELINUXTYPE '{}' is not the name of a policy",
                    paths.type);
    }
    paths.policy = fmt::format("{}/selinux/{}", etc, paths.type);
    const std::string semanage = fmt::format("{}/selinux/semanage.conf", etc);
    std::string root = "/var/lib/selinux";
    if (find_entry(tree, semanage) != nullptr) {
        root = setting_of(tree, semanage, "store-root", root);
    }
    if (!root.starts_with('/') || fs::path(root).lexically_normal() != root ||
        root.find("..") != std::string::npos) {
        throw error("/etc/selinux/semanage.conf: store-root '{}' is not a plain path", root);
    }
    if (root == "/" || (root != etc_selinux && is_below(etc_selinux, root))) {
        // The bind mount there would contain that of /etc/selinux.
        throw error("/etc/selinux/semanage.conf: store-root '{}' contains /etc/selinux itself",
                    root);
    }
    paths.store_root = root;
    paths.store = root + "/" + paths.type;
    return paths;
}

std::set<ModuleId> stored_modules(const Tree& tree, const PolicyPaths& paths) {
    std::set<ModuleId> result;
    const std::string prefix = paths.store + "/active/modules/";
    for (const auto& [path, entry] : entries_below(tree.entries, prefix)) {
        const std::string_view rest = std::string_view(path).substr(prefix.size());
        const std::size_t slash = rest.find('/');
        int priority = 0;
        if (slash == std::string_view::npos || rest.find('/', slash + 1) != rest.npos ||
            std::from_chars(rest.data(), rest.data() + slash, priority).ec != std::errc{}) {
            continue;
        }
        result.emplace(priority, std::string(rest.substr(slash + 1)));
    }
    return result;
}

StoreDirectory::StoreDirectory(const Context& ctx) {
    // No name that differs from build to build: programs of the image can read it.
    make_directories(ctx.visible());
    for (int number = 0; path_.empty(); ++number) {
        const fs::path path = ctx.visible() / fmt::format("policy-{}", number);
        if (::mkdir(path.c_str(), 0700) == 0) {
            path_ = path;
        } else if (errno != EEXIST) {
            throw errno_error(path.string(), errno);
        }
    }
}

StoreDirectory::~StoreDirectory() {
    try {
        remove_tree(path_);
    } catch (const Error&) {
        // The next build clears work/.
    }
}

StoreCopy::StoreCopy(const Context& ctx, const Tree& tree, const PolicyPaths& paths)
    : ctx_(ctx), paths_(paths), scratch_(ctx), root_(new_directory(scratch_.path() / "root")) {
    for (const std::string_view top : {etc_selinux, std::string_view(paths_.store_root)}) {
        root_.make_directories(top);
    }
    for (const auto& [path, entry] : tree.entries) {
        if (!is_below(path, etc_selinux) && !is_below(path, paths_.store_root)) {
            continue;
        }
        ctx.check_cancelled();
        const bool top = path == etc_selinux || path == paths_.store_root;
        if (top && entry.type != EntryType::directory) {
            throw error("{} of the image: not a directory", path)
                .hinted(
                    "it must contain the image's SELinux policy and its modules: a package or a "
                    "scriptlet replaced it");
        }
        if (entry.type == EntryType::directory) {
            root_.make_directory(path, {0, 0, entry.mode, {}});
        } else if (entry.type == EntryType::symlink) {
            root_.make_link(path, entry.target);
        } else if (entry.size > policy_limit) {
            throw error("{} of the image: {} bytes are too large for a file of a policy", path,
                        entry.size);
        } else {
            const Fd content(::open(entry.content.c_str(), O_RDONLY | O_CLOEXEC));
            if (!content) {
                throw errno_error(entry.content.string(), errno);
            }
            root_.copy_in(path, content.get(), {0, 0, entry.mode, {}});
        }
    }
    // libsemanage does not create these directories.
    root_.make_directories(fmt::format("{}/final/{}", paths_.store_root, paths_.type));
}

std::vector<std::pair<fs::path, std::string>> StoreCopy::binds() const {
    // Programs in the sandbox cannot replace these directories: they are mount points, and their
    // parents belong to the builder.
    const auto bind = [&](std::string_view path) {
        return std::pair(scratch_.path() / "root" / path.substr(1), std::string(path));
    };
    std::vector<std::pair<fs::path, std::string>> result{bind(etc_selinux)};
    if (!is_below(paths_.store_root, etc_selinux)) {
        result.push_back(bind(paths_.store_root));
    }
    return result;
}

PolicyDb StoreCopy::binary_policy() const {
    const std::string directory = paths_.policy + "/policy";
    const std::string newest = newest_policy(
        root_.has_directory(directory) ? root_.list(directory) : std::vector<std::string>());
    if (newest.empty()) {
        throw error("the image has no binary policy in {}", directory);
    }
    const std::string path = fmt::format("{}/{}", directory, newest);
    return {ctx_, root_.read(path, policy_limit), path + " of the image"};
}

PolicyResult StoreCopy::collect(const Context& ctx, const Tree& tree) const {
    PolicyResult result;
    result.type = paths_.type;
    std::uint64_t total = 0;
    const auto scan = [&](const std::string& from) {
        root_.walk(from, [&](const std::string& found, const struct stat& status) {
            const std::string relative = found.substr(from.size() + 1);
            if (relative == "final" || relative.starts_with("final/") ||
                relative.ends_with(".LOCK")) {
                return;
            }
            ctx.check_cancelled();
            Entry entry;
            if (S_ISREG(status.st_mode)) {
                const std::string content = root_.read(found, policy_limit, LastLink::not_followed);
                total += content.size();
                if (total > store_limit) {
                    throw error("{}: the policy transaction left more than {} MiB", from,
                                store_limit >> 20U);
                }
                entry = make_file_entry(ctx, content, status.st_mode & 07777U);
            } else if (S_ISDIR(status.st_mode)) {
                entry.type = EntryType::directory;
                entry.mode = status.st_mode & 07777U;
            } else if (S_ISLNK(status.st_mode)) {
                entry = link_to(root_.read_link(found));
            } else {
                throw error("{}: the policy transaction left a special file", found);
            }
            result.entries[fmt::format("{}/{}", etc_selinux, relative)] = std::move(entry);
        });
    };
    scan(std::string(etc_selinux));
    if (!is_below(paths_.store_root, etc_selinux)) {
        scan(paths_.store_root);
        const std::string conf = "/etc/selinux/semanage.conf";
        const std::string text =
            root_.status(conf) ? root_.read(conf, largest_conf, LastLink::not_followed) : "";
        result.entries[conf] =
            make_file_entry(ctx, with_setting(text, "store-root", etc_selinux), 0644);
        result.removed.push_back(paths_.store_root);
    }
    for (const auto& [path, entry] : entries_below(tree.entries, etc_selinux)) {
        if (!result.entries.contains(path)) {
            result.removed.push_back(path);
        }
    }
    return result;
}

}  // namespace edgegpu::selinux
