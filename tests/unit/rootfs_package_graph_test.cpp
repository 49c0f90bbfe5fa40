#include "rootfs/package_graph.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "packages_fixture.hpp"

namespace edgegpu::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Graph : public PackagesTest {};

TEST_F(Graph, KnowsWhoBringsAPathWhereverItsLinksLead) {
    package("filesystem", {}, {"/usr/bin/", "/bin -> usr/bin"});
    package("bash", {}, {"/bin/bash", "/usr/share/doc/"});
    package("other", {}, {"/usr/share/doc/"});
    const PackageGraph graph = unite_packages();
    EXPECT_THAT(graph.owners("/usr/bin/bash"), ElementsAre(1));
    EXPECT_THAT(graph.owners("/bin"), ElementsAre(0));
    EXPECT_THAT(graph.owners("/usr/share/doc"), ElementsAre(1, 2));
    EXPECT_THAT(graph.owners("/usr/bin/sh"), IsEmpty());
    EXPECT_THAT(graph.files(1), ElementsAre("/usr/bin/bash", "/usr/share/doc"));
}

TEST_F(Graph, FollowsRequirementsOfAllKinds) {
    package("filesystem", {}, {"/usr/bin/", "/bin -> usr/bin"});
    package("app", {"/bin/sh", "libz.so.1()(64bit)", "rpmlib(CompressedFileNames)", "nobody"},
            {"/usr/bin/app"});
    package("bash", {"(libtinfo.so.6()(64bit) if terminal)", "(data-a or data-b)"},
            {"/usr/bin/sh"});
    package("zlib", {}, {"/usr/lib64/libz.so.1"}, {"libz.so.1()(64bit)"});
    package("tinfo", {"bash"}, {"/usr/lib64/libtinfo.so.6"}, {"libtinfo.so.6()(64bit)"});
    package("data-a", {}, {"/usr/share/a"});
    package("data-b", {}, {"/usr/share/b"});
    package("unrelated", {"app"}, {"/usr/bin/unrelated"});
    const PackageGraph graph = unite_packages();
    EXPECT_THAT(graph.with_requirements({1}), ElementsAre(1, 2, 3, 4, 5, 6));
    EXPECT_THAT(graph.with_requirements({3}), ElementsAre(3));
    EXPECT_THAT(graph.libraries(1), ElementsAre(3));
    EXPECT_THAT(graph.libraries(2), ElementsAre(4));
    EXPECT_THAT(graph.required_paths(1), ElementsAre("/usr/bin/sh"));
}

TEST_F(Graph, AllWhoMeetARequirementAreTaken) {
    package("app", {"editor"}, {"/usr/bin/app"});
    package("vi", {}, {"/usr/bin/vi"}, {"editor"});
    package("ed", {}, {"/usr/bin/ed"}, {"editor"});
    EXPECT_THAT(unite_packages().with_requirements({0}), ElementsAre(0, 1, 2));
}

TEST(NoGraph, HasNothing) {
    const PackageGraph graph;
    EXPECT_THAT(graph.owners("/usr/bin/sh"), IsEmpty());
    EXPECT_THAT(graph.with_requirements({}), IsEmpty());
}

}  // namespace
}  // namespace edgegpu::test
