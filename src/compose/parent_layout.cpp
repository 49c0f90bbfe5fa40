#include "compose/parent_layout.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compose/var_to_tmpfiles.hpp"
#include "image/account_files.hpp"
#include "support/error.hpp"
#include "support/text/deployed_path.hpp"
#include "support/text/number.hpp"
#include "support/text/text.hpp"
#include "support/tmpfiles_line.hpp"

namespace edgegpu {

namespace {

const Entry* entry_at(const Tree& tree, const std::string& path, EntryType type) {
    const auto found = tree.entries.find(path);
    return found == tree.entries.end() || found->second.type != type ? nullptr : &found->second;
}

/// Moves a directory to where nothing, a link or a directory is.
void move_back(Tree& tree, const std::string& from, const std::string& to) {
    if (entry_at(tree, from, EntryType::directory) == nullptr) {
        return;
    }
    Entries moved = take_subtree(tree.entries, from);
    if (entry_at(tree, to, EntryType::directory) == nullptr) {
        tree.entries.erase(to);
    }
    for (auto& [path, entry] : moved) {
        tree.entries.emplace(to + path.substr(from.size()), std::move(entry));
    }
}

/// The rows of /usr/lib and those of /etc, which take precedence, in the order in which
/// `split_accounts` found them.
void join_accounts(const Context& ctx, Tree& tree, const std::string& name) {
    const std::string base = "/usr/lib/" + name;
    const std::string own = "/etc/" + name;
    const AccountFile shipped = read_accounts(tree, base);
    const AccountFile local = read_accounts(tree, own);
    AccountFile joined;
    bool complete = true;
    for (const AccountFile::Row& row : shipped.rows) {
        const AccountFile::Row* mine = local.find(row.front());
        complete = complete && mine != nullptr;
        joined.rows.push_back(mine != nullptr ? *mine : row);
    }
    for (const AccountFile::Row& row : local.rows) {
        if (shipped.find(row.front()) == nullptr) {
            joined.rows.push_back(row);
        }
    }
    if (!complete) {
        const Entry* old = find_entry(tree, own);
        Entry entry = make_file_entry(ctx, joined.text(), old != nullptr ? old->mode : 0644);
        if (old != nullptr) {
            entry.uid = old->uid;
            entry.gid = old->gid;
        }
        put_entry(tree, own, entry);
    }
    tree.entries.erase(base);
}

/// Puts into /var and /run what lines of tmpfiles.d(5) make there.
class VarContent {
public:
    explicit VarContent(Tree& tree)
        : tree_(tree),
          users_(parse_numbers(text_of("/etc/passwd"))),
          groups_(parse_numbers(text_of("/etc/group"))) {}

    /// `copies`: the lines C, too, which `move_var_to_tmpfiles` has made of files.
    void add(const std::string& file, bool copies) {
        const std::string text = read_entry(tree_, file);
        for (const std::string_view line : lines_of(text)) {
            const std::optional<TmpfilesLine> parsed = parse_tmpfiles_line(line);
            if (parsed && parsed->path.starts_with(copies ? "/" : "/var/")) {
                add_line(*parsed, copies);
            }
        }
    }

private:
    [[nodiscard]] std::string text_of(const char* path) const {
        return find_entry(tree_, path) == nullptr ? std::string() : read_entry(tree_, path);
    }

    /// Whether its directory is there, and no link: nothing that no line names is made.
    [[nodiscard]] bool has_parent(const std::string& path) const {
        return entry_at(tree_, path.substr(0, path.rfind('/')), EntryType::directory) != nullptr;
    }

    void add_line(const TmpfilesLine& line, bool copies) {
        std::optional<std::string> path = without_specifiers(line.path);
        if (path && path->size() > 1 && path->ends_with('/')) {
            path->pop_back();
        }
        if (!path || tree_.entries.contains(*path) || (!copies && !has_parent(*path))) {
            return;
        }
        const char type = line.type.front();
        Entry entry;
        if (std::string_view("dDvqQ").find(type) != std::string_view::npos) {
            entry = directory_entry(0755);
        } else if (type == 'L' && !line.argument.empty()) {
            const std::optional<std::string> target = without_specifiers(line.argument);
            if (target) {
                put_entry(tree_, *path, link_to(*target));
            }
            return;
        } else if (type == 'C' && copies && !line.argument.empty()) {
            const std::optional<std::string> source = without_specifiers(line.argument);
            const Entry* factory = source ? find_entry(tree_, *source) : nullptr;
            if (factory == nullptr || factory->type != EntryType::file) {
                return;
            }
            entry = *factory;
        } else {
            return;
        }
        entry.mode = whole_number<unsigned>(line.mode, 8).value_or(entry.mode) & 07777U;
        entry.uid = number_of(line.user, users_);
        entry.gid = number_of(line.group, groups_);
        put_entry(tree_, *path, entry);
    }

    using Numbers = std::map<std::string, std::uint32_t, std::less<>>;
    static std::uint32_t number_of(std::string_view name, const Numbers& numbers) {
        const auto found = numbers.find(name);
        return found != numbers.end() ? found->second
                                      : whole_number<std::uint32_t>(name).value_or(0);
    }

    Tree& tree_;
    Numbers users_;
    Numbers groups_;
};

void fill_var(Tree& tree) {
    VarContent content(tree);
    const std::string own(var_configuration);
    if (tree.entries.contains(own)) {
        content.add(own, true);
        tree.entries.erase(own);
    }
    std::vector<std::string> files;
    for (const auto& [path, entry] : entries_below(tree.entries, "/usr/lib/tmpfiles.d")) {
        if (path.ends_with(".conf") && entry.type == EntryType::file) {
            files.push_back(path);
        }
    }
    // Twice, as a directory may be in another file than what is in it.
    for (int pass = 0; pass < 2; ++pass) {
        for (const std::string& file : files) {
            content.add(file, false);
        }
    }
}

/// Directories of "/" with nothing but directories: the parent has those that a commit has anyway,
/// and those on which its devices mount file systems.
std::vector<std::string> empty_directories(const Entries& entries) {
    std::map<std::string, bool> tops;
    for (const auto& [path, entry] : entries) {
        const auto top = tops.try_emplace(path.substr(0, path.find('/', 1)), true).first;
        top->second = top->second && entry.type == EntryType::directory;
    }
    std::vector<std::string> empty;
    for (const auto& [path, only_directories] : tops) {
        if (only_directories) {
            empty.push_back(path);
        }
    }
    return empty;
}

}  // namespace

void undo_layout(const Context& ctx, Tree& tree) {
    if (entry_at(tree, "/usr/etc", EntryType::directory) == nullptr) {
        throw Error("the parent has no /usr/etc: it is not the commit of an ostree system");
    }
    if (!entries_below(tree.entries, "/etc").empty()) {
        throw Error("the parent has both /etc and /usr/etc");
    }
    tree.mount_points = empty_directories(tree.entries);
    move_back(tree, "/usr/etc", "/etc");
    join_accounts(ctx, tree, "passwd");
    join_accounts(ctx, tree, "group");
    for (const MovedDirectory& moved : moved_directories) {
        if (entry_at(tree, std::string(moved.path), EntryType::symlink) != nullptr) {
            tree.entries[std::string(moved.path)] =
                directory_entry(moved.path == "/root" ? 0700 : 0755);
        }
    }
    fill_var(tree);
    move_back(tree, "/usr/lib/opt", "/opt");
    move_back(tree, "/usr/lib/alternatives", "/var/lib/alternatives");
    erase_subtree(tree.entries, "/usr/lib/sysimage/rpm-ostree-base-db");
    for (auto at = tree.entries.begin(); at != tree.entries.end();) {
        if (at->first.starts_with("/usr/lib/modules/") && at->first.ends_with("/initramfs.img")) {
            tree.parent_initramfs = std::move(at->second);
            at = tree.entries.erase(at);
        } else {
            ++at;
        }
    }
}

}  // namespace edgegpu
