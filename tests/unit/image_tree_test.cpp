#include "image/tree.hpp"

#include "hostile_root.hpp"
#include "support/error.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;
using test::ComposeHostile;

TEST_F(ComposeHostile, EntriesArePutInsideTheRoot) {
    put_entry(tree_, "/usr/share/x/a", file("a"));
    EXPECT_EQ(read_file(tree_.root / "usr/share/x/a"), "a");
    // A scriptlet turns the directory into a link, of which the tree knows nothing yet.
    remove_tree(tree_.root / "usr/share/x");
    link(outside_ / "etc", tree_.root / "usr/share/x");
    EXPECT_THROW(put_entry(tree_, "/usr/share/x/b", file("b")), Error);
    EXPECT_THROW(put_entry(tree_, "/usr/share/x/c/d", file("d")), Error);
    remove_entry(tree_, "/usr/share/x/key");
    // A directory where a link lies replaces the link.
    put_entry(tree_, "/usr/share/x", directory_entry(0755));
    EXPECT_TRUE(fs::is_directory(fs::symlink_status(tree_.root / "usr/share/x")));
    // A file where a link, a directory or a fifo lies.
    link(outside_ / "etc/key", tree_.root / "usr/share/x/key");
    put_entry(tree_, "/usr/share/x/key", file("mine", 0755));
    EXPECT_EQ(read_file(tree_.root / "usr/share/x/key"), "mine");
    fs::create_directories(tree_.root / "usr/share/y/z");
    put_entry(tree_, "/usr/share/y", file("y"));
    ASSERT_EQ(::mkfifo((tree_.root / "usr/share/fifo").c_str(), 0600), 0);
    put_entry(tree_, "/usr/share/fifo", file("f"));
    EXPECT_EQ(read_file(tree_.root / "usr/share/fifo"), "f");
}

}  // namespace
}  // namespace edgegpu
