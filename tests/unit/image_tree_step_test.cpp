#include "image/tree_step.hpp"

#include <gtest/gtest.h>

#include "support/error.hpp"

namespace edgegpu {
namespace {

TEST(TreeStepTest, WhatAStepReadsIsBeforeIt) {
    std::string done;
    const TreeStep users{"users", {}, {"/etc/passwd"}, [&] { done += "u"; }};
    const TreeStep files{"files", {"users"}, {"/"}, [&] { done += "f"; }};
    const TreeStep check{"check", {"users", "files"}, {}, [&] { done += "c"; }};
    run_in_order({users, files, check});
    EXPECT_EQ(done, "ufc");
    EXPECT_EQ(order_problem({files, users, check}), "files reads users, which is not before it");
    EXPECT_EQ(order_problem({users, check, files}), "check reads files, which is not before it");
    EXPECT_THROW(run_in_order({users, check, files}), Error);
    EXPECT_EQ(done, "ufc") << "nothing runs in a wrong order";
}

}  // namespace
}  // namespace edgegpu
