#include "resolve/modules/modules.hpp"

#include <gtest/gtest.h>

#include "blueprint/module_spec.hpp"
#include "resolve/modules/modules_lost.hpp"
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
    // Older versions of the stream stay within reach.
    EXPECT_TRUE(selection.included.contains("a-0:1-1.x86_64"));
    EXPECT_EQ(selection.excluded, (std::set<std::string>{"a-0:3-1.x86_64"}));
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
               "r");
    const ModuleCatalogue catalogue = reader.take();
    ASSERT_EQ(catalogue.streams.size(), 1U);
    EXPECT_EQ(catalogue.streams[0].text(), "m:525:20240101000000:1234e56789");
}

TEST(Modules, BrokenYamlNamesTheRepository) {
    ModuleReader reader("x86_64");
    try {
        reader.add("---\ndocument: modulemd\nversion: 2\ndata: [", "extras");
        FAIL() << "broken YAML was accepted";
    } catch (const Error& problem) {
        EXPECT_EQ(problem.kind(), ErrorKind::fetch);
        EXPECT_TRUE(problem.message().starts_with("repository 'extras': invalid modules metadata"))
            << problem.message();
    }
}

/// A document of m; one whose `buildorder` is `order` can be read if that is a number of 64 bits.
std::string document(const std::string& text, const std::string& version,
                     const std::string& order = "1") {
    return "---\ndocument: modulemd\nversion: 2\ndata:\n  name: m\n  stream: \"" + text +
           "\"\n  version: " + version +
           "\n  context: c0ffee00\n  arch: x86_64\n  summary: s\n  description: >-\n    two\n"
           "    lines\n  license: {module: [MIT]}\n  components:\n    rpms:\n      m:\n"
           "        rationale: r\n        buildorder: " +
           order + "\n  artifacts:\n    rpms:\n    - m-0:" + text + "." + version +
           "-1.x86_64\n...\n";
}

constexpr const char* too_large = "18446744073709551615";

ModuleCatalogue read(const std::string& yaml) {
    ModuleReader reader("x86_64");
    reader.add(yaml, "r");
    return reader.take();
}

TEST(LostModules, OneDocumentThatCannotBeReadCostsNoOther) {
    const ModuleCatalogue catalogue =
        read(document("1", "1") + document("1", "2", too_large) + document("2", "3"));
    EXPECT_EQ(catalogue.streams.size(), 2U);
    ASSERT_EQ(catalogue.lost.size(), 1U);
    const LostDocument& lost = catalogue.lost[0];
    EXPECT_EQ(lost.kind, LostDocument::Kind::stream);
    EXPECT_EQ(lost.id.stream, "1");
    EXPECT_EQ(lost.artifacts, std::vector<std::string>{"m-0:1.2-1.x86_64"});
    EXPECT_EQ(lost.line, 24U);
    EXPECT_TRUE(
        lost.text().starts_with("repository 'r', modules.yaml line 24: the document of "
                                "module m:1 (version 2) cannot be read: "))
        << lost.text();
}

TEST(LostModules, KeysThatAreListsOrMappings) {
    const std::optional<LostDocument> lost = read_lost_document(
        "? {document: modulemd-defaults}\n: {document: modulemd-defaults}\n"
        "document: modulemd\n"
        "data:\n  ? [a]\n  : c\n  ? {module: no}\n  : [d]\n  module: m\n  ? [b]\n  stream: s\n");
    ASSERT_TRUE(lost);
    EXPECT_EQ(lost->kind, LostDocument::Kind::stream);
    EXPECT_EQ(lost->id.name, "m");
    EXPECT_EQ(lost->id.stream, "s");
}

TEST(LostModules, ManyScalarsDeepInside) {
    constexpr std::size_t depth = 900;
    std::string yaml = "data:\n  deep: " + std::string(depth, '[');
    for (std::size_t i = 0; i < 20000; ++i) {
        yaml += "x,";
    }
    yaml += std::string(depth, ']') + "\n  name: m\n";
    const std::optional<LostDocument> lost = read_lost_document(yaml);
    ASSERT_TRUE(lost);
    EXPECT_EQ(lost->id.name, "m");
}

TEST(LostModules, LinesAreThoseOfTheFileWhateverItsLineEnds) {
    std::string yaml =
        "\xEF\xBB\xBF" + document("1", "1") + "\n# nothing\n" + document("1", "2", too_large);
    for (std::size_t at = 0; (at = yaml.find('\n', at)) != std::string::npos; at += 2) {
        yaml.replace(at, 1, "\r\n");
    }
    const ModuleCatalogue catalogue = read(yaml);
    EXPECT_EQ(catalogue.streams.size(), 1U);
    ASSERT_EQ(catalogue.lost.size(), 1U);
    EXPECT_EQ(catalogue.lost[0].line, 26U);
}

TEST(LostModules, TypesThatNobodyKnowsAreLeftOut) {
    const ModuleCatalogue catalogue =
        read("---\ndocument: modulemd-riddle\nversion: 1\ndata: {}\n...\n---\nfoo: bar\n...\n" +
             document("1", "1"));
    EXPECT_EQ(catalogue.streams.size(), 1U);
    ASSERT_EQ(catalogue.lost.size(), 2U);
    EXPECT_EQ(catalogue.lost[0].kind, LostDocument::Kind::other);
}

TEST(LostModules, WhatIsNoYamlEndsTheRepository) {
    for (const std::string& yaml :
         {document("1", "1") + "---\ndocument: modulemd\ndata: [\n...\n",
          document("1", "1") + std::string("---\ndocument: modulemd\n\0x: y\n", 29),
          document("1", "1") + "---\n\tdocument: modulemd\n"}) {
        try {
            (void)read(yaml);
            ADD_FAILURE() << yaml;
        } catch (const Error& failure) {
            EXPECT_EQ(failure.kind(), ErrorKind::fetch);
            EXPECT_TRUE(failure.message().starts_with(
                "repository 'r': invalid modules metadata: the document at line 24 of "))
                << failure.message();
        }
    }
}

TEST(LostModules, AStreamThatIsAskedForIsAnErrorWhereItsNewestDocumentIsLost) {
    const ModuleCatalogue catalogue = read(document("1", "1") + document("1", "2", too_large));
    try {
        (void)select_modules(catalogue, {request("m", "1")});
        FAIL() << "an older document was taken silently";
    } catch (const Error& failure) {
        EXPECT_EQ(failure.message(), "the newest document of module m:1 cannot be read");
        ASSERT_EQ(failure.traces().size(), 2U);
        EXPECT_EQ(failure.traces()[1], "requested at b.toml:4:1");
    }
}

TEST(LostModules, AnOlderDocumentIsNoLoss) {
    const ModuleCatalogue catalogue = read(document("1", "1", too_large) + document("1", "2"));
    EXPECT_EQ(select_modules(catalogue, {request("m", "1")}).enabled.at(0).id.version, "2");
}

TEST(LostModules, APackageThatOnlyTheLossShowsIsAnError) {
    const ModuleCatalogue catalogue = read(document("1", "1") + document("2", "2", too_large));
    const ModuleSelection selection = select_modules(catalogue, {});
    EXPECT_THROW(refuse_changed_by_loss(catalogue, selection, {{"m", "m-0:2.2-1.x86_64"}}), Error);
    EXPECT_NO_THROW(refuse_changed_by_loss(catalogue, selection, {{"m", "m-0:9-1.x86_64"}}));
}

TEST(LostModules, PackagesThatTheLostDefaultStreamWouldHideAreAnError) {
    const ModuleCatalogue catalogue =
        read(document("1", "1", too_large) +
             "---\ndocument: modulemd-defaults\nversion: 1\ndata:\n  module: m\n  stream: \"1\"\n");
    const ModuleSelection selection = select_modules(catalogue, {});
    EXPECT_THROW(refuse_changed_by_loss(catalogue, selection, {{"m", "m-0:9-1.x86_64"}}), Error);
    EXPECT_NO_THROW(refuse_changed_by_loss(catalogue, selection, {{"n", "n-0:9-1.x86_64"}}));
}

TEST(Modules, OlderVersionsOfAStreamAreEnabledWithIt) {
    const ModuleCatalogue catalogue = read(document("1", "1") + document("1", "2"));
    const ModuleSelection selection = select_modules(catalogue, {request("m", "1")});
    EXPECT_EQ(selection.enabled.at(0).id.version, "2");
    EXPECT_EQ(selection.active.size(), 2U);
    EXPECT_TRUE(selection.included.contains("m-0:1.1-1.x86_64"));
}

TEST(Modules, PlatformOfADistribution) {
    EXPECT_EQ(platform_of("rhel-9.4"), "el9");
    EXPECT_EQ(platform_of("centos-stream-9"), "el9");
    EXPECT_EQ(platform_of("fedora-40"), "f40");
    EXPECT_EQ(platform_of(""), "");
}

TEST(Modules, AStreamForAnotherPlatformIsAnError) {
    ModuleCatalogue catalogue;
    catalogue.streams = {stream("m", "1", "1")};
    catalogue.streams[0].dependencies = {{{"platform", {"el8"}}}};
    EXPECT_NO_THROW((void)select_modules(catalogue, {request("m", "1")}));
    catalogue.platform = "el9";
    EXPECT_THROW((void)select_modules(catalogue, {request("m", "1")}), Error);
    EXPECT_TRUE(select_modules(catalogue, {}).enabled.empty());
}

TEST(Modules, DefaultsThatContradictOneAnotherAreToldAndCountForNothing) {
    const std::string defaults =
        "---\ndocument: modulemd-defaults\nversion: 1\ndata:\n  module: m\n  stream: \"1\"\n"
        "  profiles:\n    \"1\": [";
    ModuleReader reader("x86_64");
    reader.add(document("1", "1") + defaults + "a]\n", "one");
    reader.add(defaults + "b]\n", "two");
    const ModuleCatalogue catalogue = reader.take();
    EXPECT_TRUE(catalogue.defaults.empty());
    ASSERT_EQ(catalogue.warnings.size(), 1U);
    EXPECT_TRUE(catalogue.warnings[0].starts_with("repository 'two': its default profiles"));
}

std::string spelled(const std::string& text) {
    const auto spec = parse_module_spec(text);
    return spec ? fmt::format("{}|{}|{}|{}|{}|{}", spec->name, spec->stream, spec->version,
                              spec->context, spec->arch, spec->profile)
                : "none";
}

TEST(ModuleSpec, SpellingsAreReadAsDnfReadsThem) {
    EXPECT_EQ(spelled("m"), "m|||||");
    EXPECT_EQ(spelled("m:1/p"), "m|1||||p");
    EXPECT_EQ(spelled("m/p"), "m|||||p");
    EXPECT_EQ(spelled("m:1:2:c:x86_64/p"), "m|1|2|c|x86_64|p");
    EXPECT_EQ(spelled("m:1:2:c::x86_64"), "m|1|2|c|x86_64|");
    EXPECT_EQ(spelled("m::x86_64/p"), "m||||x86_64|p");
    EXPECT_EQ(spelled("m:1::x86_64"), "m|1|||x86_64|");
    EXPECT_EQ(spelled("m:1/"), "m|1||||");
    EXPECT_EQ(spelled("m*:[!1]:20?"), "m*|[!1]|20?|||");
    for (const char* text : {"", "m:", "m:1:", "m:1:2:c:", "m:a:b", "/p", ":1", "m:1//p", "m@x",
                             "m:1^x", "m:1:2:c:x:y", "m:1/p:q", "::", "m::a::b"}) {
        EXPECT_EQ(spelled(text), "none") << text;
    }
}

}  // namespace
}  // namespace edgegpu
