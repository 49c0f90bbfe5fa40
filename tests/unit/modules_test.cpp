#include "resolve/modules.hpp"

#include <gtest/gtest.h>

#include "support/error.hpp"

namespace edgegpu {
namespace {

ModuleStream stream(const std::string& name, const std::string& text, const std::string& version,
                    std::vector<std::string> artifacts = {}) {
    ModuleStream result;
    result.id = {name, text, version, "0000000000"};
    result.arch = "x86_64";
    result.artifacts = std::move(artifacts);
    return result;
}

StreamRequest request(const std::string& name, const std::string& text,
                      const std::string& version = "") {
    return {name, text, version, {"b.toml", 4, 1}};
}

TEST(Modules, NewestVersionOfARequestedStreamIsEnabled) {
    ModuleCatalogue catalogue;
    catalogue.streams = {stream("m", "1", "9", {"a-0:1-1.x86_64"}),
                         stream("m", "1", "10", {"a-0:2-1.x86_64"}),
                         stream("m", "2", "11", {"a-0:3-1.x86_64"})};
    const ModuleSelection selection = select_modules(catalogue, {request("m", "1")});
    ASSERT_EQ(selection.enabled.size(), 1U);
    EXPECT_EQ(selection.enabled[0].id.version, "10");
    EXPECT_TRUE(selection.included.contains("a-0:2-1.x86_64"));
    EXPECT_EQ(selection.excluded, (std::set<std::string>{"a-0:1-1.x86_64", "a-0:3-1.x86_64"}));
    EXPECT_EQ(selection.names, (std::set<std::string>{"a"}));
}

TEST(Modules, DocumentHoldingTheWantedVersionIsPreferred) {
    ModuleCatalogue catalogue;
    catalogue.streams = {stream("m", "1", "9", {"a-3:1.5-1.x86_64"}),
                         stream("m", "1", "10", {"a-3:1.6-1.x86_64"})};
    const ModuleSelection selection = select_modules(catalogue, {request("m", "1", "1.5")});
    EXPECT_EQ(selection.enabled.at(0).id.version, "9");
}

TEST(Modules, DefaultStreamIsEnabledUnlessAnotherIsRequested) {
    ModuleCatalogue catalogue;
    catalogue.streams = {stream("m", "1", "1"), stream("m", "2", "1")};
    catalogue.defaults["m"] = "1";
    EXPECT_EQ(select_modules(catalogue, {}).enabled.at(0).id.stream, "1");
    const ModuleSelection selection = select_modules(catalogue, {request("m", "2")});
    ASSERT_EQ(selection.enabled.size(), 1U);
    EXPECT_EQ(selection.enabled[0].id.stream, "2");
}

TEST(Modules, DependenciesAreEnabledToo) {
    ModuleCatalogue catalogue;
    catalogue.streams = {stream("app", "1", "1"), stream("lib", "a", "1"), stream("lib", "b", "1")};
    catalogue.streams[0].dependencies = {{{"platform", {"el9"}}, {"lib", {"-a"}}}};
    const ModuleSelection selection = select_modules(catalogue, {request("app", "1")});
    ASSERT_NE(selection.find("lib"), nullptr);
    EXPECT_EQ(selection.find("lib")->id.stream, "b");
}

TEST(Modules, ContradictingStreamsAreAnError) {
    ModuleCatalogue catalogue;
    catalogue.streams = {stream("app", "1", "1"), stream("lib", "a", "1"), stream("lib", "b", "1")};
    catalogue.streams[0].dependencies = {{{"lib", {"b"}}}};
    EXPECT_THROW((void)select_modules(catalogue, {request("lib", "a"), request("app", "1")}),
                 Error);
}

TEST(Modules, UnquotedStreamAndContextAreStrings) {
    ModuleReader reader("x86_64");
    reader.add(R"(---
document: modulemd
version: 2
data:
  name: m
  stream: 525
  version: 20240101000000
  context: 1234e56789
  arch: x86_64
  summary: s
  description: d
  license: {module: [MIT]}
...
)",
               "r", 99);
    const ModuleCatalogue catalogue = reader.take();
    ASSERT_EQ(catalogue.streams.size(), 1U);
    EXPECT_EQ(catalogue.streams[0].text(), "m:525:20240101000000:1234e56789");
}

TEST(Modules, BrokenYamlNamesTheRepository) {
    ModuleReader reader("x86_64");
    try {
        reader.add("---\ndocument: modulemd\nversion: 2\ndata: [", "extras", 99);
        FAIL() << "broken YAML was accepted";
    } catch (const Error& problem) {
        EXPECT_EQ(problem.kind(), ErrorKind::fetch);
        EXPECT_TRUE(problem.message().starts_with("repository 'extras': invalid modules metadata"))
            << problem.message();
    }
}

}  // namespace
}  // namespace edgegpu
