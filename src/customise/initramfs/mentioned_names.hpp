#pragma once

#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "image/tree.hpp"

namespace edgegpu {

/// The file names that dracut's shell scripts mention, extracted from their text. A dracut module
/// looks for programs by name (`require_binaries lvm`, `[[ -x /sbin/fsck.ext4 ]]`) or by pattern
/// (`/sbin/fsck*`, `"$unitdir/fsck@$x.service"`): the existence of a file whose name is none of
/// these makes no difference to dracut.
///
/// Each word of the text counts, also in comments and messages, since a false match only costs a
/// run of dracut: of a path its last component, with `*` for every variable, substitution and
/// bracket expression. Not found: names that a program prints or that are assembled from pieces of
/// less than three letters, and listings of a directory that is named by variables alone.
class MentionedNames {
public:
    /// Adds the words of a shell script.
    void add_script(std::string_view text);
    /// Adds the words of a udev rule, but no patterns, which are for devices there.
    void add_words(std::string_view text);
    /// Whether the name of the file with this absolute path was mentioned, or its directory listed.
    [[nodiscard]] bool contains(std::string_view path) const;
    /// Whether the absolute path itself was mentioned by a script, also behind a variable
    /// ("${sysroot}/etc/x"), or fits a mentioned pattern of paths ("/etc/x/*.conf").
    [[nodiscard]] bool has_path(std::string_view path) const;

private:
    void add(std::string_view text, bool with_patterns);
    void add_pattern(const std::string& path);
    void add_path(std::string_view path);

    std::unordered_set<std::string> words_;
    /// `*` is the only special character
    std::set<std::string> patterns_;
    /// suffixes of directories that are listed as a whole, "/usr/lib/extensions"
    std::set<std::string> directories_;
    std::unordered_set<std::string> paths_;
    /// `*` is the only special character
    std::set<std::string> path_patterns_;
};

/// The names in the tree's dracut, its modules and configuration, and in udev rules, whose programs
/// it copies.
[[nodiscard]] MentionedNames names_of_dracut(const Tree& tree);

}  // namespace edgegpu
