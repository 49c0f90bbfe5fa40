#include "resolve/explain/explain.hpp"

#include "unit/explain_fixture.hpp"

namespace edgegpu {
namespace {

using test::Explain;

TEST_F(Explain, StreamNotEnabled) {
    expect_golden("stream-not-enabled",
                  "[[enabled_modules]]\nname = \"nodejs\"\nstream = \"18\"\n\n[[packages]]\nname = "
                  "\"webapp\"\n");
}

TEST_F(Explain, NoStreamEnabled) {
    expect_golden("no-stream-enabled", "[[packages]]\nname = \"nodejs\"\n");
}

TEST_F(Explain, ConflictingStreams) {
    expect_golden("conflicting-streams",
                  "[[enabled_modules]]\nname = \"nodejs\"\nstream = \"18\"\n\n"
                  "[[enabled_modules]]\nname = \"web\"\nstream = \"1\"\n");
}

TEST_F(Explain, UnknownStream) {
    expect_golden("unknown-stream", "[[enabled_modules]]\nname = \"nodejs\"\nstream = \"19\"\n");
}

TEST_F(Explain, ToolkitPartsOfDifferentVersions) {
    expect_golden("toolkit-versions",
                  "[nvidia]\ndriver = \"535\"\ntoolkit = \"1.17.*\"\n\n[[packages]]\nname = "
                  "\"libnvidia-container1\"\nversion = \"1.16.2\"\n");
}

TEST_F(Explain, PackageOfADisabledRepository) {
    expect_golden("disabled-repository", "[[packages]]\nname = \"extra-tool\"\n");
}

TEST_F(Explain, MissingDependencyFromADisabledRepository) {
    expect_golden("dependency-in-disabled-repository", "[[packages]]\nname = \"outer\"\n");
}

TEST_F(Explain, MissingDependency) {
    expect_golden("missing-dependency",
                  "[[packages]]\nname = \"nowhere\"\n\n[[packages]]\nname = \"app\"\n");
}

TEST_F(Explain, DependencyOfAVersionNobodyHas) {
    expect_golden("too-old", "[[packages]]\nname = \"future\"\n");
}

TEST_F(Explain, TwoPinsOfOnePackage) {
    expect_golden("two-pins",
                  "[[packages]]\nname = \"app\"\nversion = \"1.*\"\n\n[[packages]]\nname = "
                  "\"app\"\nversion = \"2.*\"\n");
}

TEST_F(Explain, PinnedVersionThatIsGone) {
    expect_golden("pin-gone", "[[packages]]\nname = \"app\"\nversion = \"3.*\"\n");
}

TEST_F(Explain, PackagesInConflict) {
    expect_golden("conflict", "", false,
                  "packages = [\n  { name = \"app\" },\n  { name = \"fighter\" },\n]\n");
}

TEST_F(Explain, TypoInAPackageName) {
    expect_golden("typo", "[[packages]]\nname = \"standrad\"   # twisted\n");
}

TEST_F(Explain, TwoTyposAreMendedTogether) {
    expect_golden("two-typos",
                  "[[packages]]\nname = \"standrad\"\n\n[[packages]]\nname = \"ap\"\n");
}

TEST_F(Explain, AProgramForAPackage) {
    expect_golden("program", "[[packages]]\nname = \"nvidia-smi\"\n");
}

TEST_F(Explain, ManyRequestsThatNothingMatches) {
    expect_golden("many-unmatched",
                  "[[packages]]\nname = \"standrad\"\n\n[[packages]]\nname = \"extra-tool\"\n\n"
                  "[[packages]]\nname = \"nvidia-smi\"\n\n[[packages]]\nname = \"@nogroup\"\n\n"
                  "[[packages]]\nname = \"zzzz\"\n");
}

TEST_F(Explain, TypoInTwoLines) {
    expect_golden("typo-twice",
                  "[[packages]]\nname = \"standrad\"\n\n[[packages]]\nname = \"standrad\"\n");
}

TEST_F(Explain, PackageThatTwoLinesRequest) {
    expect_golden("requested-twice",
                  "[[packages]]\nname = \"nowhere\"\n\n[[packages]]\nname = \"nowhere\"\n");
}

TEST_F(Explain, PackageThatTwoLinesRequestDifferently) {
    expect_golden("requested-twice-with-a-version",
                  "[[packages]]\nname = \"nowhere\"\n\n[[packages]]\nname = \"nowhere\"\n"
                  "version = \"1\"\n");
}

TEST_F(Explain, ConflictWithAPackageThatTwoLinesRequest) {
    expect_golden("conflict-requested-twice",
                  "[[packages]]\nname = \"app\"\n\n[[packages]]\nname = \"fighter\"\n\n"
                  "[[packages]]\nname = \"fighter\"\n");
}

TEST_F(Explain, ExcludedPackage) {
    expect_golden("excluded", "[[packages]]\nname = \"app\"\n", false,
                  "excludes = [\"li*\", \"other\"]\n");
}

TEST_F(Explain, PackageOfAnotherArchitecture) {
    expect_golden("architecture", "[[packages]]\nname = \"foreign\"\n");
}

TEST_F(Explain, StreamOfARequestThatDoesNotExist) {
    expect_golden("unknown-stream-of-a-group", "[[packages]]\nname = \"@nodejs:19\"\n");
}

TEST_F(Explain, ModuleWithoutDefaultProfile) {
    expect_golden("no-default-profile", "[[packages]]\nname = \"@nodejs:18\"\n");
}

TEST_F(Explain, ProofOnRequest) {
    expect_golden("proof", "[[packages]]\nname = \"outer\"\n", true);
}

}  // namespace
}  // namespace edgegpu
