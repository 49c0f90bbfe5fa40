#include "support/assignments.hpp"

#include <gtest/gtest.h>

namespace edgegpu {
namespace {

TEST(AssignmentsTest, AreReadAsShellsDo) {
    const auto values = read_assignments(
        "# comment = no\nID=\"rhel\"\nNAME='Red Hat Enterprise Linux'\nVERSION_ID = 9.4 \n"
        "PRETTY_NAME=\"a \\\"b\\\" \\$c\"\nno assignment\n=nothing\r\nEMPTY=\nID=fedora\r\n");
    EXPECT_EQ(values.at("ID"), "fedora") << "the last one counts, without the carriage return";
    EXPECT_EQ(values.at("NAME"), "Red Hat Enterprise Linux");
    EXPECT_EQ(values.at("VERSION_ID"), "9.4");
    EXPECT_EQ(values.at("PRETTY_NAME"), "a \"b\" $c");
    EXPECT_EQ(values.at("EMPTY"), "");
    EXPECT_FALSE(values.contains("# comment"));
    EXPECT_FALSE(values.contains("no assignment"));
}

TEST(AssignmentsTest, TakesAValueWithAnOddQuoteAsItIs) {
    EXPECT_EQ(assigned_value("A=it's\n", "A"), "it's");
    EXPECT_EQ(assigned_value("A=\"open\n", "A"), "\"open");
    EXPECT_EQ(assigned_value("A=1\n", "B"), "");
    EXPECT_EQ(assigned_value("", "B"), "");
}

}  // namespace
}  // namespace edgegpu
