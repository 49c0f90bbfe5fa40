#include "selinux/store.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image/image_root.hpp"
#include "support/error.hpp"
#include "support/file.hpp"

namespace edgegpu::selinux {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view etc_selinux = "/etc/selinux";

std::string_view trim(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) {
        return {};
    }
    return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

/// Value of the last "KEY = VALUE" line, or nothing.
std::optional<std::string> config_value(const std::string& text, std::string_view key) {
    std::optional<std::string> value;
    std::string_view rest = text;
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        const std::string_view line = trim(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
        const std::size_t equals = line.find('=');
        if (equals != std::string_view::npos && trim(line.substr(0, equals)) == key) {
            value = std::string(trim(line.substr(equals + 1)));
        }
    }
    return value;
}

bool is_plain_name(std::string_view name) {
    return !name.empty() && name.front() != '.' &&
           std::all_of(name.begin(), name.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '_' || c == '-' || c == '.';
           });
}

bool below(std::string_view path, std::string_view directory) {
    return path.starts_with(directory) &&
           (path.size() == directory.size() || path[directory.size()] == '/');
}

/// semanage.conf with its store-root set to /etc/selinux.
std::string with_store_in_etc(const std::string& text) {
    std::string result;
    std::string_view rest = text;
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        const std::string_view line = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        const std::string_view key = trim(line.substr(0, std::min(line.find('='), line.size())));
        if (key != "store-root") {
            result.append(line).append("\n");
        }
    }
    return result + "store-root=/etc/selinux\n";
}

}  // namespace

std::optional<PolicyPaths> find_policy(const Tree& tree) {
    const std::string_view etc =
        find_entry(tree, "/etc/selinux/config") != nullptr ? "/etc" : "/usr/etc";
    const std::string config = fmt::format("{}/selinux/config", etc);
    if (find_entry(tree, config) == nullptr) {
        return std::nullopt;
    }
    PolicyPaths paths;
    paths.type = config_value(read_entry(tree, config), "SELINUXTYPE").value_or("targeted");
    if (!is_plain_name(paths.type)) {
        throw error("/etc/selinux/config: SELINUXTYPE '{}' is not the name of a policy",
                    paths.type);
    }
    paths.policy = fmt::format("{}/selinux/{}", etc, paths.type);
    const std::string semanage = fmt::format("{}/selinux/semanage.conf", etc);
    std::string root = "/var/lib/selinux";
    if (find_entry(tree, semanage) != nullptr) {
        root = config_value(read_entry(tree, semanage), "store-root").value_or(root);
    }
    if (!root.starts_with('/') || fs::path(root).lexically_normal() != root ||
        root.find("..") != std::string::npos) {
        throw error("/etc/selinux/semanage.conf: store-root '{}' is not a plain path", root);
    }
    paths.store_root = root;
    paths.store = root + "/" + paths.type;
    return paths;
}

std::set<ModuleId> stored_modules(const Tree& tree, const PolicyPaths& paths) {
    std::set<ModuleId> result;
    const std::string prefix = paths.store + "/active/modules/";
    for (auto it = tree.entries.lower_bound(prefix);
         it != tree.entries.end() && it->first.starts_with(prefix); ++it) {
        const std::string_view rest = std::string_view(it->first).substr(prefix.size());
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

StoreCopy::StoreCopy(const Context& ctx, const Tree& tree, const PolicyPaths& paths)
    : paths_(paths) {
    make_directories(ctx.cache / "work");
    std::string pattern = (ctx.cache / "work" / "policy-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) {
        throw errno_error(pattern, errno);
    }
    directory_ = pattern;
    make_writable_directory(place(std::string(etc_selinux)));
    make_writable_directory(place(paths_.store_root));
    make_writable_directory(place(paths_.store_root + "/final"));
    make_writable_directory(place(paths_.store_root + "/final/" + paths_.type));
    for (const auto& [path, entry] : tree.entries) {
        if (!below(path, etc_selinux) && !below(path, paths_.store_root)) {
            continue;
        }
        ctx.check_cancelled();
        const fs::path target = place(path);
        if (entry.type == EntryType::directory) {
            make_directories(target);
        } else if (entry.type == EntryType::symlink) {
            fs::create_symlink(entry.target, target);
        } else {
            fs::copy_file(entry.content, target);
        }
        if (::lchown(target.c_str(), 0, 0) != 0 ||
            (entry.type != EntryType::symlink && ::chmod(target.c_str(), entry.mode) != 0)) {
            throw errno_error(target.string(), errno);
        }
    }
}

StoreCopy::~StoreCopy() {
    std::error_code ignored;
    fs::remove_all(directory_, ignored);
}

fs::path StoreCopy::place(const std::string& image_path) const {
    if (below(image_path, etc_selinux)) {
        return directory_ / "etc" / fs::path(image_path).lexically_relative(etc_selinux);
    }
    return directory_ / "store" / fs::path(image_path).lexically_relative(paths_.store_root);
}

std::vector<std::pair<fs::path, std::string>> StoreCopy::binds() const {
    std::vector<std::pair<fs::path, std::string>> result{
        {directory_ / "etc", std::string(etc_selinux)}};
    if (!below(paths_.store_root, etc_selinux)) {
        result.emplace_back(directory_ / "store", paths_.store_root);
    }
    return result;
}

fs::path StoreCopy::binary_policy() const {
    const fs::path directory = place(paths_.policy + "/policy");
    fs::path newest;
    int newest_version = -1;
    std::error_code code;
    for (const auto& item : fs::directory_iterator(directory, code)) {
        const std::string name = item.path().filename().string();
        constexpr std::string_view prefix = "policy.";
        int version = 0;
        if (name.starts_with(prefix) &&
            std::from_chars(name.data() + prefix.size(), name.data() + name.size(), version).ec ==
                std::errc{} &&
            version > newest_version) {
            newest = item.path();
            newest_version = version;
        }
    }
    if (newest.empty()) {
        throw error("the image has no binary policy in {}/policy", paths_.policy);
    }
    return newest;
}

PolicyResult StoreCopy::collect(const Context& ctx, const Tree& tree) const {
    PolicyResult result;
    result.type = paths_.type;
    const auto scan = [&](const fs::path& from, const std::string& to) {
        for (auto it = fs::recursive_directory_iterator(from);
             it != fs::recursive_directory_iterator(); ++it) {
            const std::string name = it->path().filename().string();
            const std::string relative = it->path().lexically_relative(from).string();
            if (relative == "final" || relative.starts_with("final/") || name.ends_with(".LOCK")) {
                continue;
            }
            const std::string path = to + "/" + relative;
            struct stat status {};
            if (::lstat(it->path().c_str(), &status) != 0) {
                throw errno_error(it->path().string(), errno);
            }
            Entry entry;
            if (S_ISREG(status.st_mode)) {
                entry = make_file_entry_from(ctx, it->path(), status.st_mode & 07777U);
            } else if (S_ISDIR(status.st_mode)) {
                entry.type = EntryType::directory;
                entry.mode = status.st_mode & 07777U;
            } else if (S_ISLNK(status.st_mode)) {
                entry.type = EntryType::symlink;
                entry.mode = 0777;
                entry.target = fs::read_symlink(it->path()).string();
            } else {
                throw error("{}: the policy transaction left a special file", path);
            }
            result.entries[path] = std::move(entry);
        }
    };
    scan(directory_ / "etc", std::string(etc_selinux));
    if (!below(paths_.store_root, etc_selinux)) {
        scan(directory_ / "store", std::string(etc_selinux));
        const std::string conf = "/etc/selinux/semanage.conf";
        const auto old = result.entries.find(conf);
        const std::string text =
            old == result.entries.end() ? std::string() : read_file(place(conf));
        result.entries[conf] = make_file_entry(ctx, with_store_in_etc(text), 0644);
        result.removed.push_back(paths_.store_root);
    }
    for (const auto& [path, entry] : tree.entries) {
        if (below(path, etc_selinux) && path != etc_selinux && !result.entries.contains(path)) {
            result.removed.push_back(path);
        }
    }
    return result;
}

}  // namespace edgegpu::selinux
