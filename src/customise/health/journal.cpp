#include "customise/health/journal.hpp"

#include <array>
#include <map>
#include <string>

#include "support/text/text.hpp"

namespace edgegpu {

namespace {

/// The last value of `Storage=` in the section [Journal]; `before` without one.
std::string storage_in(std::string_view text, std::string before) {
    bool in_journal = false;
    for (const std::string_view raw : lines_of(text)) {
        const std::string_view line = trim(raw);
        if (line.starts_with('[')) {
            in_journal = line == "[Journal]";
        }
        const std::size_t equals = line.find('=');
        if (in_journal && equals != std::string_view::npos &&
            trim(line.substr(0, equals)) == "Storage") {
            const std::string_view value = trim(line.substr(equals + 1));
            before = value.empty() ? "auto" : std::string(value);
        }
    }
    return before;
}

bool is_regular(const Tree& tree, std::string_view path) {
    const Entry* const entry = find_entry(tree, path);
    return entry != nullptr && entry->type == EntryType::file;
}

/// Drop-ins of all directories, by name: one in /etc replaces that of the same name in /usr.
std::map<std::string, std::string> drop_ins(const Tree& tree) {
    std::map<std::string, std::string> found;
    for (const std::string directory :
         {"/usr/lib/systemd/journald.conf.d/", "/etc/systemd/journald.conf.d/"}) {
        for (const auto& [path, entry] : entries_below(tree.entries, directory)) {
            const std::string name = path.substr(directory.size());
            if (name.ends_with(".conf") && name.find('/') == std::string::npos) {
                found[name] = path;
            }
        }
    }
    return found;
}

/// Whether tmpfiles.d creates /var/log/journal: other types only change what is there.
bool is_created_at_boot(const Tree& tree) {
    for (const std::string_view directory : {"/usr/lib/tmpfiles.d", "/etc/tmpfiles.d"}) {
        for (const auto& [path, entry] : entries_below(tree.entries, directory)) {
            if (entry.type != EntryType::file || !path.ends_with(".conf")) {
                continue;
            }
            const std::string text = read_entry(tree, path);
            for (const std::string_view line : lines_of(text)) {
                const std::vector<std::string_view> words = words_of(line);
                if (words.size() >= 2 &&
                    std::string_view("dDvqQ").find(words[0][0]) != std::string_view::npos &&
                    is_below(words[1], "/var/log/journal")) {
                    return true;
                }
            }
        }
    }
    return false;
}

}  // namespace

bool has_persistent_journal(const Tree& tree) {
    std::string storage = "auto";
    for (const std::string_view file :
         {"/usr/lib/systemd/journald.conf", "/etc/systemd/journald.conf"}) {
        if (is_regular(tree, file)) {
            storage =
                storage_in(read_entry(tree, file), file.starts_with("/etc") ? "auto" : storage);
        }
    }
    for (const auto& [name, path] : drop_ins(tree)) {
        if (is_regular(tree, path)) {
            storage = storage_in(read_entry(tree, path), storage);
        }
    }
    return storage == "persistent" ||
           (storage == "auto" &&
            (find_entry(tree, "/var/log/journal") != nullptr || is_created_at_boot(tree)));
}

}  // namespace edgegpu
