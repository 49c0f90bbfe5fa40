#include "compose/rpmdb.hpp"

#include "compose/rpmdb_process.hpp"
#include "support/error.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

/// Puts a link to the database's directory at `path`, where the package rpm may have a directory.
void link_database(Tree& tree, const std::string& path, const std::string& target) {
    const std::string real = resolve_in_tree(tree, path, false);
    const auto at = tree.entries.find(real);
    if (at != tree.entries.end() && at->second.type == EntryType::directory) {
        for (const auto& [child, entry] : entries_below(tree.entries, real)) {
            if (entry.type != EntryType::directory) {
                throw error("a package contains {}, where the rpmdb has to be written", child);
            }
        }
        remove_entry(tree, real);
    }
    put_entry(tree, path, link_to(target));
}

}  // namespace

PackageDatabase write_rpmdb(const Context& ctx, const std::vector<ImportedPackage>& packages,
                            const fs::path& scratch, const std::vector<std::string>& installed) {
    run_rpmdb_process(ctx, installed, packages, scratch);
    return {scratch, {sqlite_database}};
}

void install_rpmdb(const Context& ctx, Tree& tree, const PackageDatabase& database) {
    remove_entry(tree, "/usr/share/rpm");
    Entry directory;
    directory.type = EntryType::directory;
    directory.mode = 0755;
    put_entry(tree, "/usr/share/rpm", directory);
    for (const std::string& name : database.files) {
        put_entry(tree, "/usr/share/rpm/" + name,
                  make_file_entry_from(ctx, database.directory / name, 0644));
    }
    link_database(tree, "/usr/lib/sysimage/rpm", "../../share/rpm");
    link_database(tree, "/var/lib/rpm", "../../usr/share/rpm");
}

}  // namespace edgegpu
