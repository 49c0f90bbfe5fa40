#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <rpm/header.h>
#include <sys/stat.h>

#include "customise_fixture.hpp"
#include "rootfs/import.hpp"
#include "rootfs/package_graph.hpp"
#include "rootfs/unite.hpp"
#include "rootfs/unpack.hpp"

namespace edgegpu::test {

/// A tree of packages that are made in memory, with contents as they are after unpacking.
class PackagesTest : public TreeTest {
protected:
    /// One path of a package: "/usr/bin/x" is a program, "/etc/x" another file, "/a -> b" a link,
    /// "/x/" a directory.
    [[nodiscard]] ImportedFile item(std::string_view text) const {
        ImportedFile file;
        file.user = file.group = "root";
        const std::size_t arrow = text.find(" -> ");
        file.path = text.substr(0, arrow);
        if (arrow != std::string_view::npos) {
            file.entry = link_to(text.substr(arrow + 4));
        } else if (text.ends_with('/')) {
            file.path.pop_back();
            file.entry.type = EntryType::directory;
            file.entry.mode = 0755;
        } else {
            const bool program = text.find("bin/") != std::string_view::npos;
            file.entry = make_file_entry(ctx, file.path, program ? 0755 : 0644);
            const std::array<struct timespec, 2> times{{{unpacked_time, 0}, {unpacked_time, 0}}};
            EXPECT_EQ(::utimensat(AT_FDCWD, file.entry.content.c_str(), times.data(), 0), 0);
            EXPECT_EQ(::chmod(file.entry.content.c_str(), file.entry.mode), 0);
        }
        return file;
    }

    /// Adds a package that requires and provides this, besides its name.
    void package(const std::string& name, const std::vector<std::string>& requires_these,
                 const std::vector<std::string_view>& files,
                 std::vector<std::string> provides = {}) {
        ImportedPackage made;
        made.nevra = {name, 0, "1", "1", "noarch"};
        for (const std::string_view file : files) {
            made.files.push_back(item(file));
        }
        made.header = RpmHeader(headerNew());
        provides.push_back(name);
        for (const std::string& word : provides) {
            headerPutString(made.header.get(), RPMTAG_PROVIDENAME, word.c_str());
        }
        for (const std::string& word : requires_these) {
            headerPutString(made.header.get(), RPMTAG_REQUIRENAME, word.c_str());
        }
        packages.push_back(std::move(made));
    }

    /// Puts the packages' files into the tree.
    PackageGraph unite_packages() {
        tree.entries = unite(packages).entries;
        return {packages, tree.entries};
    }

    std::vector<ImportedPackage> packages;
};

}  // namespace edgegpu::test
