#pragma once

#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "image/tree.hpp"

namespace edgegpu {

/// The file names that dracut's shell scripts speak of, taken from their text. A module asks for
/// programs by name (`require_binaries lvm`, `[[ -x /sbin/fsck.ext4 ]]`) or by pattern
/// (`/sbin/fsck*`, `"$unitdir/fsck@$x.service"`): where a name of the tree is none of these, it
/// makes no difference to dracut whether the file is there.
///
/// The text is taken word by word, comments and messages too, so that rather too much is counted
/// than too little: of a path its last component, with every variable, substitution and bracket in
/// it as `*`. What is not seen: names that a program prints or that are put together of pieces with
/// less than three letters in a row, and a listing of a directory that is named by variables alone.
class MentionedNames {
public:
    /// Adds the words of a shell script.
    void add_script(std::string_view text);
    /// Adds words without looking for patterns: rules of udev, in which patterns are for devices.
    void add_words(std::string_view text);
    /// Whether a script speaks of a file with this absolute path.
    [[nodiscard]] bool contains(std::string_view path) const;

private:
    void add(std::string_view text, bool with_patterns);
    void add_pattern(const std::string& path);

    std::unordered_set<std::string> words_;
    /// `*` is the only special character
    std::set<std::string> patterns_;
    /// ends of directories that are listed as a whole, "/usr/lib/extensions"
    std::set<std::string> directories_;
};

/// What the tree's dracut, with its modules and configuration, speaks of; and the rules of udev,
/// whose programs it copies.
[[nodiscard]] MentionedNames names_of_dracut(const Tree& tree);

}  // namespace edgegpu
