#include "schema/kubernetes_version.hpp"

#include <gtest/gtest.h>

namespace edgegpu {

TEST(KubernetesVersion, OfMicroShift) {
    EXPECT_EQ(kubernetes_of_microshift("4.14"), KubernetesVersion{27});
    EXPECT_EQ(kubernetes_of_microshift("4.18.5-202503121212.p0.el9"), KubernetesVersion{31});
    EXPECT_EQ(kubernetes_of_microshift("4.20.0~rc.1"), KubernetesVersion{33});
    EXPECT_EQ(kubernetes_of_microshift("4.20.0")->text(), "1.33");
    for (const char* unknown : {"", "4", "4.", "4.x", "4.18x", "5.0.1", "3.11.0", "14.2", "4.-1",
                                "4.99999999999999999999", "4.4294967290"}) {
        EXPECT_FALSE(kubernetes_of_microshift(unknown)) << unknown;
    }
}

}  // namespace edgegpu
