#include "rootfs/owners.hpp"

#include <set>

#include "image/account_files.hpp"
#include "image/content.hpp"
#include "image/image_root.hpp"
#include "support/error.hpp"

namespace edgegpu {

namespace {

using Numbers = std::map<std::string, std::uint32_t, std::less<>>;

/// Name → number in passwd or group of the mounted root, if it has the file, and always of root.
Numbers read_numbers(const ImageRoot& root, std::string_view path) {
    constexpr std::uint64_t most = 64U << 20U;
    Numbers numbers;
    if (root.has_file(path)) {
        numbers = parse_numbers(root.read(path, most));
    }
    numbers.emplace("root", 0);
    return numbers;
}

}  // namespace

std::vector<std::string> apply_owners(const Context& ctx, Tree& tree,
                                      const std::vector<NamedOwner>& owners,
                                      bool only_if_complete) {
    const ImageRoot root(tree.root);
    const Numbers users = read_numbers(root, "/etc/passwd");
    const Numbers groups = read_numbers(root, "/etc/group");
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
        // A file that a %pre scriptlet removed is skipped here and handled by sync_tree.
        root.set_attributes(owner.path, attributes_of(entry));
    }
    return names;
}

}  // namespace edgegpu
