#include "compose/var_to_tmpfiles.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "image/account_files.hpp"
#include "support/error.hpp"
#include "support/text/deployed_path.hpp"
#include "support/text/text.hpp"
#include "support/tmpfiles_line.hpp"

namespace edgegpu {

namespace {

constexpr std::size_t shown_files = 10;

using Strings = std::vector<std::string>;

/// The tree's tmpfiles.d files below `directory`, in the order of their names.
Strings configuration_files(const Tree& tree, const std::string& directory) {
    Strings files;
    for (const auto& [path, literal] : entries_below(tree.entries, directory)) {
        const Entry* entry = find_entry(tree, path);
        if (path.ends_with(".conf") && entry != nullptr && entry->type == EntryType::file) {
            files.push_back(path);
        }
    }
    return files;
}

/// Where the lines C and L without an argument find what they copy or refer to.
std::string factory_path(const std::string& path) {
    return "/usr/share/factory" + path;
}

/// Paths that the image's own tmpfiles.d files create, of whatever type: these take precedence. For
/// each the path with the content that devices get there, or "".
std::map<std::string, std::string> read_claimed(const Tree& tree) {
    std::map<std::string, std::string> claimed;
    for (const char* directory : {"/usr/lib/tmpfiles.d/", "/etc/tmpfiles.d/"}) {
        for (const std::string& file : configuration_files(tree, directory)) {
            const std::string content = read_entry(tree, file);
            for (const std::string_view line : lines_of(content)) {
                const std::optional<TmpfilesLine> parsed = parse_tmpfiles_line(line);
                std::optional<std::string> path =
                    parsed ? without_specifiers(parsed->path) : std::nullopt;
                if (!path || !path->starts_with('/')) {
                    continue;
                }
                const char type = parsed->type[0];
                if (path->size() > 1 && path->ends_with('/')) {
                    path->pop_back();
                }
                // Other types change or remove existing paths.
                if (std::string_view("dDvqQLfFCpcb").find(type) == std::string_view::npos) {
                    continue;
                }
                std::string source;
                if (type == 'C' || type == 'L') {
                    source = parsed->argument.empty()
                                 ? factory_path(*path)
                                 : without_specifiers(parsed->argument).value_or("");
                }
                claimed.emplace(std::move(*path), std::move(source));
            }
        }
    }
    return claimed;
}

std::string account_name(const std::map<std::uint32_t, std::string>& names, std::uint32_t id) {
    const auto found = names.find(id);
    if (found != names.end()) {
        return found->second;
    }
    return id == 0 ? "root" : std::to_string(id);
}

/// Puts a copy of the file at `path` below /usr/share/factory; returns its path there.
std::string put_factory(Tree& tree, const std::string& path, const Entry& entry) {
    std::string factory = factory_path(path);
    const Entry* old = find_entry(tree, factory);
    if (old != nullptr && (old->type != EntryType::file || old->digest != entry.digest)) {
        throw error("{} belongs at {} in a commit, and the image has another there", path, factory);
    }
    put_entry(tree, factory, entry);
    return factory;
}

/// Whether devices get the file's content at its path from what an own line of the image names
/// (read_claimed); where a line expects it in the factory and nothing is there, it is put there.
bool is_kept(Tree& tree, const std::string& path, const Entry& entry, const std::string& source) {
    if (source == factory_path(path) && find_entry(tree, source) == nullptr) {
        put_factory(tree, path, entry);
    }
    const Entry* other = source.starts_with('/') ? find_entry(tree, source) : nullptr;
    return entry.size == 0 || (other != nullptr && other->digest == entry.digest);
}

/// Warns about regular files; `what` follows their number.
void report(const Context& ctx, const Strings& files, std::string_view what) {
    if (files.empty() || ctx.console == nullptr) {
        return;
    }
    std::string list;
    for (std::size_t i = 0; i < files.size() && i < shown_files; ++i) {
        list += fmt::format("{}{}", i == 0 ? "" : ", ", files[i]);
    }
    if (files.size() > shown_files) {
        list += fmt::format(" and {} more", files.size() - shown_files);
    }
    ctx.console->warn(fmt::format("{} regular file{} in /var: {}: {}", files.size(),
                                  files.size() == 1 ? "" : "s", what, list));
}

bool is_mount_or_made_anyway(std::string_view path) {
    return path == "/var" || path == "/run";
}

}  // namespace

void move_var_to_tmpfiles(const Context& ctx, Tree& tree) {
    const auto users = account_names(read_accounts(tree, "/etc/passwd"));
    const auto groups = account_names(read_accounts(tree, "/etc/group"));
    const std::map<std::string, std::string> claimed = read_claimed(tree);

    Entries taken = take_subtree(tree.entries, "/run");
    taken.merge(take_subtree(tree.entries, "/var"));

    std::string lines = "# What the image's packages have in /var and /run: created at boot.\n";
    Strings files;
    Strings lost;
    for (const auto& [path, entry] : taken) {
        const std::string place = tmpfiles_path(path);
        const std::string user = account_name(users, entry.uid);
        const std::string group = account_name(groups, entry.gid);
        if (is_mount_or_made_anyway(path)) {
            continue;
        }
        if (const auto own = claimed.find(path); own != claimed.end()) {
            if (entry.type == EntryType::file && !is_kept(tree, path, entry, own->second)) {
                lost.push_back(path);
            }
            continue;
        }
        if (entry.type == EntryType::directory) {
            lines += fmt::format("d {} {:04o} {} {} -\n", place, entry.mode, user, group);
        } else if (entry.type == EntryType::symlink) {
            lines += fmt::format("L {} - - - - {}\n", place, tmpfiles_argument(entry.target));
        } else if (entry.type == EntryType::file) {
            const std::string factory = put_factory(tree, path, entry);
            lines += fmt::format("C {} {:04o} {} {} - {}\n", place, entry.mode, user, group,
                                 tmpfiles_argument(factory));
            files.push_back(path);
        }
    }
    put_entry(tree, var_configuration, make_file_entry(ctx, lines, 0644));
    report(ctx, files, "devices get a copy at first boot, updates do not change it");
    report(ctx, lost,
           "left out, because lines of tmpfiles.d make the same paths with other content, those of "
           "packages or those that copy /etc/skel to a new home");
}

void redirect_tmpfiles(const Context& ctx, Tree& tree) {
    for (const std::string& file : configuration_files(tree, "/usr/lib/tmpfiles.d/")) {
        const std::string before = read_entry(tree, file);
        std::string after;
        for (const std::string_view line : lines_of(before)) {
            const std::optional<TmpfilesLine> parsed = parse_tmpfiles_line(line);
            const std::string deployed = parsed ? deployed_path(parsed->path) : std::string();
            if (parsed && deployed != parsed->path) {
                after +=
                    fmt::format("{} {}{}\n", parsed->type, tmpfiles_field(deployed), parsed->rest);
            } else {
                after += fmt::format("{}\n", line);
            }
        }
        if (after != before && after != before + "\n") {
            const std::string real = resolve_in_tree(tree, file);
            const Entry old = tree.entries.at(real);
            tree.entries[real] = make_file_entry(ctx, after, old.mode);
        }
    }
}

}  // namespace edgegpu
