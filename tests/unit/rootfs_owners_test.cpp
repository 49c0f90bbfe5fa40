#include "rootfs/owners.hpp"

#include <vector>

#include "hostile_root.hpp"
#include "image/image_root.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;
using test::ComposeHostile;

TEST_F(ComposeHostile, OwnersAreGivenInsideTheRoot) {
    put_entry(tree_, "/etc/passwd", file("daemon:x:12:12::/:/bin/sh\n"));
    put_entry(tree_, "/etc/group", file("daemon:x:12:\n"));
    put_entry(tree_, "/usr/share/x/key", file("a", 04755));
    put_entry(tree_, "/usr/share/key", file("a", 04755));
    remove_tree(tree_.root / "usr/share/x");
    link(outside_ / "etc", tree_.root / "usr/share/x");
    fs::remove(tree_.root / "usr/share/key");
    link(outside_ / "etc/key", tree_.root / "usr/share/key");
    const std::vector<NamedOwner> owners{{"/usr/share/x/key", "daemon", "daemon", "p"},
                                         {"/usr/share/key", "daemon", "daemon", "p"}};
    EXPECT_TRUE(apply_owners(fixture_.context, tree_, owners, false).empty());
    EXPECT_EQ(tree_.entries.at("/usr/share/key").uid, 12U);
    EXPECT_EQ(ImageRoot(tree_.root).status("/usr/share/key")->st_uid, 12U);  // the link itself
    // The accounts themselves are no file any more.
    fs::remove(tree_.root / "etc/passwd");
    link(outside_ / "etc/key", tree_.root / "etc/passwd");
    fs::remove(tree_.root / "etc/group");
    ASSERT_EQ(::mkfifo((tree_.root / "etc/group").c_str(), 0600), 0);
    EXPECT_EQ(apply_owners(fixture_.context, tree_, owners, true).size(), 2U);
}

}  // namespace
}  // namespace edgegpu
