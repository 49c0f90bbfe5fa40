#include <cstdio>
#include <string_view>

#include <gtest/gtest.h>

#include "compose/rpmdb_process.hpp"
#include "sandbox/user_namespace.hpp"
#include "support/error.hpp"

/// Tests run where a build runs, with the image's owners, unless they are only listed.
int main(int argc, char** argv) {
    if (const auto status = edgegpu::serve_as_rpmdb_process(argc, argv)) {
        return *status;
    }
    bool only_list = false;
    for (int i = 1; i < argc; ++i) {
        only_list = only_list || std::string_view(argv[i]) == "--gtest_list_tests";
    }
    ::testing::InitGoogleTest(&argc, argv);
    if (!only_list) {
        try {
            edgegpu::enter_build_namespace();
        } catch (const edgegpu::Error& failure) {
            std::fputs(failure.render().c_str(), stderr);
            return 1;
        }
    }
    return RUN_ALL_TESTS();
}
