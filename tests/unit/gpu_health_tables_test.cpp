#include "gpu_health/tables/tables.hpp"

#include <fstream>
#include <set>
#include <stdexcept>

#include <gtest/gtest.h>

namespace edgegpu::gpu_health {
namespace {

std::string why_refused(const std::string& name, const std::string& text) {
    Tables tables;
    try {
        read_table(name, text, tables);
    } catch (const std::runtime_error& error) {
        EXPECT_TRUE(tables.messages.empty() && tables.xids.empty() && tables.nvml.empty());
        return error.what();
    }
    return "accepted";
}

const std::string head = "# xid 2026-11-29\n";

TEST(GpuHealthTablesTest, TheShippedOnesAreRead) {
    const Tables tables = shipped_tables();
    EXPECT_EQ(tables.date, "2026-11-29");
    EXPECT_GT(tables.messages.size(), 90U);
    EXPECT_EQ(tables.xids.at(79).verdict, "hardware");
    EXPECT_EQ(tables.xids.at(40).verdict, "application") << "a range";
    EXPECT_EQ(tables.nvml.at(18).verdict, "image");
    EXPECT_EQ(tables.nvml.at(999).verdict, "unclear");
    EXPECT_NE(tables.xids.at(63).source.find("SOURCES DISAGREE"), std::string::npos);
}

/// The first row whose piece fits counts: a piece that holds an earlier one would never be reached.
TEST(GpuHealthTablesTest, EveryMessageCanBeReached) {
    const Tables tables = shipped_tables();
    for (std::size_t later = 0; later < tables.messages.size(); ++later) {
        for (std::size_t earlier = 0; earlier < later; ++earlier) {
            EXPECT_EQ(tables.messages[later].piece.find(tables.messages[earlier].piece),
                      std::string::npos)
                << tables.messages[later].piece;
        }
    }
}

TEST(GpuHealthTablesTest, EveryRowSaysWhatToDoAndWhereItIsFrom) {
    const Tables tables = shipped_tables();
    for (const MessageRow& row : tables.messages) {
        EXPECT_FALSE(row.source.empty()) << row.piece;
        EXPECT_TRUE(row.verdict == "note" || !row.action.empty()) << row.piece;
        EXPECT_EQ(row.fault.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"),
                  std::string::npos)
            << row.fault;
    }
    for (const auto* codes : {&tables.xids, &tables.nvml}) {
        for (const auto& [code, row] : *codes) {
            EXPECT_FALSE(row.meaning.empty() || row.action.empty() || row.source.empty()) << code;
        }
    }
}

TEST(GpuHealthTablesTest, ANewerTableTakesThePlaceOfOne) {
    Tables tables = shipped_tables();
    const std::size_t messages = tables.messages.size();
    read_table("xid", "# xid 2027-01-31: newer\n79\tunclear\ta\tb\tc\r\n200-202\tnote\ta\tb\tc",
               tables);
    EXPECT_EQ(tables.xids.size(), 4U);
    EXPECT_EQ(tables.xids.at(79).verdict, "unclear");
    EXPECT_EQ(tables.xids.at(79).source, "c");
    EXPECT_EQ(tables.messages.size(), messages);
    EXPECT_EQ(tables.date, "2026-11-29, xid 2027-01-31");
}

TEST(GpuHealthTablesTest, RefusesWhatIsNoTable) {
    EXPECT_EQ(why_refused("sxid", head + "1\tnote\ta\tb\tc\n"), "there is no table \"sxid\"");
    EXPECT_EQ(why_refused("xid", ""), "line 0: the table has no rows");
    EXPECT_EQ(why_refused("xid", "79\tnote\ta\tb\tc\n"),
              "line 1: it is no comment with the date of the table");
    EXPECT_EQ(why_refused("xid", "# xid of yesterday\n"),
              "line 1: it is no comment with the date of the table");
    EXPECT_EQ(why_refused("xid", head), "line 1: the table has no rows");
    EXPECT_EQ(why_refused("xid", head + "79\tnote\ta\tb\n"), "line 2: it has 4 columns, not 5");
    EXPECT_EQ(why_refused("xid", head + "79\tred\ta\tb\tc\n"), "line 2: \"red\" is no verdict");
    EXPECT_EQ(why_refused("nvml", head + "9\tapplication\ta\tb\tc\n"),
              "line 2: \"application\" is no verdict");
    EXPECT_EQ(why_refused("xid", head + "-1\tnote\ta\tb\tc\n"),
              "line 2: \"-1\" is neither a number nor a range");
    EXPECT_EQ(why_refused("xid", head + "5-4\tnote\ta\tb\tc\n"),
              "line 2: \"5-4\" is neither a number nor a range");
    EXPECT_EQ(why_refused("xid", head + "0-999999999\tnote\ta\tb\tc\n"),
              "line 2: \"0-999999999\" is neither a number nor a range");
    EXPECT_EQ(why_refused("xid", head + "79\tnote\ta\tb\tc\n\n78-80\tnote\ta\tb\tc\n"),
              "line 4: 79 is in the table twice");
    EXPECT_EQ(why_refused("messages", head + "\timage\tfault\tb\tc\n"),
              "line 2: the piece of the message or the fault is empty");
    EXPECT_EQ(why_refused("xid", head + std::string(2000000, '#')),
              "line 1: the table is larger than a MiB");
    EXPECT_EQ(why_refused("xid", std::string("\0\0\0", 3)),
              "line 1: it is no comment with the date of the table");
}

/// A cell of a Markdown table.
std::string table_cell(const std::string& text) {
    std::string cell;
    for (const char c : text) {
        cell += c == '|' ? "\\|" : std::string(1, c);
    }
    return cell;
}

/// docs/gpu-health.md has each row of the tables: what operators read is what decides.
TEST(GpuHealthTablesTest, TheDocumentationHasTheSameTables) {
    std::ifstream file(std::string(EDGEGPU_SOURCE_DIR) + "/docs/gpu-health.md");
    ASSERT_TRUE(file);
    std::set<std::string> lines;
    for (std::string line; std::getline(file, line);) {
        lines.insert(line);
    }
    const Tables tables = shipped_tables();
    std::set<std::string> expected;
    for (const MessageRow& row : tables.messages) {
        expected.insert("| `" + table_cell(row.piece) + "` | " + row.verdict + " | " + row.fault +
                        " | " + table_cell(row.action) + " |");
    }
    for (const auto& [code, row] : tables.xids) {
        expected.insert("| Xid " + std::to_string(code) + " | " + row.verdict + " | " +
                        table_cell(row.meaning) + " | " + table_cell(row.action) + " |");
    }
    for (const auto& [code, row] : tables.nvml) {
        expected.insert("| NVML " + std::to_string(code) + " | " + row.verdict + " | " +
                        table_cell(row.meaning) + " | " + table_cell(row.action) + " |");
    }
    for (const std::string& line : expected) {
        EXPECT_EQ(lines.count(line), 1U) << "docs/gpu-health.md lacks\n" << line;
    }
    for (const std::string& line : lines) {
        if (line.starts_with("| Xid ") || line.starts_with("| NVML ")) {
            EXPECT_EQ(expected.count(line), 1U) << "no table has\n" << line;
        }
    }
}

}  // namespace
}  // namespace edgegpu::gpu_health
