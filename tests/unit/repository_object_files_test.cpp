#include "repository/object_files.hpp"

#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "delta/static_delta.hpp"

namespace edgegpu {
namespace {

const std::string first_object = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
const std::string second_object =
    "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210";

/// The name of a delta's directory without "deltas/" and the slash.
std::string name_of_path(const std::string& path) {
    std::string name = path.substr(path.find('/') + 1);
    return name.erase(2, 1);
}

TEST(ObjectFiles, ADeltaIsKnownByTheNameOfItsDirectory) {
    for (const std::string& from : {first_object, std::string()}) {
        const std::string path = delta_path(from, second_object);
        const std::optional<DeltaDirectory> delta = delta_of_name(name_of_path(path));
        ASSERT_TRUE(delta) << path;
        EXPECT_EQ(delta->from, from);
        EXPECT_EQ(delta->to, second_object);
        EXPECT_EQ(delta->path, path);
        EXPECT_EQ(delta->name(), from.empty() ? second_object : from + '-' + second_object);
    }
}

TEST(ObjectFiles, OtherNamesAreNoDeltas) {
    const std::string good = name_of_path(delta_path(first_object, second_object));
    for (const std::string& name :
         {std::string(), std::string("-"), good.substr(1), good + 'A', good + '-' + good,
          good.substr(0, good.size() - 1) + '=', good.substr(0, good.size() - 1) + '.'}) {
        EXPECT_FALSE(delta_of_name(name)) << name;
    }
}

TEST(ObjectFiles, HaveTheNamesOfAnArchive) {
    EXPECT_EQ(object_file_name(OSTREE_OBJECT_TYPE_FILE, first_object),
              "01/" + first_object.substr(2) + ".filez");
    EXPECT_EQ(object_file_name(OSTREE_OBJECT_TYPE_COMMIT_META, first_object),
              "01/" + first_object.substr(2) + ".commitmeta");
}

}  // namespace
}  // namespace edgegpu
