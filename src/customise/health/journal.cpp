#include "customise/health/journal.hpp"

#include <string>
#include <string_view>
#include <vector>

#include "customise/health/systemd_settings.hpp"
#include "support/text/systemd_setting.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

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
    const auto apply = [&](const std::string& path) {
        if (const auto value =
                last_setting(text_of_file(tree, path).value_or(""), "Journal", "Storage")) {
            storage = value->empty() ? "auto" : *value;
        }
    };
    // The administrator's file replaces the distribution's.
    const std::string own = "/etc/systemd/journald.conf";
    apply(text_of_file(tree, own) ? own : "/usr/lib/systemd/journald.conf");
    for (const auto& [name, path] : drop_ins_of(tree, "journald.conf")) {
        apply(path);
    }
    return storage == "persistent" ||
           (storage == "auto" &&
            (find_entry(tree, "/var/log/journal") != nullptr || is_created_at_boot(tree)));
}

}  // namespace edgegpu
