#include "kmods/dkms_conf.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error.hpp"

namespace edgegpu {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string failure_of(std::string_view text) {
    try {
        static_cast<void>(parse_dkms_conf(text, "p: /usr/src/p/dkms.conf"));
    } catch (const Error& problem) {
        return problem.message();
    }
    return "";
}

TEST(DkmsConf, ReadsNamesAndModules) {
    const DkmsConf conf = parse_dkms_conf(R"(# comment
PACKAGE_NAME="nvidia-open"
PACKAGE_VERSION=535.261.03   # the driver's
AUTOINSTALL="yes"
MAKE[0]="env NV_VERBOSE=1 make ${parallel_jobs+-j$parallel_jobs} modules KERNEL_UNAME=${kernelver}"
BUILT_MODULE_NAME[0]="nvidia"
DEST_MODULE_LOCATION[0]="/extra"
  BUILT_MODULE_NAME[1]='nvidia-modeset'
if true; then
    BUILT_MODULE_NAME[2]=nvidia-drm; DEST_MODULE_LOCATION[2]=/extra
fi
)",
                                          "p");
    EXPECT_EQ(conf.name, "nvidia-open");
    EXPECT_EQ(conf.version, "535.261.03");
    EXPECT_THAT(conf.modules, ElementsAre("nvidia", "nvidia-drm", "nvidia-modeset"));
}

TEST(DkmsConf, TakesTheInstalledNameOrThePackages) {
    EXPECT_THAT(parse_dkms_conf("PACKAGE_NAME=a\nPACKAGE_VERSION=1\nBUILT_MODULE_NAME[0]=b\n"
                                "DEST_MODULE_NAME[0]=c\n",
                                "p")
                    .modules,
                ElementsAre("c"));
    EXPECT_THAT(parse_dkms_conf("PACKAGE_NAME=a\nPACKAGE_VERSION=1\n", "p").modules,
                ElementsAre("a"));
}

TEST(DkmsConf, RefusesWhatIsNoPlainName) {
    EXPECT_EQ(failure_of("PACKAGE_VERSION=1\n"),
              "p: /usr/src/p/dkms.conf: PACKAGE_NAME '' is not a plain name");
    EXPECT_THAT(failure_of("PACKAGE_NAME=$(id)\nPACKAGE_VERSION=1\n"),
                HasSubstr("PACKAGE_NAME ''"));
    EXPECT_THAT(failure_of("PACKAGE_NAME=../x\nPACKAGE_VERSION=1\n"),
                HasSubstr("PACKAGE_NAME '../x'"));
    EXPECT_THAT(failure_of("PACKAGE_NAME=-m\nPACKAGE_VERSION=1\n"), HasSubstr("'-m'"));
    EXPECT_THAT(failure_of("PACKAGE_NAME=a\nPACKAGE_VERSION=\"1\n"), HasSubstr("PACKAGE_VERSION"));
    EXPECT_THAT(failure_of("PACKAGE_NAME=a\nPACKAGE_VERSION=1\nBUILT_MODULE_NAME[0]=../../x\n"),
                HasSubstr("BUILT_MODULE_NAME '../../x'"));
}

}  // namespace
}  // namespace edgegpu
