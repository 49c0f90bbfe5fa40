#include "compose/accounts.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <set>

#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "support/error.hpp"
#include "support/file.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

using Numbers = std::map<std::string, std::uint32_t, std::less<>>;

std::string_view take_until(std::string_view& text, char end) {
    const std::size_t at = std::min(text.find(end), text.size());
    const std::string_view part = text.substr(0, at);
    text.remove_prefix(std::min(at + 1, text.size()));
    return part;
}

/// The file as scriptlets left it; empty where there is none.
Numbers read_numbers(const Tree& tree, std::string_view path) {
    const fs::path real = tree.root / resolve_in_tree(tree, path).substr(1);
    std::error_code code;
    Numbers numbers;
    if (fs::is_regular_file(fs::symlink_status(real, code))) {
        numbers = parse_numbers(read_file(real));
    }
    numbers.emplace("root", 0);
    return numbers;
}

void change_owner(const fs::path& path, const Entry& entry) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) {
        return;  // A %pre scriptlet removed it; sync_tree will see that.
    }
    if (::lchown(path.c_str(), entry.uid, entry.gid) != 0) {
        throw errno_error(path.string(), errno);
    }
    if (entry.type == EntryType::symlink) {
        return;
    }
    if (::chmod(path.c_str(), entry.mode) != 0 ||
        (!entry.capabilities.empty() &&
         ::lsetxattr(path.c_str(), "security.capability", entry.capabilities.data(),
                     entry.capabilities.size(), 0) != 0)) {
        throw errno_error(path.string(), errno);
    }
}

}  // namespace

Numbers parse_numbers(std::string_view file) {
    Numbers numbers;
    while (!file.empty()) {
        std::string_view line = take_until(file, '\n');
        const std::string_view name = take_until(line, ':');
        take_until(line, ':');
        const std::string_view number = take_until(line, ':');
        std::uint32_t value = 0;
        const auto [end, code] =
            std::from_chars(number.data(), number.data() + number.size(), value);
        if (!name.empty() && !number.empty() && code == std::errc() &&
            end == number.data() + number.size()) {
            numbers.emplace(name, value);
        }
    }
    return numbers;
}

std::vector<std::string> apply_owners(const Context& ctx, Tree& tree,
                                      const std::vector<NamedOwner>& owners,
                                      bool only_if_complete) {
    const Numbers users = read_numbers(tree, "/etc/passwd");
    const Numbers groups = read_numbers(tree, "/etc/group");
    std::set<std::string> missing;
    for (const NamedOwner& owner : owners) {
        if (!users.contains(owner.user)) {
            missing.insert("user " + owner.user);
        }
        if (!groups.contains(owner.group)) {
            missing.insert("group " + owner.group);
        }
    }
    std::vector<std::string> names(missing.begin(), missing.end());
    if (only_if_complete && !names.empty()) {
        return names;
    }
    std::set<std::string> told;
    for (const NamedOwner& owner : owners) {
        const auto user = users.find(owner.user);
        const auto group = groups.find(owner.group);
        Entry& entry = tree.entries.at(owner.path);
        entry.uid = user != users.end() ? user->second : 0;
        entry.gid = group != groups.end() ? group->second : 0;
        if (user == users.end() || group == groups.end()) {
            entry.mode &= ~06000U;
            if (told.insert(owner.package).second) {
                ctx.console->warn_of("owners that do not exist in the image, root is used instead",
                                     fmt::format("{}:{} of {} (package {})", owner.user,
                                                 owner.group, owner.path, owner.package));
            }
        }
        change_owner(tree.root / owner.path.substr(1), entry);
    }
    return names;
}

}  // namespace edgegpu
